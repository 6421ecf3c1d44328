// Times single calls of the C interface and prints medians as JSON, in microseconds.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "residency/runtime.h"

namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double median(std::vector<double>& values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

void require(residency_status_t status) {
  if (status == RESIDENCY_OK) return;
  std::fprintf(stderr, "%s\n", residency_last_error());
  std::exit(1);
}

struct Bench {
  Bench() {
    require(residency_engine_create("host", &engine));
    require(residency_slot_named(engine, "saved_0", &slot));
  }
  ~Bench() { residency_engine_destroy(engine); }

  // One value there and back. With `settle`, every transfer is over before it is waited on, so that
  // the wait's own cost shows.
  void round(std::vector<unsigned char>& source, std::vector<unsigned char>& back, bool settle) {
    residency_buffer* buffer;
    residency_transfer transfer;
    auto start = Clock::now();
    require(residency_offload_start(engine, slot, source.data(), source.size(), nullptr, &buffer,
                                    &transfer));
    offload_start.push_back(since(start));
    if (settle) require(residency_synchronize(engine));
    auto wait_start = Clock::now();
    require(residency_wait(engine, transfer, nullptr));
    wait.push_back(since(wait_start));
    offload_and_wait.push_back(since(start));
    start = Clock::now();
    require(
        residency_reload_start(engine, slot, buffer, back.data(), back.size(), nullptr, &transfer));
    reload_start.push_back(since(start));
    if (settle) require(residency_synchronize(engine));
    start = Clock::now();
    require(residency_wait(engine, transfer, nullptr));
    wait.push_back(since(start));
    residency_buffer_release(buffer);
  }

  residency_engine* engine = nullptr;
  residency_slot slot = 0;
  std::vector<double> offload_start, reload_start, wait, offload_and_wait;
};

}  // namespace

int main() {
  std::vector<unsigned char> small(1024, 1), small_back(1024);
  Bench calls, together;
  for (int n = 0; n < 5000; ++n) {
    calls.round(small, small_back, true);
    together.round(small, small_back, false);
  }
  std::vector<unsigned char> large(64 << 20, 1), large_back(large.size()), plain(large.size());
  std::vector<double> copy;
  Bench bandwidth;
  for (int n = 0; n < 11; ++n) {
    bandwidth.round(large, large_back, false);
    auto start = Clock::now();
    std::memcpy(plain.data(), large.data(), large.size());
    copy.push_back(since(start));
  }
  std::printf(
      "{\"offload_start_us\": %.3f, \"reload_start_us\": %.3f, \"wait_us\": %.3f, "
      "\"small_offload_and_wait_us\": %.3f, \"bandwidth_over_memcpy\": %.3f}\n",
      median(calls.offload_start), median(calls.reload_start), median(calls.wait),
      median(together.offload_and_wait), median(copy) / median(bandwidth.offload_and_wait));
  return 0;
}
