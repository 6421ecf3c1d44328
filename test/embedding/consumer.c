/* One saved value of a training step: to the host after forward, back before backward. */
#include <residency/runtime.h>
#include <stdio.h>

static int failed(residency_status_t status) {
  if (status != RESIDENCY_OK) fprintf(stderr, "%s\n", residency_last_error());
  return status != RESIDENCY_OK;
}

int main(void) {
  float activation[256], restored[256];
  residency_engine* engine;
  residency_slot slot;
  residency_buffer* buffer;
  residency_transfer offload, reload;
  residency_counters counters = {.struct_size = sizeof counters};

  if (residency_abi_version() != RESIDENCY_ABI_VERSION) {
    fprintf(stderr, "the header and the library differ in their ABI version\n");
    return 1;
  }
  for (int i = 0; i < 256; ++i) activation[i] = (float)i;
  if (failed(residency_engine_create("host", &engine))) return 1;
  if (failed(residency_slot_named(engine, "saved_0", &slot)) ||
      failed(residency_offload_start(engine, slot, activation, sizeof activation, NULL, &buffer,
                                     &offload)) ||
      failed(residency_wait(engine, offload, NULL)) ||
      failed(residency_free(engine, activation, sizeof activation, NULL)) ||
      failed(
          residency_reload_start(engine, slot, buffer, restored, sizeof restored, NULL, &reload)) ||
      failed(residency_wait(engine, reload, NULL)) ||
      failed(residency_get_counters(engine, &counters))) {
    return 1;
  }
  residency_buffer_release(buffer);
  residency_engine_destroy(engine);
  for (int i = 0; i < 256; ++i) {
    if (restored[i] != (float)i) {
      fprintf(stderr, "element %d came back as %f\n", i, (double)restored[i]);
      return 1;
    }
  }
  printf("moved %zu bytes there and %zu back\n", (size_t)counters.offloaded_bytes,
         (size_t)counters.reloaded_bytes_total);
  return 0;
}
