// The recording of a profiler, and what turns it on and off.
#include "bindings/profile.h"

#include <algorithm>
#include <chrono>
#include <pybind11/pybind11.h>

#include "autograd/anomaly.h"
#include "bindings/gil.h"
#include "bindings/module.h"
#include "core/cuda.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

struct TraceEvent {
  std::string name;
  std::int64_t start = 0, end = -1;  // nanoseconds
  unsigned long thread = 0;
  std::int64_t bytes = 0, device_bytes = 0, elements = 0;
  int device = -1;  // the GPU that took part
  bool is_node = false, is_mark = false;
  py::object shapes, stack;
};

struct Recording {
  std::uint64_t number;
  bool shapes, memory, device;
  py::object stack;  // a function, or None
  std::vector<TraceEvent> events;
};

// All of this is touched under the interpreter's lock only.
Recording* recording = nullptr;
std::uint64_t recordings = 0;
std::vector<void (*)(bool)>& watched() {
  static auto& list = *new std::vector<void (*)(bool)>;
  return list;
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

py::object shape_of(PyObject* o) {
  if (const Tensor* t = as_tensor(o)) {
    py::list sizes;
    if (*t)
      for (const std::int64_t n : t->sizes()) sizes.append(n);
    return sizes;
  }
  return py::list();
}

// Calls visit(tensor) for an object, or for each member of a list or tuple.
template <class F>
void tensors_in(PyObject* o, const F& visit) {
  if (!o) return;
  if (const Tensor* t = as_tensor(o)) {
    if (*t) visit(*t);
  } else if (PyTuple_Check(o)) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o); ++i)
      if (const Tensor* t = as_tensor(PyTuple_GET_ITEM(o, i)); t && *t) visit(*t);
  } else if (PyList_Check(o)) {
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(o); ++i)
      if (const Tensor* t = as_tensor(PyList_GET_ITEM(o, i)); t && *t) visit(*t);
  }
}

// A backward pass's node, between two calls of the engine's.
struct NodeSpan {
  std::uint64_t number;
  std::size_t event;
};

std::size_t open(std::string name) {
  TraceEvent e;
  e.name = std::move(name);
  e.thread = PyThread_get_thread_ident();
  recording->events.push_back(std::move(e));
  return recording->events.size() - 1;
}
void start(std::size_t event) {
  if (!recording->stack.is_none()) {
    const std::uint64_t number = recording->number;
    py::object lines = recording->stack();
    if (!recording || recording->number != number) return;
    recording->events[event].stack = std::move(lines);
  }
  recording->events[event].start = now();
}

void* begin_node(const Node& node) {
  if (!recording) return nullptr;
  const GilHeld gil;
  auto* span = new NodeSpan{recording->number, open(node.title())};
  recording->events[span->event].is_node = true;
  recording->events[span->event].start = now();
  return span;
}
void end_node(void* span) noexcept {
  if (!span) return;
  const std::unique_ptr<NodeSpan> s(static_cast<NodeSpan*>(span));
  const GilHeld gil;
  if (recording && recording->number == s->number) recording->events[s->event].end = now();
}

void begin(bool shapes, bool memory, bool device, py::object stack) {
  if (recording) fail<RuntimeError>("profiler: another profiler is on in this process");
  recording = new Recording{++recordings, shapes, memory, device, std::move(stack), {}};
  watch(Watcher::profiler, true);
  step_watch = {begin_node, end_node};
  steps_watched = true;
}

py::list finish() {
  if (!recording) fail<RuntimeError>("profiler: none is on");
  const std::unique_ptr<Recording> done(std::exchange(recording, nullptr));
  step_watch = {};
  steps_watched = anomaly.enabled.load();
  watch(Watcher::profiler, false);
  py::list out;
  const std::int64_t last = now();
  for (TraceEvent& e : done->events)
    out.append(py::make_tuple(e.name, e.start, e.end < 0 ? last : e.end, e.thread, e.bytes,
                              e.device_bytes, e.elements, e.device, e.is_node, e.is_mark,
                              e.shapes ? e.shapes : py::object(py::list()),
                              e.stack ? e.stack : py::object(py::list())));
  return out;
}

py::tuple begin_mark(const std::string& name) {
  if (!recording) return py::make_tuple(0, 0);
  const std::uint64_t number = recording->number;
  const std::size_t event = open(name);
  recording->events[event].is_mark = true;
  start(event);
  return py::make_tuple(number, event);
}
void end_mark(std::uint64_t number, std::size_t event) {
  if (recording && recording->number == number && event < recording->events.size())
    recording->events[event].end = now();
}

}  // namespace

void add_watched(void (*put)(bool)) { watched().push_back(put); }

// Tensor and its subclasses, while the slots of all are exchanged.
static std::vector<py::object> tensor_types;

static void find_tensor_types() {
  const py::handle type_type(reinterpret_cast<PyObject*>(&PyType_Type));
  const py::object find = type_type.attr("__subclasses__");
  tensor_types.push_back(
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(tensor_type)));
  for (std::size_t i = 0; i < tensor_types.size(); ++i)
    for (py::handle sub : py::list(find(tensor_types[i])))
      tensor_types.push_back(py::reinterpret_borrow<py::object>(sub));
}

void watch(Watcher which, bool on) {
  static unsigned watchers = 0;
  const unsigned before = watchers;
  watchers = on ? watchers | unsigned(which) : watchers & ~unsigned(which);
  if (!watchers == !before) return;
  find_tensor_types();
  for (auto put : watched()) put(watchers != 0);
  tensor_types.clear();
  watch_entries(watchers != 0);
}

void put_wrapped(void* from, void* to) {
  static const auto& wrappers = *[] {  // those of Tensor, kept for the process
    auto* all = new std::vector<PyWrapperDescrObject*>;
    for (const auto& [name, value] : py::reinterpret_borrow<py::dict>(tensor_type->tp_dict))
      if (Py_IS_TYPE(value.ptr(), &PyWrapperDescr_Type))
        all->push_back(reinterpret_cast<PyWrapperDescrObject*>(Py_NewRef(value.ptr())));
    return all;
  }();
  for (PyWrapperDescrObject* wrapper : wrappers)
    if (wrapper->d_wrapped == from) wrapper->d_wrapped = to;
}

void for_each_tensor_type(void* context, void (*visit)(void*, PyHeapTypeObject&)) {
  for (const py::object& type : tensor_types)
    visit(context, *reinterpret_cast<PyHeapTypeObject*>(type.ptr()));
}

Span::Span(const char* name, PyObject* self, PyObject* const* args, Py_ssize_t n)
    : self_(self), args_(args), n_(n) {
  if (!recording) return;
  try {
    recording_ = recording->number;
    event_ = open(std::string("aten::") + name);
    if (recording->shapes) {
      py::list shapes;
      if (self) shapes.append(shape_of(self));
      for (Py_ssize_t i = 0; i < n; ++i) shapes.append(shape_of(args[i]));
      recording->events[event_].shapes = std::move(shapes);
    }
    start(event_);
  } catch (...) {  // what is measured goes on without being measured
    recording_ = 0;
    PyErr_Clear();
  }
}

PyObject* Span::end(PyObject* result) {
  close(result);
  return result;
}
Span::~Span() { close(nullptr); }

void Span::close(PyObject* result) noexcept {
  if (!recording_ || !recording || recording->number != recording_) return;
  recording_ = 0;
  TraceEvent& e = recording->events[event_];
  const std::int64_t at = now();
  std::vector<const Storage*> given;
  const auto note = [&](const Tensor& t) {
    if (t.device().is_cuda()) e.device = t.device().index;
    given.push_back(t->storage.get());
  };
  tensors_in(self_, note);
  for (Py_ssize_t i = 0; i < n_; ++i) tensors_in(args_[i], note);
  tensors_in(result, [&](const Tensor& t) {
    if (t.device().is_cuda()) e.device = t.device().index;
    e.elements += t.numel();
    const Storage* s = t->storage.get();
    if (std::find(given.begin(), given.end(), s) != given.end()) return;
    given.push_back(s);
    (s->device.is_cuda() ? e.device_bytes : e.bytes) += std::int64_t(s->bytes);
  });
  if (e.device >= 0 && recording->device) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    try {
      cuda_backend().synchronize(e.device);
    } catch (...) {  // the call itself will tell, or the next one
    }
    PyErr_Restore(type, value, trace);
  }
  e.end = e.device >= 0 && recording->device ? now() : at;
}

void bind_profile(py::module_& m) {
  watch_operators();
  watch_indexing();
  m.def("_start_profiler", &begin);
  m.def("_stop_profiler", &finish);
  m.def("_is_profiling", [] { return recording != nullptr; });
  m.def("_begin_mark", &begin_mark);
  m.def("_end_mark", &end_mark);
}

}  // namespace rushlight::python
