// What every device owes the engine, under every timing: bytes arrive, in the order that their
// dependencies say.
#include <thread>

#include "fixture.h"

template <class F>
static void under_every_timing(F body) {
  for (residency_timing timing : kTimings) {
    for (uint64_t seed = 0; seed < (timing == RESIDENCY_TIMING_RANDOM ? 5 : 1); ++seed) {
      Engine engine(timing, seed);
      body(engine);
      residency_counters counters = engine.counters();
      CHECK_EQ(counters.host_bytes, 0u);
    }
  }
}

TEST(what_is_offloaded_comes_back) {
  under_every_timing([](Engine& engine) {
    for (size_t size : {size_t{0}, size_t{1}, size_t{4096}, size_t{1000003}}) {
      residency_slot slot = engine.slot("saved_0");
      Bytes source = pattern(size, 1), back(size);
      Offload out = engine.offload(slot, source);
      engine.wait(out.transfer);
      CHECK_EQ(residency_buffer_bytes(out.buffer), size);
      CHECK(size == 0 || std::memcmp(residency_buffer_data(out.buffer), source.data(), size) == 0);
      engine.wait(engine.reload(slot, out.buffer, back));
      CHECK(back == source);
      residency_buffer_release(out.buffer);
    }
  });
}

TEST(a_reload_waits_for_the_offload_in_flight) {
  under_every_timing([](Engine& engine) {
    residency_slot slot = engine.slot("saved_0");
    for (unsigned step = 0; step < 20; ++step) {
      Bytes source = pattern(200000, step), back(source.size());
      Offload out = engine.offload(slot, source);
      residency_transfer reload = engine.reload(slot, out.buffer, back);
      engine.wait(reload);
      CHECK(back == source);
      engine.wait(out.transfer);
      residency_buffer_release(out.buffer);
    }
  });
}

TEST(memory_is_not_reused_while_a_reload_reads_it) {
  under_every_timing([](Engine& engine) {
    residency_slot slot = engine.slot("saved_0");
    for (unsigned step = 0; step < 20; ++step) {
      Bytes first = pattern(200000, step), second = pattern(200000, step + 1), back(first.size());
      Offload out = engine.offload(slot, first);
      engine.wait(out.transfer);
      void* memory = residency_buffer_data(out.buffer);
      residency_transfer reload = engine.reload(slot, out.buffer, back);
      residency_buffer_release(out.buffer);
      Offload again = engine.offload(slot, second);
      CHECK(residency_buffer_data(again.buffer) == memory);
      engine.wait(again.transfer);
      engine.wait(reload);
      CHECK(back == first);
      residency_buffer_release(again.buffer);
    }
  });
}

TEST(two_invocations_in_flight_have_two_buffers) {
  under_every_timing([](Engine& engine) {
    residency_slot slot = engine.slot("saved_0");
    Bytes first = pattern(5000, 1), second = pattern(5000, 2), back(5000);
    Offload a = engine.offload(slot, first), b = engine.offload(slot, second);
    CHECK(residency_buffer_data(a.buffer) != residency_buffer_data(b.buffer));
    engine.wait(a.transfer);
    engine.wait(b.transfer);
    engine.wait(engine.reload(slot, b.buffer, back));
    CHECK(back == second);
    engine.wait(engine.reload(slot, a.buffer, back));
    CHECK(back == first);
    residency_buffer_release(a.buffer);
    residency_buffer_release(b.buffer);
  });
}

TEST(a_second_wait_is_an_error_that_names_the_slot) {
  under_every_timing([](Engine& engine) {
    Bytes source = pattern(100, 1);
    Offload out = engine.offload(engine.slot("saved_7"), source);
    engine.wait(out.transfer);
    CHECK_FAILS(residency_wait(engine.handle, out.transfer, nullptr), RESIDENCY_FAILED_PRECONDITION,
                "second wait for one transfer of slot @saved_7");
    // Also after its place was taken by another transfer.
    Offload other = engine.offload(engine.slot("saved_8"), source);
    CHECK_FAILS(residency_wait(engine.handle, out.transfer, nullptr), RESIDENCY_FAILED_PRECONDITION,
                "@saved_7");
    engine.wait(other.transfer);
    CHECK_EQ(engine.counters().double_waits, 2u);
    residency_buffer_release(out.buffer);
    residency_buffer_release(other.buffer);
  });
}

TEST(a_step_that_stops_halfway_leaks_nothing) {
  under_every_timing([](Engine& engine) {
    residency_slot slot = engine.slot("saved_0");
    for (int step = 0; step < 10; ++step) {
      Bytes source = pattern(100000, 3), back(source.size());
      Offload out = engine.offload(slot, source);
      residency_transfer reload = engine.reload(slot, out.buffer, back);
      residency_buffer_release(out.buffer);
      CHECK_OK(residency_discard(engine.handle, reload, nullptr));
      CHECK_OK(residency_discard(engine.handle, out.transfer, nullptr));
      CHECK_OK(residency_discard(engine.handle, out.transfer, nullptr));
      CHECK(back == source);  // ended: nobody writes it any more
    }
    residency_counters counters = engine.counters();
    CHECK_EQ(counters.discards, 20u);
    CHECK_EQ(counters.slot_allocations, 1u);
  });
}

TEST(threads_share_an_engine) {
  under_every_timing([](Engine& engine) {
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&engine, thread] {
        residency_slot slot = engine.slot(thread % 2 ? "odd" : "even");
        for (unsigned step = 0; step < 50; ++step) {
          Bytes source = pattern(1000 + 100 * thread, thread + step), back(source.size());
          Offload out = engine.offload(slot, source);
          engine.wait(out.transfer);
          residency_transfer reload = engine.reload(slot, out.buffer, back);
          residency_buffer_release(out.buffer);
          engine.wait(reload);
          CHECK(back == source);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK_EQ(engine.counters().waits, 400u);
  });
}

TEST(a_lazy_transfer_reads_its_source_at_the_wait) {
  Engine engine(RESIDENCY_TIMING_LAZY);
  Bytes source = pattern(100, 1), changed = pattern(100, 2);
  Offload out = engine.offload(engine.slot("saved_0"), source);
  source = changed;
  engine.wait(out.transfer);
  CHECK(std::memcmp(residency_buffer_data(out.buffer), changed.data(), 100) == 0);
  residency_buffer_release(out.buffer);
}

TEST(an_eager_transfer_is_over_when_it_starts) {
  Engine engine(RESIDENCY_TIMING_EAGER);
  Bytes source = pattern(100, 1), original = source;
  Offload out = engine.offload(engine.slot("saved_0"), source);
  source = pattern(100, 2);
  engine.wait(out.transfer);
  CHECK(std::memcmp(residency_buffer_data(out.buffer), original.data(), 100) == 0);
  residency_buffer_release(out.buffer);
}

TEST(an_async_transfer_needs_no_wait_to_arrive) {
  Engine engine(RESIDENCY_TIMING_ASYNC);
  Bytes source = pattern(100, 1);
  Offload out = engine.offload(engine.slot("saved_0"), source);
  for (int tries = 0; tries < 2000; ++tries) {
    if (std::memcmp(residency_buffer_data(out.buffer), source.data(), 100) == 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  engine.wait(out.transfer);
  CHECK(std::memcmp(residency_buffer_data(out.buffer), source.data(), 100) == 0);
  residency_buffer_release(out.buffer);
}

int main() {
  return check::run();
}
