// The device `host`: its memory is the process's, its compute stream the calling thread, its copy
// streams are threads.
#include <array>
#include <cstdlib>
#include <cstring>

#include "device.h"
#include "host_stream.h"
#include "tracer.h"

namespace residency {
namespace {

class HostDevice final : public Device {
 public:
  HostDevice() {
    for (int kind = 1; kind < kStreamKinds; ++kind) {
      streams_[kind] = std::make_unique<HostStream>(static_cast<StreamKind>(kind), tracer_);
    }
  }

  EventRef record(Stream stream) override {
    if (stream.kind == StreamKind::compute) return {};  // a call that returned has computed
    HostStream& from = own(stream);
    auto* event = events_.take<HostEvent>();
    event->stream = &from;
    event->sequence = from.issued();
    return EventRef(event);
  }

  void wait(Stream stream, const EventRef& ref) override {
    if (done(ref)) return;
    auto* event = static_cast<HostEvent*>(ref.get());
    if (stream.kind == StreamKind::compute) {
      event->stream->finish(event->sequence);
    } else if (&own(stream) != event->stream) {
      HostOp op;
      op.kind = HostOp::Kind::wait;
      op.event = ref;
      own(stream).push(std::move(op));
    }
  }

  void copy(Stream stream, void* destination, const void* source, size_t bytes,
            Label label) override {
    HostOp op;
    op.kind = HostOp::Kind::copy;
    op.destination = destination;
    op.source = source;
    op.bytes = bytes;
    op.label = label;
    own(stream).push(std::move(op));
  }

  void fill(Stream stream, void* destination, unsigned char value, size_t bytes,
            Label label) override {
    if (stream.kind == StreamKind::compute) {
      if (bytes) std::memset(destination, value, bytes);
      return;
    }
    HostOp op;
    op.kind = HostOp::Kind::fill;
    op.value = value;
    op.destination = destination;
    op.bytes = bytes;
    op.label = label;
    own(stream).push(std::move(op));
  }

  bool done(const EventRef& ref) override {
    auto* event = static_cast<HostEvent*>(ref.get());
    return !event || event->stream->done(event->sequence);
  }

  void synchronize() override {
    for (int kind = 1; kind < kStreamKinds; ++kind)
      streams_[kind]->finish(streams_[kind]->issued());
  }

  // Pages, so that a copy of the whole buffer never shares a cache line with another.
  void* allocate_host(size_t bytes) override {
    size_t rounded = (bytes + kPage - 1) / kPage * kPage;
    return rounded < bytes ? nullptr : std::aligned_alloc(kPage, rounded);
  }
  void free_host(void* memory) override { std::free(memory); }

  void set_timing(residency_timing timing, uint64_t seed) override {
    synchronize();
    for (int kind = 1; kind < kStreamKinds; ++kind) {
      streams_[kind]->set_timing(timing, seed + static_cast<uint64_t>(kind));
    }
  }

  void set_tracer(Tracer* tracer) override { tracer_ = tracer; }

 private:
  static constexpr size_t kPage = 4096;

  HostStream& own(Stream stream) { return *streams_[static_cast<size_t>(stream.kind)]; }

  EventPool events_;  // before the streams, whose queues hold events
  std::atomic<Tracer*> tracer_{nullptr};
  std::array<std::unique_ptr<HostStream>, kStreamKinds> streams_;
};

}  // namespace

std::unique_ptr<Device> make_host_device() {
  return std::make_unique<HostDevice>();
}

}  // namespace residency
