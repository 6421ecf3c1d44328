// A stream of the host device: a queue of operations that run in order.
//
// Whoever waits for an operation helps: it runs what is at the head of the queue unless the
// stream's thread is already at it. So a short copy costs no change of threads, and the lazy mode
// is the same code without a thread.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <random>
#include <thread>
#include <vector>

#include "device.h"
#include "event.h"

namespace residency {

class HostStream;

struct HostEvent final : Event {
  HostStream* stream = nullptr;
  uint64_t sequence = 0;
};

struct HostOp {
  enum class Kind : uint8_t { copy, fill, wait };
  Kind kind = Kind::copy;
  unsigned char value = 0;
  void* destination = nullptr;
  const void* source = nullptr;
  size_t bytes = 0;
  EventRef event;
  Label label;
};

class HostStream {
 public:
  HostStream(StreamKind kind, const std::atomic<Tracer*>& tracer);
  ~HostStream();

  void push(HostOp op);
  // The number of operations given so far: the sequence number of the last one.
  uint64_t issued();
  bool done(uint64_t sequence) { return completed_.load(std::memory_order_acquire) >= sequence; }
  // Returns when operation `sequence` and all before it have run.
  void finish(uint64_t sequence);
  // Called with no work in flight.
  void set_timing(residency_timing timing, uint64_t seed);

 private:
  void work();
  void run_head(std::unique_lock<std::mutex>& lock, bool delayed);
  void execute(const HostOp& op);
  bool has_thread() const {
    return timing_ == RESIDENCY_TIMING_ASYNC || timing_ == RESIDENCY_TIMING_RANDOM;
  }
  void grow();
  void start_thread();

  const StreamKind kind_;
  const std::atomic<Tracer*>& tracer_;
  std::mutex mutex_;
  std::condition_variable work_, finished_;
  std::vector<HostOp> ring_;  // operation n sits at n modulo its size, a power of two
  uint64_t issued_ = 0;
  std::atomic<uint64_t> completed_{0};
  bool running_ = false, stop_ = false;
  residency_timing timing_ = RESIDENCY_TIMING_ASYNC;
  std::mt19937_64 random_;
  std::thread thread_;
};

}  // namespace residency
