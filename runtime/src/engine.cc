#include "engine.h"

#include <pthread.h>

#include <algorithm>

#include "status.h"

using residency::EventRef;
using residency::Label;
using residency::Stream;
using residency::StreamKind;

namespace {

constexpr unsigned char kPoison = 0xFF;
constexpr Stream kD2H{StreamKind::d2h}, kH2D{StreamKind::h2d};

Stream compute_stream(void* native) {
  return {StreamKind::compute, native};
}

// Grows in the child of every fork.
std::atomic<int>& forks() {
  static std::atomic<int> count{0};
  static const int registered = pthread_atfork(nullptr, nullptr, [] { ++count; });
  (void)registered;
  return count;
}

void raise_to(uint64_t& peak, uint64_t now) {
  peak = std::max(peak, now);
}

}  // namespace

residency_engine::residency_engine(const std::string& device)
    : device_name_(device),
      generation_(forks()),
      device_(residency::make_device(device)),
      arena_(*device_) {}

residency_engine::~residency_engine() {
  for (residency_buffer* buffer : unused_buffers_) delete buffer;
}

bool residency_engine::left_behind() const {
  return generation_ != forks();
}

void residency_engine::drop_reference() {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    device_->synchronize();
    delete this;
  }
}

std::string residency_engine::shown(residency_slot slot) const {
  return slot < names_.size() ? "@" + names_[slot] : "number " + std::to_string(slot);
}

void residency_engine::check_start(residency_slot slot) const {
  if (slot >= names_.size()) throw residency::invalid("no such slot: " + std::to_string(slot));
  if (transfers_.full()) {
    throw residency::Error(RESIDENCY_OUT_OF_MEMORY,
                           "too many transfers in flight for one more of slot: " + shown(slot));
  }
}

residency_slot residency_engine::slot(const std::string& name) {
  std::lock_guard lock(mutex_);
  auto [found, added] = slots_.try_emplace(name, static_cast<residency_slot>(names_.size()));
  if (added) {
    if (names_.size() >> residency::Transfers::kSlotBits) {
      slots_.erase(found);
      throw residency::Error(RESIDENCY_OUT_OF_MEMORY, "too many slots for one more: " + name);
    }
    names_.push_back(name);
  }
  return found->second;
}

residency_buffer* residency_engine::new_buffer() {
  if (unused_buffers_.empty()) {
    auto made = std::make_unique<residency_buffer>();
    made->engine = this;
    unused_buffers_.push_back(made.release());
  }
  residency_buffer* buffer = unused_buffers_.back();
  unused_buffers_.pop_back();
  return buffer;
}

void residency_engine::offload(residency_slot slot, const void* source, size_t bytes, void* compute,
                               residency_buffer** out_buffer, residency_transfer* out_transfer) {
  residency::ComputeSpan span(active_tracer_, {"offload_start", slot}, bytes);
  std::lock_guard lock(mutex_);
  check_start(slot);
  if (!source && bytes) throw residency::invalid("no source to offload for slot: " + shown(slot));
  residency_buffer* buffer = new_buffer();
  try {
    buffer->block = arena_.take(bytes);
  } catch (...) {
    unused_buffers_.push_back(buffer);
    throw;
  }
  buffer->bytes = bytes;
  buffer->slot = slot;
  // The data must be there before it is read, and whatever still reads the block before it is
  // written.
  device_->wait(kD2H, device_->record(compute_stream(compute)));
  device_->wait(kD2H, buffer->block.busy);
  buffer->block.busy.reset();
  device_->copy(kD2H, buffer->block.memory, source, bytes, {"offload", slot});
  buffer->written = device_->record(kD2H);
  references_.fetch_add(1, std::memory_order_relaxed);
  counters_.offloads += 1;
  counters_.offloaded_bytes += bytes;
  counters_.host_bytes += bytes;
  raise_to(counters_.host_bytes_peak, counters_.host_bytes);
  *out_transfer = transfers_.add(slot, buffer->written);
  *out_buffer = buffer;
}

residency_transfer residency_engine::reload(residency_slot slot, residency_buffer& buffer,
                                            void* destination, size_t bytes, void* compute) {
  residency::ComputeSpan span(active_tracer_, {"reload_start", slot}, bytes);
  std::lock_guard lock(mutex_);
  check_start(slot);
  if (bytes != buffer.bytes) {
    throw residency::invalid("reload of slot " + shown(slot) +
                             " into a destination of other size than " +
                             std::to_string(buffer.bytes) + ": " + std::to_string(bytes));
  }
  if (!destination && bytes) throw residency::invalid("no destination for slot: " + shown(slot));
  // The destination's memory may have had another use in compute issued before; the buffer may
  // still be filling.
  device_->wait(kH2D, device_->record(compute_stream(compute)));
  device_->wait(kH2D, buffer.written);
  device_->copy(kH2D, destination, buffer.block.memory, bytes, {"reload", slot});
  buffer.read = device_->record(kH2D);
  counters_.reloads += 1;
  counters_.reloaded_bytes_total += bytes;
  return transfers_.add(slot, buffer.read);
}

void residency_engine::wait(residency_transfer transfer, void* compute) {
  residency_slot slot = residency::Transfers::slot_of(transfer);
  residency::ComputeSpan span(active_tracer_, {"wait", slot}, 0);
  EventRef done;
  {
    std::lock_guard lock(mutex_);
    auto removed = transfers_.remove(transfer);
    if (!removed) {
      counters_.double_waits += 1;
      throw residency::Error(RESIDENCY_FAILED_PRECONDITION,
                             "second wait for one transfer of slot " + shown(slot));
    }
    counters_.waits += 1;
    done = std::move(*removed);
  }
  device_->wait(compute_stream(compute), done);
}

void residency_engine::discard(residency_transfer transfer, void* compute) {
  EventRef done;
  {
    std::lock_guard lock(mutex_);
    auto removed = transfers_.remove(transfer);
    if (!removed) return;
    counters_.discards += 1;
    done = std::move(*removed);
  }
  device_->wait(compute_stream(compute), done);
}

void residency_engine::free(void* data, size_t bytes, void* compute) {
  residency::ComputeSpan span(active_tracer_, {"free"}, bytes);
  if (!data && bytes) throw residency::invalid("nothing to free, bytes: " + std::to_string(bytes));
  {
    std::lock_guard lock(mutex_);
    counters_.frees += 1;
  }
  if (poison_) device_->fill(compute_stream(compute), data, kPoison, bytes, {"poison"});
}

void residency_engine::release(residency_buffer* buffer) {
  {
    std::lock_guard lock(mutex_);
    counters_.host_bytes -= buffer->bytes;
    // A read comes after the write it read, so the last read is the last use.
    EventRef busy = std::move(buffer->read ? buffer->read : buffer->written);
    if (poison_) {
      device_->wait(kH2D, busy);
      device_->fill(kH2D, buffer->block.memory, kPoison, buffer->block.capacity,
                    {"poison", buffer->slot});
      busy = device_->record(kH2D);
    }
    buffer->block.busy = std::move(busy);
    buffer->written.reset();
    buffer->read.reset();
    arena_.give_back(std::move(buffer->block));
    unused_buffers_.push_back(buffer);
  }
  drop_reference();
}

void residency_engine::account(residency_account_kind kind, int64_t delta) {
  if (kind != RESIDENCY_ACCOUNT_SAVED && kind != RESIDENCY_ACCOUNT_RELOADED) {
    throw residency::invalid("no such kind of account: " + std::to_string(kind));
  }
  std::lock_guard lock(mutex_);
  bool saved = kind == RESIDENCY_ACCOUNT_SAVED;
  uint64_t& now = saved ? counters_.saved_bytes : counters_.reloaded_bytes;
  if (delta < 0 && now < uint64_t{0} - static_cast<uint64_t>(delta)) {
    throw residency::invalid("more bytes taken from the account than it holds: " +
                             std::to_string(delta));
  }
  now += static_cast<uint64_t>(delta);
  raise_to(saved ? counters_.saved_bytes_peak : counters_.reloaded_bytes_peak, now);
}

void residency_engine::synchronize() {
  {
    std::lock_guard lock(mutex_);
    counters_.host_syncs += 1;
  }
  device_->synchronize();
}

residency_counters residency_engine::counters() {
  std::lock_guard lock(mutex_);
  residency_counters result = counters_;
  result.struct_size = sizeof result;
  result.arena_bytes = arena_.held();
  result.slot_allocations = arena_.allocations();
  return result;
}

void residency_engine::reset_peaks() {
  std::lock_guard lock(mutex_);
  counters_.saved_bytes_peak = counters_.saved_bytes;
  counters_.reloaded_bytes_peak = counters_.reloaded_bytes;
  counters_.host_bytes_peak = counters_.host_bytes;
}

void residency_engine::set_timing(residency_timing timing, uint64_t seed) {
  if (timing < RESIDENCY_TIMING_ASYNC || timing > RESIDENCY_TIMING_RANDOM) {
    throw residency::invalid("no such timing: " + std::to_string(timing));
  }
  device_->set_timing(timing, seed);
}

void residency_engine::set_poison(bool on) {
  poison_ = on;
}

void residency_engine::trace_start() {
  synchronize();
  tracer_.clear();
  active_tracer_ = &tracer_;
  device_->set_tracer(&tracer_);
}

const char* residency_engine::trace_stop(uint32_t process) {
  if (!active_tracer_) {
    throw residency::Error(RESIDENCY_FAILED_PRECONDITION,
                           "no trace to stop on device: " + device_name_);
  }
  synchronize();
  device_->set_tracer(nullptr);
  active_tracer_ = nullptr;
  std::lock_guard lock(mutex_);
  trace_text_ = tracer_.json(process, device_name_, names_);
  return trace_text_.c_str();
}
