// The Python binding: tensors come as addresses, host buffers go out as DLPack capsules that own
// them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <mutex>
#include <unordered_map>

#include "residency/runtime.h"

namespace nb = nanobind;
using nb::literals::operator""_a;

namespace {

void check(residency_status_t status) {
  if (status == RESIDENCY_OK) return;
  const char* message = residency_last_error();
  switch (status) {
    case RESIDENCY_INVALID_ARGUMENT:
      throw nb::value_error(message);
    case RESIDENCY_OUT_OF_MEMORY:
      PyErr_SetString(PyExc_MemoryError, message);
      throw nb::python_error();
    default:
      throw std::runtime_error(message);
  }
}

void* address(uintptr_t value) {
  return reinterpret_cast<void*>(value);
}

// The part of DLPack (version 0) that a one-dimensional array of bytes needs; the layout is fixed
// by its specification.
struct DLTensor {
  void* data;
  int32_t device_type, device_id;
  int32_t dimensions;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t* shape;
  int64_t* strides;
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor tensor;
  void* context;
  void (*deleter)(DLManagedTensor*);
};

// Which host buffer begins at an address: a tensor that comes back for its reload has nothing else
// to know it by.
class Buffers {
 public:
  void add(residency_buffer* buffer) {
    std::lock_guard lock(mutex_);
    by_address_[residency_buffer_data(buffer)] = buffer;
  }
  void release(residency_buffer* buffer) {
    {
      std::lock_guard lock(mutex_);
      by_address_.erase(residency_buffer_data(buffer));
    }
    residency_buffer_release(buffer);
  }
  residency_buffer* find(void* data, size_t bytes) {
    std::lock_guard lock(mutex_);
    auto found = by_address_.find(data);
    if (found == by_address_.end() || residency_buffer_bytes(found->second) != bytes)
      return nullptr;
    return found->second;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<void*, residency_buffer*> by_address_;
};

// Kept alive by every capsule: a tensor may outlive the engine.
using SharedBuffers = std::shared_ptr<Buffers>;

struct HostMemory {
  DLManagedTensor managed{};
  int64_t size, stride = 1;
  residency_buffer* buffer;
  SharedBuffers buffers;

  HostMemory(residency_buffer* buffer, SharedBuffers buffers)
      : size(static_cast<int64_t>(residency_buffer_bytes(buffer))),
        buffer(buffer),
        buffers(std::move(buffers)) {
    constexpr int32_t cpu = 1;
    constexpr uint8_t unsigned_integer = 1;
    managed.tensor = {
        residency_buffer_data(buffer), cpu, 0, 1, unsigned_integer, 8, 1, &size, &stride, 0};
    managed.context = this;
    managed.deleter = [](DLManagedTensor* self) { delete static_cast<HostMemory*>(self->context); };
  }
  ~HostMemory() { buffers->release(buffer); }
};

nb::object capsule_of(HostMemory* memory) {
  PyObject* capsule = PyCapsule_New(&memory->managed, "dltensor", [](PyObject* self) {
    // Whoever takes the memory over renames the capsule.
    if (!PyCapsule_IsValid(self, "dltensor")) return;
    auto* managed = static_cast<DLManagedTensor*>(PyCapsule_GetPointer(self, "dltensor"));
    managed->deleter(managed);
  });
  if (!capsule) {
    delete memory;
    throw nb::python_error();
  }
  return nb::steal(capsule);
}

class Engine {
 public:
  explicit Engine(const std::string& device) : buffers(std::make_shared<Buffers>()) {
    check(residency_engine_create(device.c_str(), &handle));
  }
  ~Engine() {
    nb::gil_scoped_release unlocked;
    residency_engine_destroy(handle);
  }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  residency_engine* handle = nullptr;
  SharedBuffers buffers;
};

// A transfer in flight. Keeps both of its ends alive; dropping it unwaited ends the transfer first.
class Pending {
 public:
  Pending(nb::object engine, residency_transfer transfer, void* compute, nb::object source)
      : engine_(std::move(engine)),
        handle_(nb::cast<Engine&>(engine_).handle),
        transfer_(transfer),
        compute_(compute),
        source_(std::move(source)) {}
  ~Pending() {
    if (!ended_) {
      nb::gil_scoped_release unlocked;
      residency_discard(handle_, transfer_, compute_);
    }
  }
  Pending(const Pending&) = delete;
  Pending& operator=(const Pending&) = delete;

  nb::object wait(uintptr_t compute) {
    ended_ = true;
    residency_status_t status;
    {
      nb::gil_scoped_release unlocked;
      status = residency_wait(handle_, transfer_, address(compute));
    }
    check(status);
    source_.reset();
    return std::move(result);
  }

  nb::object result;

 private:
  nb::object engine_;
  residency_engine* handle_;
  residency_transfer transfer_;
  void* compute_;
  nb::object source_;
  bool ended_ = false;
};

nb::dict counters(Engine& engine) {
  residency_counters c{};
  c.struct_size = sizeof c;
  check(residency_get_counters(engine.handle, &c));
  nb::dict result;
#define RESIDENCY_FIELD(name) result[#name] = c.name
  RESIDENCY_FIELD(saved_bytes);
  RESIDENCY_FIELD(saved_bytes_peak);
  RESIDENCY_FIELD(reloaded_bytes);
  RESIDENCY_FIELD(reloaded_bytes_peak);
  RESIDENCY_FIELD(host_bytes);
  RESIDENCY_FIELD(host_bytes_peak);
  RESIDENCY_FIELD(arena_bytes);
  RESIDENCY_FIELD(slot_allocations);
  RESIDENCY_FIELD(offloads);
  RESIDENCY_FIELD(offloaded_bytes);
  RESIDENCY_FIELD(reloads);
  RESIDENCY_FIELD(reloaded_bytes_total);
  RESIDENCY_FIELD(waits);
  RESIDENCY_FIELD(double_waits);
  RESIDENCY_FIELD(discards);
  RESIDENCY_FIELD(frees);
  RESIDENCY_FIELD(host_syncs);
#undef RESIDENCY_FIELD
  return result;
}

nb::tuple offload_start(nb::handle_t<Engine> self, uintptr_t source, size_t bytes,
                        residency_slot slot, uintptr_t compute, nb::object keep) {
  Engine& engine = nb::cast<Engine&>(self);
  residency_buffer* buffer;
  residency_transfer transfer;
  check(residency_offload_start(engine.handle, slot, address(source), bytes, address(compute),
                                &buffer, &transfer));
  auto* pending = new Pending(nb::borrow(self), transfer, address(compute), std::move(keep));
  nb::object owned = nb::cast(pending, nb::rv_policy::take_ownership);
  engine.buffers->add(buffer);
  return nb::make_tuple(owned, capsule_of(new HostMemory(buffer, engine.buffers)));
}

nb::object reload_start(nb::handle_t<Engine> self, uintptr_t host, uintptr_t destination,
                        size_t bytes, residency_slot slot, uintptr_t compute, nb::object result) {
  Engine& engine = nb::cast<Engine&>(self);
  residency_buffer* buffer = engine.buffers->find(address(host), bytes);
  if (!buffer) return nb::none();
  residency_transfer transfer;
  check(residency_reload_start(engine.handle, slot, buffer, address(destination), bytes,
                               address(compute), &transfer));
  auto* pending = new Pending(nb::borrow(self), transfer, address(compute), nb::object());
  pending->result = std::move(result);
  return nb::cast(pending, nb::rv_policy::take_ownership);
}

}  // namespace

NB_MODULE(_engine, m) {
  // Tensors that still hold host buffers at exit are no leak worth a message.
  nb::set_leak_warnings(false);
  if (residency_abi_version() != RESIDENCY_ABI_VERSION) {
    throw std::runtime_error("the runtime library has another ABI version: " +
                             std::to_string(residency_abi_version()));
  }

  m.attr("ASYNC") = int{RESIDENCY_TIMING_ASYNC};
  m.attr("LAZY") = int{RESIDENCY_TIMING_LAZY};
  m.attr("EAGER") = int{RESIDENCY_TIMING_EAGER};
  m.attr("RANDOM") = int{RESIDENCY_TIMING_RANDOM};
  m.attr("SAVED") = int{RESIDENCY_ACCOUNT_SAVED};
  m.attr("RELOADED") = int{RESIDENCY_ACCOUNT_RELOADED};

  nb::class_<Pending>(m, "Pending", "A transfer in flight; waited on exactly once.")
      .def_rw("result", &Pending::result, "what the wait returns")
      .def("wait", &Pending::wait, "compute"_a);

  nb::class_<Engine>(m, "Engine")
      .def(nb::init<const std::string&>(), "device"_a)
      .def("slot",
           [](Engine& e, const std::string& name) {
             residency_slot slot;
             check(residency_slot_named(e.handle, name.c_str(), &slot));
             return slot;
           })
      .def("offload_start", &offload_start)
      .def("reload_start", &reload_start)
      .def("free",
           [](Engine& e, uintptr_t data, size_t bytes, uintptr_t compute) {
             check(residency_free(e.handle, address(data), bytes, address(compute)));
           })
      .def("account", [](Engine& e, residency_account_kind kind,
                         int64_t delta) { check(residency_account(e.handle, kind, delta)); })
      .def("set_timing",
           [](Engine& e, residency_timing timing, uint64_t seed) {
             nb::gil_scoped_release unlocked;
             check(residency_set_timing(e.handle, timing, seed));
           })
      .def("set_poison", [](Engine& e, bool on) { check(residency_set_poison(e.handle, on)); })
      .def("synchronize",
           [](Engine& e) {
             nb::gil_scoped_release unlocked;
             check(residency_synchronize(e.handle));
           })
      .def("counters", &counters)
      .def("reset_peaks", [](Engine& e) { check(residency_reset_peaks(e.handle)); })
      .def("trace_start", [](Engine& e) { check(residency_trace_start(e.handle)); })
      .def("trace_stop", [](Engine& e, uint32_t process) {
        const char* json;
        check(residency_trace_stop(e.handle, process, &json));
        return std::string(json);
      });
}
