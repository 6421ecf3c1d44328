// The C functions: null checks, and exceptions turned into a status with a message.
#include <algorithm>
#include <cstring>
#include <new>

#include "engine.h"
#include "residency/runtime.h"
#include "status.h"

namespace {

thread_local std::string last_error;

void require(const void* pointer, const char* name) {
  if (!pointer) throw residency::invalid("a null pointer was given for: " + std::string(name));
}

template <class F>
residency_status_t guarded(F&& body) {
  try {
    body();
    return RESIDENCY_OK;
  } catch (const residency::Error& error) {
    last_error = error.what();
    return error.code;
  } catch (const std::bad_alloc&) {
    last_error = "out of memory";
    return RESIDENCY_OUT_OF_MEMORY;
  } catch (const std::exception& error) {
    last_error = error.what();
    return RESIDENCY_INTERNAL;
  }
}

}  // namespace

const char* residency_last_error(void) {
  return last_error.c_str();
}

uint32_t residency_abi_version(void) {
  return RESIDENCY_ABI_VERSION;
}

residency_status_t residency_engine_create(const char* device, residency_engine** out_engine) {
  return guarded([&] {
    require(device, "device");
    require(out_engine, "out_engine");
    *out_engine = new residency_engine(device);
  });
}

void residency_engine_destroy(residency_engine* engine) {
  if (!engine || engine->left_behind()) return;
  engine->synchronize();
  engine->drop_reference();
}

residency_status_t residency_set_timing(residency_engine* engine, residency_timing timing,
                                        uint64_t seed) {
  return guarded([&] {
    require(engine, "engine");
    engine->set_timing(timing, seed);
  });
}

residency_status_t residency_set_poison(residency_engine* engine, int on) {
  return guarded([&] {
    require(engine, "engine");
    engine->set_poison(on != 0);
  });
}

residency_status_t residency_slot_named(residency_engine* engine, const char* name,
                                        residency_slot* out_slot) {
  return guarded([&] {
    require(engine, "engine");
    require(name, "name");
    require(out_slot, "out_slot");
    *out_slot = engine->slot(name);
  });
}

residency_status_t residency_offload_start(residency_engine* engine, residency_slot slot,
                                           const void* source, size_t bytes, void* compute,
                                           residency_buffer** out_buffer,
                                           residency_transfer* out_transfer) {
  return guarded([&] {
    require(engine, "engine");
    require(out_buffer, "out_buffer");
    require(out_transfer, "out_transfer");
    engine->offload(slot, source, bytes, compute, out_buffer, out_transfer);
  });
}

residency_status_t residency_reload_start(residency_engine* engine, residency_slot slot,
                                          residency_buffer* buffer, void* destination, size_t bytes,
                                          void* compute, residency_transfer* out_transfer) {
  return guarded([&] {
    require(engine, "engine");
    require(buffer, "buffer");
    require(out_transfer, "out_transfer");
    *out_transfer = engine->reload(slot, *buffer, destination, bytes, compute);
  });
}

residency_status_t residency_wait(residency_engine* engine, residency_transfer transfer,
                                  void* compute) {
  return guarded([&] {
    require(engine, "engine");
    engine->wait(transfer, compute);
  });
}

residency_status_t residency_discard(residency_engine* engine, residency_transfer transfer,
                                     void* compute) {
  return guarded([&] {
    require(engine, "engine");
    if (!engine->left_behind()) engine->discard(transfer, compute);
  });
}

residency_status_t residency_free(residency_engine* engine, void* data, size_t bytes,
                                  void* compute) {
  return guarded([&] {
    require(engine, "engine");
    engine->free(data, bytes, compute);
  });
}

void* residency_buffer_data(residency_buffer* buffer) {
  return buffer->block.memory;
}

size_t residency_buffer_bytes(const residency_buffer* buffer) {
  return buffer->bytes;
}

void residency_buffer_release(residency_buffer* buffer) {
  if (buffer && !buffer->engine->left_behind()) buffer->engine->release(buffer);
}

residency_status_t residency_account(residency_engine* engine, residency_account_kind kind,
                                     int64_t delta) {
  return guarded([&] {
    require(engine, "engine");
    engine->account(kind, delta);
  });
}

residency_status_t residency_synchronize(residency_engine* engine) {
  return guarded([&] {
    require(engine, "engine");
    engine->synchronize();
  });
}

residency_status_t residency_get_counters(residency_engine* engine, residency_counters* counters) {
  return guarded([&] {
    require(engine, "engine");
    require(counters, "counters");
    size_t wanted = counters->struct_size;
    if (wanted < sizeof(size_t)) {
      throw residency::invalid("struct_size of the counters is too small: " +
                               std::to_string(wanted));
    }
    residency_counters all = engine->counters();
    size_t known = std::min(wanted, sizeof all);
    std::memcpy(counters, &all, known);
    counters->struct_size = known;
  });
}

residency_status_t residency_reset_peaks(residency_engine* engine) {
  return guarded([&] {
    require(engine, "engine");
    engine->reset_peaks();
  });
}

residency_status_t residency_trace_start(residency_engine* engine) {
  return guarded([&] {
    require(engine, "engine");
    engine->trace_start();
  });
}

residency_status_t residency_trace_stop(residency_engine* engine, uint32_t process,
                                        const char** out_json) {
  return guarded([&] {
    require(engine, "engine");
    require(out_json, "out_json");
    *out_json = engine->trace_stop(process);
  });
}
