// What the engine needs of a device. One file per device implements it; the engine knows no other
// difference between them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "event.h"
#include "residency/runtime.h"

namespace residency {

class Tracer;

enum class StreamKind : uint8_t { compute, d2h, h2d, gather, reduce };
inline constexpr int kStreamKinds = 5;
const char* name_of(StreamKind kind);

// One of the device's own streams, or the caller's compute stream with its native handle.
struct Stream {
  StreamKind kind;
  void* native = nullptr;
};

inline constexpr residency_slot kNoSlot = ~residency_slot{0};

// What an operation is called in a trace.
struct Label {
  const char* what = "";
  residency_slot slot = kNoSlot;
};

// Work on one stream runs in order; work on two streams is ordered by events only. Only
// `synchronize` blocks the host, and `wait` on the compute stream of a device whose compute is the
// calling thread. All functions may be called from several threads at once.
class Device {
 public:
  virtual ~Device() = default;

  // An event that is done when all work given to `stream` so far is.
  virtual EventRef record(Stream stream) = 0;
  // Lets what is given to `stream` from now on run after `event`.
  virtual void wait(Stream stream, const EventRef& event) = 0;
  virtual void copy(Stream stream, void* destination, const void* source, size_t bytes,
                    Label label) = 0;
  virtual void fill(Stream stream, void* destination, unsigned char value, size_t bytes,
                    Label label) = 0;
  virtual bool done(const EventRef& event) = 0;
  // Blocks the host until all work given to the device's own streams is done.
  virtual void synchronize() = 0;

  // Host memory that copies to and from the device are fast with; aligned to at least 64 bytes.
  // Null if there is none.
  virtual void* allocate_host(size_t bytes) = 0;
  virtual void free_host(void* memory) = 0;

  virtual void set_timing(residency_timing timing, uint64_t seed) = 0;
  // Tells `tracer` of every operation from now on; null ends it. Called with no work in flight.
  virtual void set_tracer(Tracer* tracer) = 0;
};

std::unique_ptr<Device> make_host_device();

// The device called `name`. Throws INVALID_ARGUMENT for a name there is no device of.
std::unique_ptr<Device> make_device(const std::string& name);

}  // namespace residency
