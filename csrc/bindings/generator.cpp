// torch.Generator and the seeds of the default generators.
#include "bindings/generator.h"

#include <pybind11/pybind11.h>

#include "core/backend.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

// Any int of 64 bits, signed or not; a float is cut off, as int() does.
std::uint64_t read_seed(py::handle given) {
  const py::object seed = py::reinterpret_steal<py::object>(PyNumber_Long(given.ptr()));
  if (!seed) throw py::error_already_set();
  const unsigned long long value = PyLong_AsUnsignedLongLong(seed.ptr());
  if (!PyErr_Occurred()) return value;
  PyErr_Clear();
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(seed.ptr(), &overflow);
  if (overflow)
    fail<ValueError>(
        "Overflow when unpacking long long\nmanual_seed(): a seed has 64 bits, from "
        "-2**63 to 2**64 - 1");
  return static_cast<std::uint64_t>(number);
}

Ref<Generator> make(py::handle device) {
  Device d = kCpu;
  if (!device.is_none() && !Argument<Device>::read(device.ptr(), d)) {
    if (PyErr_Occurred()) throw py::error_already_set();
    fail<TypeError>("Generator(): argument 'device' must be torch.device, not ",
                    Py_TYPE(device.ptr())->tp_name);
  }
  if (!d.is_cpu() && !d.is_cuda())
    fail<RuntimeError>("Device type ", device_type_name(d.type),
                       " is not supported for torch.Generator() api.");
  return Ref<Generator>::adopt(new Generator(resolve(d)));
}

py::object device_object(const Generator& g) {
  return py::reinterpret_steal<py::object>(to_python(g.device));
}

Ref<Generator> copy_of(Generator& g) {
  auto made = Ref<Generator>::adopt(new Generator(g.device));
  const GeneratorLock lock(g);
  made->state = g.state;
  return made;
}

// torch's own form: the type, its arguments, and (seed, None, state) for __setstate__.
py::tuple reduced(py::object self) {
  auto& g = py::cast<Generator&>(self);
  return py::make_tuple(py::type::of(self), py::make_tuple(device_object(g)),
                        py::make_tuple(g.initial_seed(), py::none(), g.get_state()));
}

void set_reduced(Generator& g, const py::tuple& state) {
  if (state.size() != 3)
    fail<RuntimeError>(
        "Generator.__setstate__(): expected (seed, None, state), but got a tuple of ", state.size(),
        "\nmake the state with Generator.__reduce__()");
  g.manual_seed(read_seed(state[0]));
  g.set_state(py::cast<Tensor>(state[2]));
}

}  // namespace

bool Argument<Ref<Generator>>::read(PyObject* o, Ref<Generator>& s) {
  if (o == Py_None) return true;
  if (!py::isinstance<Generator>(o)) return false;
  s = Ref<Generator>::share(py::cast<Generator*>(py::handle(o)));
  return true;
}

void bind_generator(py::module_& m) {
  py::class_<Generator, Ref<Generator>> type(m, "Generator", R"(A stream of random numbers.

    >>> g = torch.Generator().manual_seed(7)
    >>> torch.rand(1, generator=g).equal(torch.rand(1, generator=torch.Generator().manual_seed(7)))
    True
)");
  type.def(py::init(&make), py::arg("device") = py::none())
      .def_property_readonly("device", &device_object)
      .def(
          "manual_seed",
          [](py::object self, py::handle seed) {
            py::cast<Generator&>(self).manual_seed(read_seed(seed));
            return self;
          },
          py::arg("seed"), "Starts the stream that belongs to seed; returns the generator.")
      .def("seed", &Generator::seed, "Seeds from the operating system's entropy; returns the seed.")
      .def("initial_seed", &Generator::initial_seed, "The seed the stream started from.")
      .def("get_state", &Generator::get_state, "Where the stream is, as a uint8 tensor.")
      .def(
          "set_state",
          [](py::object self, const Tensor& state) {
            py::cast<Generator&>(self).set_state(state);
            return self;
          },
          py::arg("new_state"), "Continues where get_state() was called.")
      .def(
          "graphsafe_get_state",
          [](Generator&) -> py::object {
            fail<NotImplementedError>(
                "graphsafe_get_state is not supported in this Generator\n"
                "it is for CUDA graphs; get_state() gives where the stream is");
          },
          "Not supported: it is for CUDA graphs.")
      .def(
          "graphsafe_set_state",
          [](Generator&, Generator&) -> py::object {
            fail<NotImplementedError>(
                "graphsafe_set_state is not supported in this Generator\n"
                "it is for CUDA graphs; set_state() continues a stream");
          },
          py::arg("state"), "Not supported: it is for CUDA graphs.")
      .def("__reduce__", &reduced)  // of copy and pickle
      .def("clone_state", &copy_of, "A generator of its own in the same state.");
  // Under its own name pybind11 takes it as a constructor, which it calls once only.
  type.attr("__setstate__") =
      py::cpp_function(&set_reduced, py::name("_setstate"), py::is_method(type));
  type.attr("__module__") = "rushlight._C";

  auto cpu = Ref<Generator>::share(&default_generator(kCpu));
  m.attr("default_generator") = py::cast(cpu);
  m.def(
      "_manual_seed",
      [](py::handle seed) {
        manual_seed_all(read_seed(seed));
        return Ref<Generator>::share(&default_generator(kCpu));
      },
      "Seeds the generators of all devices; returns the CPU's.");
  m.def(
      "_manual_seed_cuda", [](py::handle seed) { manual_seed_cuda(read_seed(seed)); },
      "Seeds the generators of all GPUs.");
  m.def(
      "_default_generator_of",
      [](py::handle device) {
        Device d;
        if (!Argument<Device>::read(device.ptr(), d)) {
          if (PyErr_Occurred()) throw py::error_already_set();
          fail<TypeError>("expected a device");
        }
        return Ref<Generator>::share(&default_generator(d));
      },
      "The generator that a device draws from unless told otherwise.");
}

}  // namespace rushlight::python
