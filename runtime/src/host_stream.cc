#include "host_stream.h"

#include <chrono>
#include <cstring>
#include <system_error>

#include "tracer.h"

namespace residency {

HostStream::HostStream(StreamKind kind, const std::atomic<Tracer*>& tracer)
    : kind_(kind), tracer_(tracer), ring_(64) {}

HostStream::~HostStream() {
  {
    std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void HostStream::push(HostOp op) {
  uint64_t sequence;
  bool eager, threaded;
  {
    std::lock_guard lock(mutex_);
    eager = timing_ == RESIDENCY_TIMING_EAGER;
    if (issued_ - completed_.load(std::memory_order_relaxed) == ring_.size()) grow();
    sequence = ++issued_;
    ring_[sequence & (ring_.size() - 1)] = std::move(op);
    if (has_thread() && !thread_.joinable()) start_thread();
    threaded = has_thread();
  }
  if (eager) {
    finish(sequence);
  } else if (threaded) {
    work_.notify_one();
  }
}

// A process that may not have one more thread still gets its transfers: when they are waited for.
void HostStream::start_thread() {
  try {
    thread_ = std::thread(&HostStream::work, this);
  } catch (const std::system_error&) {
    timing_ = RESIDENCY_TIMING_LAZY;
  }
}

void HostStream::grow() {
  std::vector<HostOp> larger(ring_.size() * 2);
  for (uint64_t n = completed_.load(std::memory_order_relaxed) + 1; n <= issued_; ++n) {
    larger[n & (larger.size() - 1)] = std::move(ring_[n & (ring_.size() - 1)]);
  }
  ring_.swap(larger);
}

uint64_t HostStream::issued() {
  std::lock_guard lock(mutex_);
  return issued_;
}

void HostStream::finish(uint64_t sequence) {
  if (done(sequence)) return;
  std::unique_lock lock(mutex_);
  while (!done(sequence)) {
    if (!running_ && timing_ != RESIDENCY_TIMING_RANDOM) {
      run_head(lock, false);
    } else {
      finished_.wait(lock);
    }
  }
}

void HostStream::work() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    bool waiting = issued_ > completed_.load(std::memory_order_relaxed);
    if (waiting && !running_ && has_thread()) {
      run_head(lock, timing_ == RESIDENCY_TIMING_RANDOM);
    } else {
      work_.wait(lock);
    }
  }
}

void HostStream::run_head(std::unique_lock<std::mutex>& lock, bool delayed) {
  running_ = true;
  uint64_t sequence = completed_.load(std::memory_order_relaxed) + 1;
  HostOp op = std::move(ring_[sequence & (ring_.size() - 1)]);
  // A quarter at once, the rest up to 0.3 ms late: longer than a small op's compute, short enough
  // for whole training runs.
  uint64_t draw = delayed ? random_() % 400 : 0;
  lock.unlock();
  if (draw > 100) std::this_thread::sleep_for(std::chrono::microseconds(draw - 100));
  execute(op);
  op.event.reset();
  lock.lock();
  running_ = false;
  completed_.store(sequence, std::memory_order_release);
  finished_.notify_all();
  if (has_thread() && issued_ > sequence) work_.notify_one();
}

void HostStream::execute(const HostOp& op) {
  if (op.kind == HostOp::Kind::wait) {
    // Ends, since an event stands for work that was issued before this wait.
    auto* event = static_cast<HostEvent*>(op.event.get());
    event->stream->finish(event->sequence);
    return;
  }
  Tracer* tracer = tracer_.load(std::memory_order_relaxed);
  int64_t start = tracer ? now_ns() : 0;
  if (op.bytes == 0) {
    // An empty tensor may have no address at all.
  } else if (op.kind == HostOp::Kind::copy) {
    std::memcpy(op.destination, op.source, op.bytes);
  } else {
    std::memset(op.destination, op.value, op.bytes);
  }
  if (tracer) tracer->add(kind_, op.label, op.bytes, start, now_ns());
}

void HostStream::set_timing(residency_timing timing, uint64_t seed) {
  std::lock_guard lock(mutex_);
  timing_ = timing;
  random_.seed(seed);
}

}  // namespace residency
