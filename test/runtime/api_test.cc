// The edges of the C interface: errors, counters, accounts and the trace.
#include "fixture.h"

TEST(bad_arguments_are_errors_with_a_message) {
  Engine engine;
  residency_engine* none = nullptr;
  residency_slot slot = 0;
  CHECK_FAILS(residency_engine_create("gpu9", &none), RESIDENCY_INVALID_ARGUMENT, "not: gpu9");
  CHECK(none == nullptr);
  CHECK_FAILS(residency_engine_create(nullptr, &none), RESIDENCY_INVALID_ARGUMENT, "device");
  CHECK_FAILS(residency_engine_create("host", nullptr), RESIDENCY_INVALID_ARGUMENT, "out_engine");
  CHECK_FAILS(residency_slot_named(nullptr, "a", &slot), RESIDENCY_INVALID_ARGUMENT, "engine");
  CHECK_FAILS(residency_set_timing(engine.handle, 9, 0), RESIDENCY_INVALID_ARGUMENT,
              "no such timing: 9");

  Bytes source = pattern(10, 1), small(5);
  residency_buffer* buffer = nullptr;
  residency_transfer transfer = 0;
  CHECK_FAILS(
      residency_offload_start(engine.handle, 5, source.data(), 10, nullptr, &buffer, &transfer),
      RESIDENCY_INVALID_ARGUMENT, "no such slot: 5");
  slot = engine.slot("saved_0");
  CHECK_FAILS(
      residency_offload_start(engine.handle, slot, nullptr, 10, nullptr, &buffer, &transfer),
      RESIDENCY_INVALID_ARGUMENT, "no source to offload for slot: @saved_0");
  CHECK(buffer == nullptr);
  Offload out = engine.offload(slot, source);
  CHECK_FAILS(
      residency_reload_start(engine.handle, slot, out.buffer, small.data(), 5, nullptr, &transfer),
      RESIDENCY_INVALID_ARGUMENT, "@saved_0 into a destination of other size than 10: 5");
  engine.wait(out.transfer);
  residency_buffer_release(out.buffer);
  residency_buffer_release(nullptr);
  residency_engine_destroy(nullptr);
  CHECK_FAILS(residency_wait(engine.handle, 12345678901234567u, nullptr),
              RESIDENCY_FAILED_PRECONDITION, "second wait");
}

TEST(a_slot_has_one_number_for_its_name) {
  Engine engine;
  residency_slot a = engine.slot("a"), b = engine.slot("b");
  CHECK(a != b);
  CHECK_EQ(engine.slot("a"), a);
}

TEST(counters_count) {
  Engine engine;
  residency_slot slot = engine.slot("saved_0");
  Bytes source = pattern(1000, 1), back(1000);
  Offload a = engine.offload(slot, source), b = engine.offload(slot, source);
  engine.wait(a.transfer);
  engine.wait(b.transfer);
  engine.wait(engine.reload(slot, a.buffer, back));
  residency_buffer_release(a.buffer);
  residency_counters c = engine.counters();
  CHECK_EQ(c.offloads, 2u);
  CHECK_EQ(c.offloaded_bytes, 2000u);
  CHECK_EQ(c.reloads, 1u);
  CHECK_EQ(c.reloaded_bytes_total, 1000u);
  CHECK_EQ(c.waits, 3u);
  CHECK_EQ(c.host_bytes, 1000u);
  CHECK_EQ(c.host_bytes_peak, 2000u);
  CHECK_EQ(c.slot_allocations, 2u);
  CHECK_OK(residency_reset_peaks(engine.handle));
  CHECK_EQ(engine.counters().host_bytes_peak, 1000u);
  residency_buffer_release(b.buffer);
}

TEST(an_older_caller_gets_the_counters_it_knows) {
  Engine engine;
  residency_counters c;
  std::memset(&c, 0x55, sizeof c);
  c.struct_size = offsetof(residency_counters, saved_bytes_peak);
  CHECK_OK(residency_get_counters(engine.handle, &c));
  CHECK_EQ(c.saved_bytes, 0u);
  CHECK_EQ(c.saved_bytes_peak, 0x5555555555555555u);
  c.struct_size = 1;
  CHECK_FAILS(residency_get_counters(engine.handle, &c), RESIDENCY_INVALID_ARGUMENT, "struct_size");
}

TEST(accounts_rise_fall_and_never_go_below_nothing) {
  Engine engine;
  CHECK_OK(residency_account(engine.handle, RESIDENCY_ACCOUNT_SAVED, 100));
  CHECK_OK(residency_account(engine.handle, RESIDENCY_ACCOUNT_SAVED, -40));
  CHECK_OK(residency_account(engine.handle, RESIDENCY_ACCOUNT_RELOADED, 7));
  residency_counters c = engine.counters();
  CHECK_EQ(c.saved_bytes, 60u);
  CHECK_EQ(c.saved_bytes_peak, 100u);
  CHECK_EQ(c.reloaded_bytes, 7u);
  CHECK_FAILS(residency_account(engine.handle, RESIDENCY_ACCOUNT_SAVED, -61),
              RESIDENCY_INVALID_ARGUMENT, "-61");
  CHECK_EQ(engine.counters().saved_bytes, 60u);
}

TEST(a_trace_names_operations_streams_and_slots) {
  Engine engine;
  const char* json = nullptr;
  CHECK_FAILS(residency_trace_stop(engine.handle, 3, &json), RESIDENCY_FAILED_PRECONDITION,
              "no trace to stop");
  CHECK_OK(residency_trace_start(engine.handle));
  residency_slot slot = engine.slot("odd \"name\"");
  Bytes source = pattern(1000, 1), back(1000);
  Offload out = engine.offload(slot, source);
  engine.wait(out.transfer);
  engine.wait(engine.reload(slot, out.buffer, back));
  residency_buffer_release(out.buffer);
  CHECK_OK(residency_trace_stop(engine.handle, 3, &json));
  std::string text = json;
  for (const char* part :
       {"\"name\":\"offload @odd \\\"name\\\"\",\"pid\":3,\"tid\":1", "\"name\":\"reload @odd",
        "\"name\":\"wait @odd", "\"name\":\"d2h\"", "\"bytes\":1000"}) {
    if (text.find(part) == std::string::npos)
      check::fail(__FILE__, __LINE__, part + (" is not in " + text));
  }
}

int main() {
  return check::run();
}
