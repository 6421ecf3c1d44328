// The Python binding: tensors come as addresses, host buffers go out as DLPack capsules that own
// them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

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

// The part of DLPack (version 0) that a tensor needs to change hands; the layout is fixed
// by its specification.
struct DLType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  int32_t device_type, device_id;
  int32_t dimensions;
  DLType type;
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

// The shape, strides and element type that a host tensor gets.
struct Layout {
  std::vector<int64_t> shape, strides;
  DLType type;
  size_t item_bytes;

  Layout(const nb::tuple& sizes, const nb::tuple& steps, uint8_t code, size_t item_bytes)
      : type{code, static_cast<uint8_t>(item_bytes * 8), 1}, item_bytes(item_bytes) {
    if (sizes.size() != steps.size()) throw nb::value_error("shape and strides differ in length");
    shape.reserve(sizes.size());
    strides.reserve(sizes.size());
    for (nb::handle size : sizes) shape.push_back(nb::cast<int64_t>(size));
    for (nb::handle step : steps) strides.push_back(nb::cast<int64_t>(step));
  }

  // From the first element to the last one, gaps between them included.
  size_t covered_bytes() const {
    int64_t last = 0;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] == 0) return 0;
      last += (shape[i] - 1) * strides[i];
    }
    return static_cast<size_t>(last + 1) * item_bytes;
  }
};

struct HostMemory {
  DLManagedTensor managed{};
  Layout layout;
  residency_buffer* buffer;
  SharedBuffers buffers;

  HostMemory(Layout from, residency_buffer* buffer, SharedBuffers buffers)
      : layout(std::move(from)), buffer(buffer), buffers(std::move(buffers)) {
    constexpr int32_t cpu = 1;
    managed.tensor = {residency_buffer_data(buffer),
                      cpu,
                      0,
                      static_cast<int32_t>(layout.shape.size()),
                      layout.type,
                      layout.shape.data(),
                      layout.strides.data(),
                      0};
    managed.context = this;
    managed.deleter = [](DLManagedTensor* self) { delete static_cast<HostMemory*>(self->context); };
  }
  ~HostMemory() { buffers->release(buffer); }
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
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

// Returns the transfer and a capsule that owns the host memory, laid out as the source is. `keep`
// is the source.
nb::tuple offload_start(nb::handle_t<Engine> self, uintptr_t source, const nb::tuple& shape,
                        const nb::tuple& strides, uint8_t type_code, size_t item_bytes,
                        residency_slot slot, uintptr_t compute, nb::object keep) {
  Engine& engine = nb::cast<Engine&>(self);
  Layout layout(shape, strides, type_code, item_bytes);
  residency_buffer* buffer;
  residency_transfer transfer;
  check(residency_offload_start(engine.handle, slot, address(source), layout.covered_bytes(),
                                address(compute), &buffer, &transfer));
  engine.buffers->add(buffer);
  auto memory = std::make_unique<HostMemory>(std::move(layout), buffer, engine.buffers);
  auto* pending = new Pending(nb::borrow(self), transfer, address(compute), std::move(keep));
  nb::object owned = nb::cast(pending, nb::rv_policy::take_ownership);
  return nb::make_tuple(owned, capsule_of(memory.release()));
}

// Returns the transfer, or None if no buffer of this engine begins at `host`. `result` is the
// destination.
nb::object reload_start(nb::handle_t<Engine> self, uintptr_t host, uintptr_t destination,
                        const nb::tuple& shape, const nb::tuple& strides, size_t item_bytes,
                        residency_slot slot, uintptr_t compute, nb::object result) {
  Engine& engine = nb::cast<Engine&>(self);
  size_t bytes = Layout(shape, strides, 0, item_bytes).covered_bytes();
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
