/* The engine that moves tensors between a device and the host while a training step runs.
 *
 * Emitted Python, JIT-ed code and other compilers all use it through this header, which is plain C.
 *
 * Conventions
 *   - Every function that can fail returns a residency_status_t. On anything but RESIDENCY_OK,
 * residency_last_error() holds the message for the calling thread, and no out parameter has been
 * written.
 *   - Results come last and are named out_*. Handles are opaque.
 *   - Memory is passed as a pointer and a size in bytes. The engine never looks into it. A strided
 * tensor is the span of its storage that it covers: (1 + sum((size_i - 1) * stride_i)) elements.
 *   - `compute` is the native handle of the stream that the caller issues its compute on: a
 * CUstream on the cuda device; NULL on the host device, whose compute is the calling thread.
 *   - Enumerations travel as int32_t, so that their size is fixed and a value from a newer caller
 * is an error, not a crash.
 *   - In a child process after fork, an engine of the parent can only be dropped: destroy, discard
 * and release do nothing.
 *   - All functions are thread-safe unless they say otherwise. None calls back into the caller.
 */
#ifndef RESIDENCY_RUNTIME_H
#define RESIDENCY_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define RESIDENCY_API __attribute__((visibility("default")))
#else
#define RESIDENCY_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Grows by one when a function or struct below changes in a way that old callers would notice. */
#define RESIDENCY_ABI_VERSION 1

typedef int32_t residency_status_t;
enum {
  RESIDENCY_OK = 0,
  RESIDENCY_INVALID_ARGUMENT = 1,    /* a null pointer, an unknown slot, a bad option */
  RESIDENCY_FAILED_PRECONDITION = 2, /* legal, but not now: a second wait on one transfer */
  RESIDENCY_OUT_OF_MEMORY = 3,
  RESIDENCY_UNAVAILABLE = 4, /* the device or its driver is not on this machine */
  RESIDENCY_INTERNAL = 5
};

/* One engine for one device. */
typedef struct residency_engine residency_engine;

/* The bytes of one saved value on the host, in memory that belongs to the engine's arena. */
typedef struct residency_buffer residency_buffer;

/* A slot, by number: the name of a value in messages and traces. It owns no memory: two invocations
 * in flight have two buffers of one slot. */
typedef uint32_t residency_slot;

/* A transfer in flight, to be waited on exactly once. A plain number, never reused while anyone
 * could hold it, so that a second wait is an error and not a crash. */
typedef uint64_t residency_transfer;

/* When transfers run. A schedule that is right gives the same bits under all of them. */
typedef int32_t residency_timing;
enum {
  RESIDENCY_TIMING_ASYNC = 0, /* on the stream's own thread, as soon as it can */
  RESIDENCY_TIMING_LAZY = 1,  /* only when somebody waits for it: catches a missing wait */
  RESIDENCY_TIMING_EAGER =
      2, /* inside the call that starts it: catches a source that is not ready yet */
  RESIDENCY_TIMING_RANDOM = 3 /* on the stream's thread, each after a delay drawn from the seed */
};

/* What an engine has done. All sizes in bytes; `now` values fall, the others only rise. A caller
 * sets struct_size to sizeof(residency_counters); fields that an older caller does not know are
 * left out. */
typedef struct residency_counters {
  size_t struct_size;
  uint64_t saved_bytes;      /* on the device for backward, now: see residency_account */
  uint64_t saved_bytes_peak; /* since creation or residency_reset_peaks */
  uint64_t reloaded_bytes;   /* reloaded and still on the device, now */
  uint64_t reloaded_bytes_peak;
  uint64_t host_bytes; /* in buffers that have not been released, now */
  uint64_t host_bytes_peak;
  uint64_t arena_bytes; /* memory the arena holds, in use or not, now */
  uint64_t
      slot_allocations; /* times the arena asked the system for memory; flat after the first step */
  uint64_t offloads;    /* transfers from the device */
  uint64_t offloaded_bytes;
  uint64_t reloads; /* transfers to the device */
  uint64_t reloaded_bytes_total;
  uint64_t waits;
  uint64_t double_waits; /* refused second waits */
  uint64_t discards;     /* transfers given up without a wait: a step that did not finish */
  uint64_t frees;
  uint64_t host_syncs; /* times the host was blocked for the device, other than by a wait of the
                          host device */
} residency_counters;

typedef int32_t residency_account_kind;
enum {
  RESIDENCY_ACCOUNT_SAVED = 0,   /* bytes that forward saved on the device */
  RESIDENCY_ACCOUNT_RELOADED = 1 /* bytes that a reload brought back */
};

/* The message of the calling thread's last failed call; valid until its next failed call. Never
 * NULL. */
RESIDENCY_API const char* residency_last_error(void);

/* The RESIDENCY_ABI_VERSION that the library was built with. A caller compares it with its own
 * before anything else. */
RESIDENCY_API uint32_t residency_abi_version(void);

/* Makes an engine for `device`: "host", which runs on every machine. The caller owns the engine.
 * CUDA equivalent: creating one stream per copy direction.
 * Errors: INVALID_ARGUMENT for an unknown device; UNAVAILABLE when it is not on this machine. */
RESIDENCY_API residency_status_t residency_engine_create(const char* device,
                                                         residency_engine** out_engine);

/* Finishes all transfers and gives the engine back; NULL is ignored. Buffers that were not released
 * stay valid and are to be released as usual; no other call may use the engine afterwards or at the
 * same time. */
RESIDENCY_API void residency_engine_destroy(residency_engine* engine);

/* Sets when transfers run, after finishing those in flight. `seed` matters to
 * RESIDENCY_TIMING_RANDOM only. Errors: INVALID_ARGUMENT for a timing that the device does not
 * have. */
RESIDENCY_API residency_status_t residency_set_timing(residency_engine* engine,
                                                      residency_timing timing, uint64_t seed);

/* With `on` non-zero, memory given to residency_free and residency_buffer_release is overwritten
 * with 0xFF bytes, which read as NaN, so that a use after the end of a lifetime shows in the
 * numbers. Off at first, and then free of cost. */
RESIDENCY_API residency_status_t residency_set_poison(residency_engine* engine, int on);

/* The slot named `name` ("saved_3"), the same number for the same name.
 * Errors: OUT_OF_MEMORY after 2^20 slots. */
RESIDENCY_API residency_status_t residency_slot_named(residency_engine* engine, const char* name,
                                                      residency_slot* out_slot);

/* Starts copying `bytes` bytes at `source` to a host buffer, once the compute issued so far is
 * done. The source must stay valid and unwritten until the transfer was waited on. The caller owns
 * the buffer; its contents are there after the wait. CUDA equivalent: cuEventRecord on compute,
 * cuStreamWaitEvent and cuMemcpyDtoHAsync on the d2h stream. Errors: INVALID_ARGUMENT;
 * OUT_OF_MEMORY. */
RESIDENCY_API residency_status_t residency_offload_start(residency_engine* engine,
                                                         residency_slot slot, const void* source,
                                                         size_t bytes, void* compute,
                                                         residency_buffer** out_buffer,
                                                         residency_transfer* out_transfer);

/* Starts copying a buffer to `destination` (`bytes` long, the buffer's size), once the offload that
 * fills the buffer and the compute issued so far are done. The destination must not be touched
 * until the transfer was waited on. The buffer may be released at once: its memory is not reused
 * before the copy has read it. CUDA equivalent: cuStreamWaitEvent and cuMemcpyHtoDAsync on the h2d
 * stream. Errors: INVALID_ARGUMENT, also when `bytes` is not the buffer's size. */
RESIDENCY_API residency_status_t residency_reload_start(residency_engine* engine,
                                                        residency_slot slot,
                                                        residency_buffer* buffer, void* destination,
                                                        size_t bytes, void* compute,
                                                        residency_transfer* out_transfer);

/* Orders the caller's compute after the transfer and ends the transfer. On the host device, whose
 * compute is the calling thread, it returns when the bytes have arrived. CUDA equivalent:
 * cuStreamWaitEvent on compute; the host does not block. Errors: FAILED_PRECONDITION, naming the
 * slot, for a transfer that was waited on or discarded before. */
RESIDENCY_API residency_status_t residency_wait(residency_engine* engine,
                                                residency_transfer transfer, void* compute);

/* Like residency_wait, for a step that does not go on: afterwards source and destination may be
 * given back. Ending a transfer that has ended is no error. */
RESIDENCY_API residency_status_t residency_discard(residency_engine* engine,
                                                   residency_transfer transfer, void* compute);

/* Says that the device memory's lifetime ends here on the compute stream. Frees nothing: the memory
 * is the caller's. Counted, and poisoned if asked for. CUDA equivalent: the place of a
 * cuMemFreeAsync. Errors: INVALID_ARGUMENT. */
RESIDENCY_API residency_status_t residency_free(residency_engine* engine, void* data, size_t bytes,
                                                void* compute);

/* The buffer's memory, aligned to 64 bytes, and its size. Valid until release. Never fails. */
RESIDENCY_API void* residency_buffer_data(residency_buffer* buffer);
RESIDENCY_API size_t residency_buffer_bytes(const residency_buffer* buffer);

/* Gives the buffer back to the arena, also after residency_engine_destroy; NULL is ignored. Does
 * not block: transfers that still use its memory are finished before the memory is used again. */
RESIDENCY_API void residency_buffer_release(residency_buffer* buffer);

/* Adds `delta` bytes, which may be negative, to what the caller keeps on the device. The engine
 * cannot see when the caller's memory goes, so the caller says. Errors: INVALID_ARGUMENT when more
 * is taken away than was added. */
RESIDENCY_API residency_status_t residency_account(residency_engine* engine,
                                                   residency_account_kind kind, int64_t delta);

/* Blocks the host until no transfer is in flight. For tests and for the end of a program; a step
 * needs none. CUDA equivalent: cuStreamSynchronize on each stream. */
RESIDENCY_API residency_status_t residency_synchronize(residency_engine* engine);

/* Copies the counters; `counters->struct_size` must be set. */
RESIDENCY_API residency_status_t residency_get_counters(residency_engine* engine,
                                                        residency_counters* counters);

/* Sets the peaks to the values of now. */
RESIDENCY_API residency_status_t residency_reset_peaks(residency_engine* engine);

/* Starts recording start and end of every operation, forgetting what was recorded before. */
RESIDENCY_API residency_status_t residency_trace_start(residency_engine* engine);

/* Finishes all transfers, stops recording and returns a JSON array of Chrome / Perfetto trace
 * events, one track per stream, `process` as their pid. The text belongs to the engine and is valid
 * until the next trace starts. Errors: FAILED_PRECONDITION if no trace was started. */
RESIDENCY_API residency_status_t residency_trace_stop(residency_engine* engine, uint32_t process,
                                                      const char** out_json);

#ifdef __cplusplus
}
#endif
#endif /* RESIDENCY_RUNTIME_H */
