// The engine of process groups, for python/rushlight/distributed/_gloo.py: submit() gets tensors
// and checks that the engine stays inside them.
#include <array>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <signal.h>
#include <sys/prctl.h>

#include "bindings/distributed.h"
#include "bindings/gil.h"
#include "bindings/tensor/python_tensor.h"
#include "core/cuda.h"
#include "devices/virtual_machine.h"
#include "distributed/gloo.h"
#include "distributed/nccl.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using namespace rushlight::distributed;
using Call = GlooCall::Call;

constexpr std::array kCalls = {"all_reduce", "reduce",  "all_gather", "all_to_all", "broadcast",
                               "gather",     "scatter", "send",       "receive",    "barrier"};
constexpr std::array<std::size_t, 9> kItemSizes = {1, 1, 4, 4, 8, 8, 2, 4, 8};  // of GlooDataType

// gloo::Context* of the module's Python object, by pybind11's own door between modules. The word
// for the ABI is that of the module, not ours.
void* context_pointer(const py::object& context) {
  if (!py::hasattr(context, "_pybind11_conduit_v1_"))
    fail<RuntimeError>(
        "this xoscar is too old, rushlight needs 0.11 or later: pip install -U xoscar");
  const py::capsule type(context_typeid(), "St9type_info");
  for (const char* start : {"_system", "system"})
    for (const char* end : {"0", "1"}) {
      const std::string abi = std::string(start) + "_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_" + end;
      const py::object found = context.attr("_pybind11_conduit_v1_")(
          py::bytes(abi), type, py::bytes("raw_pointer_ephemeral"));
      if (!found.is_none()) return PyCapsule_GetPointer(found.ptr(), "N4gloo7ContextE");
    }
  fail<RuntimeError>("xoscar's module of Gloo does not give its context away");
}

// The memory of a tensor, which must hold so many bytes. That of virtual GPUs is the host's.
void* memory(py::handle o, std::size_t bytes) {
  const Tensor* t = as_tensor(o.ptr());
  const bool on_host = t && (t->device().is_cpu() || (t->device().is_cuda() && active_number()));
  if (!on_host || !t->is_contiguous())
    fail<ValueError>("submit(): a contiguous tensor on the CPU is needed");
  const View v = view_of(*t);
  if (std::size_t(v.numel) * item_size(v.dtype) < bytes)
    fail<ValueError>("submit(): a tensor of ", bytes, " bytes is needed");
  return v.data;
}

std::shared_ptr<Work> submit(Gloo& engine, const std::string& name, py::handle in, py::handle out,
                             std::size_t count, int kind, int reduction, int peer, int size,
                             std::uint32_t tag) {
  const auto at = std::find(kCalls.begin(), kCalls.end(), name);
  if (at == kCalls.end()) fail<ValueError>("submit(): no call ", name);
  if (kind < 0 || kind >= int(kItemSizes.size()) || reduction < 0 || reduction > 3 || size < 1 ||
      peer < 0 || peer >= size)
    fail<ValueError>("submit(): kind, reduction, peer or size are out of range");
  GlooCall o{.call = Call(at - kCalls.begin()),
             .count = count,
             .item_size = kItemSizes[std::size_t(kind)],
             .kind = kind,
             .reduction = reduction,
             .peer = peer,
             .size = size,
             .tag = tag};
  std::size_t one = 0, all = 0;
  if (__builtin_mul_overflow(count, o.item_size, &one) ||
      __builtin_mul_overflow(one, std::size_t(size), &all))
    fail<ValueError>("submit(): count is out of range");
  const bool parts_in = o.call == Call::scatter || o.call == Call::all_to_all;
  const bool parts_out =
      o.call == Call::gather || o.call == Call::all_to_all || o.call == Call::all_gather;
  if (!in.is_none()) o.in = memory(in, parts_in ? all : one);
  if (!out.is_none()) o.out = memory(out, parts_out ? all : one);
  const bool lacks_in = o.call == Call::scatter || o.call == Call::receive || count == 0;
  const bool lacks_out = o.call == Call::gather || o.call == Call::send || count == 0;
  if (o.call != Call::barrier && ((!o.in && !lacks_in) || (!o.out && !lacks_out)))
    fail<ValueError>("submit(): a tensor is missing");
  const GilReleased free;
  return engine.submit(o);
}

// A call of NCCL; counts are of elements of the tensors' dtype.
std::shared_ptr<Nccl::Part> submit_nccl(Nccl& engine, const std::string& name, py::handle in,
                                        py::handle out, std::size_t count, int reduction, int peer,
                                        int size, bool blocks) {
  using What = MemberCall::What;
  const bool scatters = name == "reduce_scatter";  // which Gloo has not
  const auto at = std::find(kCalls.begin(), kCalls.end() - 1, name);
  if (at == kCalls.end() - 1 && !scatters) fail<ValueError>("submit(): no call ", name);
  if (reduction < 0 || reduction > 3 || size < 1 || peer < 0 || peer >= size)
    fail<ValueError>("submit(): reduction, peer or size are out of range");
  MemberCall c{.what = scatters ? What::reduce_scatter : What(at - kCalls.begin()),
               .in = nullptr,
               .out = nullptr,
               .count = count,
               .dtype = DType::uint8,
               .reduction = MemberCall::Reduction(reduction),
               .peer = peer};
  const auto take = [&](py::handle o, bool parts) -> void* {
    if (o.is_none()) return nullptr;
    const Tensor* t = as_tensor(o.ptr());
    std::size_t needed = 0;
    if (!t || !t->device().is_cuda() || !t->is_contiguous())
      fail<ValueError>("submit(): a contiguous tensor on a GPU is needed");
    const View v = view_of(*t);
    if (__builtin_mul_overflow(count, parts ? std::size_t(size) : 1, &needed) ||
        std::size_t(v.numel) < needed)
      fail<ValueError>("submit(): a tensor of ", needed, " elements is needed");
    c.dtype = v.dtype;
    return v.data;
  };
  c.in = take(in, scatters || c.what == What::scatter || c.what == What::all_to_all);
  c.out =
      take(out, c.what == What::gather || c.what == What::all_to_all || c.what == What::all_gather);
  const bool lacks_in = c.what == What::scatter || c.what == What::receive;
  const bool lacks_out = c.what == What::gather || c.what == What::send;
  if ((!c.in && !lacks_in) || (!c.out && !lacks_out) || count == 0)
    fail<ValueError>("submit(): a tensor is missing, or empty");
  const GilReleased free;
  return engine.submit(c, blocks);
}

void bind_nccl(py::module_& m) {
  using Free = py::call_guard<GilReleased>;
  py::class_<Nccl::Part, std::shared_ptr<Nccl::Part>>(m, "_NcclWork", "Calls of NCCL.")
      .def(
          "wait", [](Nccl::Part& p, double) { return (p.wait(), true); }, py::arg("seconds"),
          Free(), "Has the current stream wait for them.")
      .def("is_done", &Nccl::Part::is_done, Free(), "Whether they have ended.")
      .def("error", &Nccl::Part::error, Free(), "What went wrong, or nothing.");
  py::class_<Nccl, std::shared_ptr<Nccl>>(m, "_Nccl", "NCCL for one process group and GPU.")
      .def(py::init([](int device, const py::bytes& id, int rank, int size, double seconds) {
             const std::string given = id;
             const GilReleased free;
             return std::make_shared<Nccl>(device, given, rank, size,
                                           Milliseconds(std::int64_t(seconds * 1000)));
           }),
           py::arg("device"), py::arg("id"), py::arg("rank"), py::arg("size"), py::arg("seconds"))
      .def("submit", &submit_nccl, py::arg("call"), py::arg("input"), py::arg("output"),
           py::arg("count"), py::arg("reduction"), py::arg("peer"), py::arg("size"),
           py::arg("blocks"), "Starts a call.")
      .def("begin", &Nccl::begin, "The calls from here to end() are one piece of work.")
      .def("end", &Nccl::end, Free(), "Starts them.")
      .def("abort", &Nccl::abort, py::arg("reason"), Free(), "Ends all that is under way.")
      .def("broken", &Nccl::broken, Free(), "Why it failed, or nothing.")
      .def("close", &Nccl::close, Free(), "Leaves the group.");
  m.def(
      "_new_nccl_id",
      [] {
        std::string id;
        {
          const GilReleased free;
          id = Nccl::new_id();
        }
        return py::bytes(id);
      },
      "What one rank makes, and all make their _Nccl with.");
}

}  // namespace

void bind_engine(py::module_& m) {
  using Free = py::call_guard<GilReleased>;
  bind_nccl(m);
  py::class_<Work, std::shared_ptr<Work>>(m, "_Work", "One call of the engine.")
      .def(
          "wait",
          [](Work& w, double seconds) {
            return w.wait(Milliseconds(std::int64_t(std::clamp(seconds, 0.0, 1e9) * 1000)));
          },
          py::arg("seconds"), Free(), "Whether it has ended within so many seconds.")
      .def("is_done", &Work::is_done, "Whether it has ended.")
      .def("error", &Work::error, "What went wrong, or nothing.");
  py::class_<Gloo, std::shared_ptr<Gloo>>(m, "_Gloo", "The engine of one process group.")
      .def(py::init([](const std::string& path, const py::object& context, const Sockets& before) {
             load_gloo(path);
             return std::make_shared<Gloo>(context_pointer(context), before);
           }),
           py::arg("path"), py::arg("context"), py::arg("before"))
      .def("submit", &submit, py::arg("call"), py::arg("input"), py::arg("output"),
           py::arg("count"), py::arg("kind"), py::arg("reduction"), py::arg("peer"),
           py::arg("size"), py::arg("tag"), "Starts a call.")
      .def("abort", &Gloo::abort, py::arg("reason"), Free(), "Ends all that is under way.")
      .def(
          "overdue",
          [](Gloo& g, double seconds) {
            return g.overdue(Milliseconds(std::int64_t(seconds * 1000)));
          },
          py::arg("seconds"), "Whether a collective has run for longer.")
      .def("broken", &Gloo::broken, Free(), "Why it failed, or nothing.")
      .def(
          "close",
          [](Gloo& g, double seconds) {
            return g.close(Milliseconds(std::int64_t(seconds * 1000)));
          },
          py::arg("seconds"), Free(), "Whether all its threads have ended within so many seconds.");
  m.def(
      "_end_with_parent", [] { prctl(PR_SET_PDEATHSIG, SIGKILL); },
      "Has the system end this process when the thread that started it ends.");
  m.def("_keep_for_ever", [](const py::object& o) { o.inc_ref(); }, "Never frees an object.");
  m.def(
      "_gpus_are_virtual", [] { return cuda_device_count() > 0 && active_number() != 0; },
      "Whether the GPUs of this process are virtual ones; CUDA is not initialized by the "
      "question.");
  m.def("_open_connections", &open_connections, "The TCP connections of this process.");
}

}  // namespace rushlight::python
