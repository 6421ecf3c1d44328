#include "tracer.h"

#include <chrono>
#include <cstdio>

namespace residency {
namespace {

void append_quoted(std::string& out, const std::string& text) {
  out += '"';
  for (unsigned char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
      out += escaped;
    } else {
      out += static_cast<char>(c);
    }
  }
  out += '"';
}

// The format counts in microseconds; nanoseconds are the digits behind the point.
void append_microseconds(std::string& out, int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%lld.%03lld", static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
  out += text;
}

void append_metadata(std::string& out, const char* what, uint32_t process, int track,
                     const std::string& name) {
  out += "{\"ph\":\"M\",\"name\":\"" + std::string(what) + "\",\"pid\":" + std::to_string(process) +
         ",\"tid\":" + std::to_string(track) + ",\"args\":{\"name\":";
  append_quoted(out, name);
  out += "}},\n";
}

}  // namespace

int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Tracer::clear() {
  std::lock_guard lock(mutex_);
  spans_.clear();
}

void Tracer::add(StreamKind stream, Label label, uint64_t bytes, int64_t start_ns, int64_t end_ns) {
  std::lock_guard lock(mutex_);
  spans_.push_back({stream, label, bytes, start_ns, end_ns});
}

std::string Tracer::json(uint32_t process, const std::string& device,
                         const std::vector<std::string>& names) const {
  std::lock_guard lock(mutex_);
  std::string out = "[\n";
  append_metadata(out, "process_name", process, 0, "residency " + device);
  for (int kind = 0; kind < kStreamKinds; ++kind) {
    append_metadata(out, "thread_name", process, kind, name_of(static_cast<StreamKind>(kind)));
  }
  for (const Span& span : spans_) {
    bool named = span.label.slot != kNoSlot && span.label.slot < names.size();
    out += "{\"ph\":\"X\",\"name\":";
    append_quoted(out, span.label.what + (named ? " @" + names[span.label.slot] : std::string()));
    out += ",\"pid\":" + std::to_string(process) +
           ",\"tid\":" + std::to_string(static_cast<int>(span.stream)) + ",\"ts\":";
    append_microseconds(out, span.start_ns);
    out += ",\"dur\":";
    append_microseconds(out, span.end_ns - span.start_ns);
    out += ",\"args\":{";
    if (named) {
      out += "\"slot\":";
      append_quoted(out, names[span.label.slot]);
      out += ',';
    }
    out += "\"bytes\":" + std::to_string(span.bytes) + "}},\n";
  }
  out.erase(out.size() - 2);  // the last comma
  return out + "\n]";
}

}  // namespace residency
