// Collects the start and end of operations and writes them as Chrome / Perfetto trace events.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "device.h"

namespace residency {

// Nanoseconds of a monotonic clock.
int64_t now_ns();

class Tracer {
 public:
  void clear();
  void add(StreamKind stream, Label label, uint64_t bytes, int64_t start_ns, int64_t end_ns);
  // `names` are the slots' names by number.
  std::string json(uint32_t process, const std::string& device,
                   const std::vector<std::string>& names) const;

 private:
  struct Span {
    StreamKind stream;
    Label label;
    uint64_t bytes;
    int64_t start_ns, end_ns;
  };
  mutable std::mutex mutex_;
  std::vector<Span> spans_;
};

// Records the time between its construction and its end on the caller's own track; nothing without
// a tracer.
class ComputeSpan {
 public:
  ComputeSpan(Tracer* tracer, Label label, uint64_t bytes)
      : tracer_(tracer), label_(label), bytes_(bytes), start_(tracer ? now_ns() : 0) {}
  ~ComputeSpan() {
    if (tracer_) tracer_->add(StreamKind::compute, label_, bytes_, start_, now_ns());
  }
  ComputeSpan(const ComputeSpan&) = delete;
  ComputeSpan& operator=(const ComputeSpan&) = delete;

 private:
  Tracer* tracer_;
  Label label_;
  uint64_t bytes_;
  int64_t start_;
};

}  // namespace residency
