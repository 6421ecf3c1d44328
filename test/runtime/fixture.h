// An engine, and tensors in and out of it, for tests.
#pragma once

#include <cstdint>
#include <vector>

#include "check.h"
#include "residency/runtime.h"

using Bytes = std::vector<unsigned char>;

inline const residency_timing kTimings[] = {RESIDENCY_TIMING_ASYNC, RESIDENCY_TIMING_LAZY,
                                            RESIDENCY_TIMING_EAGER, RESIDENCY_TIMING_RANDOM};

inline Bytes pattern(size_t size, unsigned seed) {
  Bytes bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(i * 31 + seed * 101 + 7);
  return bytes;
}

struct Offload {
  residency_buffer* buffer = nullptr;
  residency_transfer transfer = 0;
};

class Engine {
 public:
  explicit Engine(residency_timing timing = RESIDENCY_TIMING_ASYNC, uint64_t seed = 0) {
    CHECK_OK(residency_engine_create("host", &handle));
    CHECK_OK(residency_set_timing(handle, timing, seed));
  }
  ~Engine() { residency_engine_destroy(handle); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  residency_slot slot(const char* name) {
    residency_slot number = 0;
    CHECK_OK(residency_slot_named(handle, name, &number));
    return number;
  }
  Offload offload(residency_slot slot, const Bytes& source) {
    Offload result;
    CHECK_OK(residency_offload_start(handle, slot, source.data(), source.size(), nullptr,
                                     &result.buffer, &result.transfer));
    return result;
  }
  residency_transfer reload(residency_slot slot, residency_buffer* buffer, Bytes& destination) {
    residency_transfer transfer = 0;
    CHECK_OK(residency_reload_start(handle, slot, buffer, destination.data(), destination.size(),
                                    nullptr, &transfer));
    return transfer;
  }
  void wait(residency_transfer transfer) { CHECK_OK(residency_wait(handle, transfer, nullptr)); }
  residency_counters counters() {
    residency_counters result{};
    result.struct_size = sizeof result;
    CHECK_OK(residency_get_counters(handle, &result));
    return result;
  }

  residency_engine* handle = nullptr;
};
