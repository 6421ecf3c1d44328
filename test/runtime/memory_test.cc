// Host memory: kept for the next step, bounded, poisoned on request, and safe to give back late.
#include <algorithm>
#include <random>

#include "fixture.h"

static void step(Engine& engine, const std::vector<size_t>& sizes) {
  std::vector<Offload> offloads;
  std::vector<Bytes> sources;
  for (size_t i = 0; i < sizes.size(); ++i) sources.push_back(pattern(sizes[i], unsigned(i)));
  for (size_t i = 0; i < sizes.size(); ++i) {
    offloads.push_back(engine.offload(engine.slot(("s" + std::to_string(i)).c_str()), sources[i]));
  }
  for (Offload& each : offloads) engine.wait(each.transfer);
  for (size_t i = sizes.size(); i-- > 0;) {
    Bytes back(sizes[i]);
    residency_transfer reload = engine.reload(0, offloads[i].buffer, back);
    residency_buffer_release(offloads[i].buffer);
    engine.wait(reload);
    CHECK(back == sources[i]);
  }
}

TEST(memory_is_flat_over_a_thousand_steps) {
  for (residency_timing timing :
       {RESIDENCY_TIMING_ASYNC, RESIDENCY_TIMING_LAZY, RESIDENCY_TIMING_EAGER}) {
    Engine engine(timing);
    const std::vector<size_t> sizes = {100, 5000, 5000, 70000, 0, 4096};
    step(engine, sizes);
    residency_counters first = engine.counters();
    for (int n = 1; n < 1000; ++n) step(engine, sizes);
    residency_counters last = engine.counters();
    CHECK_EQ(last.slot_allocations, first.slot_allocations);
    CHECK_EQ(last.arena_bytes, first.arena_bytes);
    CHECK_EQ(last.host_bytes_peak, first.host_bytes_peak);
    CHECK_EQ(last.host_syncs, first.host_syncs);
    CHECK_EQ(last.offloads, 6000u);
  }
}

TEST(memory_stays_bounded_when_sizes_change_every_step) {
  Engine engine;
  std::mt19937 random(1);
  uint64_t largest = 0;
  for (int n = 0; n < 500; ++n) {
    step(engine, {1000 + random() % 100000, 1000 + random() % 100000});
    residency_counters counters = engine.counters();
    largest = std::max(largest, counters.arena_bytes);
    // A block may be a quarter larger than what it serves, hence 2.5 and not 2.
    CHECK(counters.arena_bytes * 2 <= counters.host_bytes_peak * 5);
  }
  CHECK(largest > 0);
}

TEST(freed_memory_is_poisoned_on_request) {
  Engine engine;
  Bytes source = pattern(100, 1);
  const Bytes original = source, poisoned(100, 0xFF);
  CHECK_OK(residency_free(engine.handle, source.data(), source.size(), nullptr));
  CHECK(source == original);
  CHECK_OK(residency_set_poison(engine.handle, 1));
  Offload out = engine.offload(engine.slot("saved_0"), source);
  engine.wait(out.transfer);
  CHECK_OK(residency_free(engine.handle, source.data(), source.size(), nullptr));
  CHECK(source == poisoned);
  void* memory = residency_buffer_data(out.buffer);
  CHECK(std::memcmp(memory, original.data(), 100) == 0);
  residency_buffer_release(out.buffer);
  CHECK_OK(residency_synchronize(engine.handle));
  CHECK(std::memcmp(memory, poisoned.data(), 100) == 0);  // the arena still holds it
  CHECK_EQ(engine.counters().frees, 2u);
}

TEST(a_poisoned_buffer_is_read_by_its_reload_first) {
  for (residency_timing timing : kTimings) {
    Engine engine(timing);
    CHECK_OK(residency_set_poison(engine.handle, 1));
    Bytes source = pattern(100000, 1), back(source.size());
    Offload out = engine.offload(engine.slot("saved_0"), source);
    engine.wait(out.transfer);
    residency_transfer reload = engine.reload(0, out.buffer, back);
    residency_buffer_release(out.buffer);
    engine.wait(reload);
    CHECK(back == source);
  }
}

TEST(a_buffer_that_is_still_filled_is_poisoned_last) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    Engine engine(RESIDENCY_TIMING_RANDOM, seed);
    CHECK_OK(residency_set_poison(engine.handle, 1));
    Bytes source = pattern(100, 1);
    const Bytes poisoned(100, 0xFF);
    Offload out = engine.offload(engine.slot("saved_0"), source);
    void* memory = residency_buffer_data(out.buffer);
    residency_buffer_release(out.buffer);
    CHECK_OK(residency_synchronize(engine.handle));
    CHECK(std::memcmp(memory, poisoned.data(), 100) == 0);
    engine.wait(out.transfer);
  }
}

TEST(a_buffer_outlives_its_engine) {
  Bytes source = pattern(1000, 1);
  Offload out;
  {
    Engine engine(RESIDENCY_TIMING_LAZY);
    out = engine.offload(engine.slot("saved_0"), source);
  }
  CHECK(std::memcmp(residency_buffer_data(out.buffer), source.data(), 1000) == 0);
  residency_buffer_release(out.buffer);
}

TEST(memory_that_cannot_be_had_is_an_error_and_not_the_end) {
  Engine engine;
  Bytes source = pattern(10, 1);
  Offload out;
  residency_slot slot = engine.slot("huge");
  CHECK_FAILS(residency_offload_start(engine.handle, slot, source.data(), SIZE_MAX / 2, nullptr,
                                      &out.buffer, &out.transfer),
              RESIDENCY_OUT_OF_MEMORY, "no host memory for a slot, bytes: ");
  CHECK(out.buffer == nullptr);
  step(engine, {10, 20});
  CHECK_EQ(engine.counters().host_bytes, 0u);
}

int main() {
  return check::run();
}
