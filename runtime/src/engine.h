// The engine: what the C functions do, for any device.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "arena.h"
#include "device.h"
#include "residency/runtime.h"
#include "tracer.h"
#include "transfers.h"

struct residency_buffer {
  residency::Block block;
  size_t bytes = 0;
  residency_slot slot = 0;
  residency::EventRef written;  // the offload that fills it
  residency::EventRef read;     // the last reload from it
  residency_engine* engine = nullptr;
};

struct residency_engine {
 public:
  explicit residency_engine(const std::string& device);
  ~residency_engine();
  residency_engine(const residency_engine&) = delete;
  residency_engine& operator=(const residency_engine&) = delete;

  residency_slot slot(const std::string& name);
  void offload(residency_slot slot, const void* source, size_t bytes, void* compute,
               residency_buffer** out_buffer, residency_transfer* out_transfer);
  residency_transfer reload(residency_slot slot, residency_buffer& buffer, void* destination,
                            size_t bytes, void* compute);
  void wait(residency_transfer transfer, void* compute);
  void discard(residency_transfer transfer, void* compute);
  void free(void* data, size_t bytes, void* compute);
  void release(residency_buffer* buffer);
  void account(residency_account_kind kind, int64_t delta);
  void synchronize();
  residency_counters counters();
  void reset_peaks();
  void set_timing(residency_timing timing, uint64_t seed);
  void set_poison(bool on);
  void trace_start();
  const char* trace_stop(uint32_t process);

  // True in a child process: the copy threads stayed behind, and a lock may be held by one of them
  // for ever.
  bool left_behind() const;

  // The owner's reference and one for each buffer that was not released; the last one deletes the
  // engine.
  void drop_reference();

 private:
  void check_start(residency_slot slot) const;
  std::string shown(residency_slot slot) const;
  residency_buffer* new_buffer();

  const std::string device_name_;
  const int generation_;
  std::unique_ptr<residency::Device> device_;
  std::atomic<size_t> references_{1};
  std::atomic<bool> poison_{false};
  std::atomic<residency::Tracer*> active_tracer_{nullptr};
  residency::Tracer tracer_;
  std::string trace_text_;

  std::mutex mutex_;  // protects everything below
  residency::Arena arena_;
  residency::Transfers transfers_;
  std::vector<residency_buffer*> unused_buffers_;
  std::vector<std::string> names_;
  std::unordered_map<std::string, residency_slot> slots_;
  residency_counters counters_{};
};
