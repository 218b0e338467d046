// _C._cuda: what python/rushlight/cuda builds torch.cuda from. Rare calls, so plain pybind11. Every
// index is checked here: providers get only devices that exist.
#include "core/cuda.h"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include "bindings/gil.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "core/error.h"
#include "devices/virtual_machine.h"
#include "ops/ops.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

const DeviceRuntime& runtime(int index) {
  check_cuda_index(index);
  return *cuda_backend().runtime;
}

py::dict properties(int index) {
  DeviceProperties p{};
  runtime(index).properties(index, &p);
  py::dict d;
  d["name"] = p.name;
  d["uuid"] = p.uuid;
  d["total_memory"] = p.total_memory;
  d["major"] = p.major;
  d["minor"] = p.minor;
  d["multi_processor_count"] = p.multi_processor_count;
  d["max_threads_per_multi_processor"] = p.max_threads_per_multi_processor;
  d["max_threads_per_block"] = p.max_threads_per_block;
  d["warp_size"] = p.warp_size;
  d["regs_per_multiprocessor"] = p.regs_per_multiprocessor;
  d["shared_memory_per_block"] = p.shared_memory_per_block;
  d["L2_cache_size"] = p.l2_cache_size;
  return d;
}

// Flat, with torch's names: "allocated_bytes.small_pool.peak".
py::dict memory_stats(int index) {
  constexpr const char* whats[] = {
      "allocation",      "segment",        "active",       "inactive_split",
      "allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes",
      "requested_bytes"};
  constexpr const char* pools[] = {"all", "large_pool", "small_pool"};
  MemoryStats stats;
  runtime(index).memory_stats(index, &stats);
  py::dict d;
  for (int what = 0; what < MemoryStats::kWhats; ++what)
    for (int pool = 0; pool < MemoryStats::kPools; ++pool) {
      const MemoryFigure& f = stats.figures[what][pool];
      const std::string name = std::string(whats[what]) + "." + pools[pool] + ".";
      d[py::str(name + "current")] = f.current;
      d[py::str(name + "peak")] = f.peak;
      d[py::str(name + "allocated")] = f.allocated;
      d[py::str(name + "freed")] = f.freed;
    }
  d["num_alloc_retries"] = stats.retries;
  d["num_ooms"] = stats.out_of_memory;
  d["num_device_alloc"] = stats.device_allocations;
  d["num_device_free"] = stats.device_releases;
  return d;
}

// An event of the provider that made it; when devices change, it is no longer valid.
class Event {
 public:
  Event(int index, bool timing)
      : runtime_(&runtime(index)),
        index_(index),
        generation_(runtime_->generation(index)),
        event_(runtime_->new_event(index, timing)) {}
  ~Event() { runtime_->release_event(event_); }
  Event(const Event&) = delete;

  void record(int index, StreamId stream) {
    (check(index), runtime_->record_event(event_, index, stream));
  }
  bool done() { return (check(index_), runtime_->event_done(event_)); }
  void synchronize() {
    check(index_);
    const GilReleased unlocked;
    runtime_->event_synchronize(event_);
  }
  void wait(int index, StreamId stream) {
    (check(index), runtime_->stream_wait(index, stream, event_));
  }
  double elapsed(Event& end) {
    check(index_);
    end.check(end.index_);
    return runtime_->event_elapsed(event_, end.event_);
  }

 private:
  void check(int index) {
    if (runtime(index).generation(index) != generation_)
      fail<RuntimeError>("this event's device is gone: the GPUs were changed by cuda.virtual(...)");
  }
  const DeviceRuntime* runtime_;
  int index_;
  std::uint32_t generation_;
  void* event_;
};

// A hold on virtual GPUs that are not active now, until they are active again.
struct Machine {
  Ref<VirtualMachine> machine;
};

Tensor pin_op(const Tensor& self, py::handle) { return pin_memory(self); }
bool is_pinned_op(const Tensor& self, py::handle) { return is_pinned(self); }

void record_stream(const Tensor& self, int stream_index, StreamId stream) {
  const Device device = self.device();
  if (device.is_cpu())
    fail<NotImplementedError>(
        "Could not run 'aten::record_stream' with arguments from the 'CPU' backend.\nmemory of the "
        "CPU is used by no stream: call it for a tensor on a GPU alone (x.is_cuda)");
  if (device.is_meta())
    fail<NotImplementedError>(
        "aten::record_stream: attempted to run this operator with Meta tensors\na meta tensor has "
        "no memory");
  check_alive(self);
  check_cuda_index(stream_index);
  const Storage& storage = self.storage();
  const Backend& backend = cuda_backend();
  if (storage.data && storage.owner == &backend)  // not what another library lends
    backend.runtime->record_stream(device.index, storage.data, stream_index, stream);
}

void bind_virtual(py::module_& m) {
  py::class_<Machine>(m, "Machine").def_property_readonly("count", [](const Machine& h) {
    return h.machine ? h.machine->devices.size() : 0;
  });
  m.def("virtual_replace", [](int count, const std::string& profiles, const std::string& memories) {
    Ref<VirtualMachine> next;
    if (count) next = Ref<VirtualMachine>::adopt(new VirtualMachine(count, profiles, memories));
    find_cuda();  // the environment's machine, if it is set and not used yet, is replaced
                  // too
    Machine before{exchange_machine(std::move(next))};
    forget_cuda();
    return before;
  });
  m.def("virtual_restore", [](const Machine& before) {
    exchange_machine(before.machine);
    forget_cuda();
  });
  m.def("virtual_active", [] { return Machine{active_machine()}; });
  m.def("virtual_check_environment", [] { machine_from_environment(); });
  m.def("virtual_profiles", [] {
    py::dict all;
    for (const VirtualProfile& p : virtual_profiles())
      all[p.key] = py::make_tuple(p.name, py::make_tuple(p.major, p.minor), p.memory, p.processors);
    return all;
  });
  // The blocks of each segment: (address, bytes, bytes asked for, whether it is small, whether a
  // tensor has it). None on GPUs that are real: their driver does not tell.
  m.def("virtual_segments", [](int index) -> py::object {
    check_cuda_index(index);
    const auto machine = active_machine();
    if (!machine) return py::none();
    py::list segments;
    for (const auto& blocks : machine->device(index)->allocator.segments()) {
      py::list segment;
      for (const VirtualAllocator::Block& b : blocks)
        segment.append(py::make_tuple(b.address, b.size, b.requested, b.small, b.taken));
      segments.append(segment);
    }
    return segments;
  });
  m.def("virtual_publish", [](const std::string& path) {
    find_cuda();
    publish_page(path);
  });
}

void bind_pinned(py::module_& m) {
  op<&pin_op>(
      m, "pin_memory(self, device=None)", stored(As::method),
      R"(A copy in page-locked memory, from which copies to a GPU are fastest; itself if there.

Args:
    device: deprecated, and without effect.

Shape:
    that of self.

Raises:
    RuntimeError: if there is no GPU.

>>> torch.ones(2).pin_memory().is_pinned()  # doctest: +SKIP
True)");
  op<&is_pinned_op>(m, "is_pinned(self, device=None)", stored(As::method),
                    R"(Whether the tensor lies in page-locked memory.

Args:
    device: deprecated, and without effect.

>>> torch.ones(1).is_pinned()
False)");
}

}  // namespace

void bind_cuda(py::module_& module) {
  bind_pinned(module);
  py::module_ m = module.def_submodule("_cuda");
  module.def(
      "_get_accelerator",
      [](const py::object&) { return parse_device(find_cuda().table ? "cuda" : "cpu"); },
      py::arg("check") = py::none(), "The kind of accelerator, the CPU where there is none.");
  m.def("device_count", cuda_device_count);
  m.def("why_not", cuda_why_not);
  m.def("init", [] { cuda_backend(); });
  m.def("is_initialized", cuda_is_initialized);
  m.def("sync_debug_mode", [] { return int(sync_debug.load()); });
  m.def("set_sync_debug_mode", [](int mode) { sync_debug = SyncDebug(mode); });
  m.def("is_forked", cuda_forked);
  m.def("provider", [] { return cuda_backend().name; });
  m.def("why_not_more", [] {
    const char* words = cuda_backend().runtime->why_not_more();
    return std::string(words ? words : "");
  });
  m.def("memory_source", [](int index) {
    const char* words = runtime(index).memory_source(index);
    return std::string(words ? words : "");
  });
  m.def("record_stream", record_stream);
  m.def("has_provider", [] { return find_cuda().table != nullptr; });
  m.def("current_device", [] { return (cuda_backend(), current_cuda_device()); });
  m.def("set_device", set_current_cuda_device);
  m.def("properties", properties);
  m.def("memory_info", [](int index) {
    std::int64_t free = 0, total = 0;
    runtime(index).memory_info(index, &free, &total);
    return py::make_tuple(free, total);
  });
  m.def("memory_stats", memory_stats);
  m.def("reset_memory_stats",
        [](int index, bool peaks) { runtime(index).reset_memory_stats(index, peaks); });
  m.def("memory_limit", [](int index) {
    MemoryStats stats;
    runtime(index).memory_stats(index, &stats);
    return stats.limit;
  });
  m.def("limit_memory",
        [](int index, std::int64_t bytes) { runtime(index).limit_memory(index, bytes); });
  m.def("empty_cache", [] { cuda_backend().runtime->empty_cache(); });
  m.def("can_access_peer",
        [](int from, int to) { return runtime(from).can_access_peer(from, to); });
  m.def("synchronize", [](int index) {
    runtime(index);
    const GilReleased unlocked;
    cuda_backend().synchronize(index);
  });
  m.def("new_stream",
        [](int index, int priority) { return runtime(index).new_stream(index, priority); });
  m.def("current_stream", [](int index) { return (runtime(index), current_stream(index)); });
  m.def("set_stream", set_current_stream);
  m.def("stream_done", [](int index, StreamId s) { return runtime(index).stream_done(index, s); });
  m.def("stream_synchronize", [](int index, StreamId s) {
    const DeviceRuntime& r = runtime(index);
    const GilReleased unlocked;
    r.stream_synchronize(index, s);
  });
  py::class_<Event>(m, "Event")
      .def(py::init<int, bool>())
      .def("record", &Event::record)
      .def("done", &Event::done)
      .def("synchronize", &Event::synchronize)
      .def("wait", &Event::wait)
      .def("elapsed", &Event::elapsed);
  bind_virtual(m);
}

}  // namespace rushlight::python
