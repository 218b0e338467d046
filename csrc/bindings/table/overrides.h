// The protocol __torch_function__: a call with an argument whose class has a method of that name is
// dispatched to it. Note: nothing of it is on the path of other calls. Until a program makes a
// tensor of such a class or pushes a mode, arguments are looked at only where a TypeError would be
// made (`refused`); from then on the entry points that a profiler watches look first (`watching`,
// bindings/profile.h).
#pragma once
#include <Python.h>

namespace rushlight::python {

// Whether the entry points look at arguments first.
inline bool overriding = false;
void start_overriding();  // for the rest of the process

// What a class says, found once for each state of a class.
enum class Override : unsigned char {
  none,  // nothing, or that it is disabled
  inherited,  // Tensor's own: results are of its class
  own
};
Override override_of(PyTypeObject* type);
// Whether dispatch to subclasses is disabled now, in this thread.
bool overrides_disabled();

// Whether one of the arguments, or a member of a list of them, takes the call over, or a mode does.
// `only_modes`: functions that read any object as data.
bool is_taken_over(PyObject* self, PyObject* const* args, Py_ssize_t n, bool only_modes = false);
// The result of the class, or of the mode, that takes the call over; null with an error in flight.
// `function` is the public object, borrowed.
PyObject* hand_over(PyObject* function, PyObject* self, PyObject* const* args, Py_ssize_t n,
                    PyObject* keywords, bool only_modes = false);

// A call of an operator's slot or a method of Tensor with a slot, by name.
PyObject* hand_over_method(const char* name, PyObject* const* args, Py_ssize_t n);
// The same for one of several operands: `reflected` is the name where the first is no tensor. Its
// TypeErrors are NotImplemented.
PyObject* hand_over_operator(const char* name, const char* reflected, PyObject* const* args,
                             Py_ssize_t n);

// What the entry point of a row does with an error in flight: where an argument takes the call
// over, the error is dropped and the result of that returned; else null.
PyObject* refused(_PyCFunctionFastWithKeywords entry, PyObject* self, PyObject* const* args,
                  Py_ssize_t n, PyObject* keywords);
// The public object of an entry point; null where there is none.
PyObject* public_object(_PyCFunctionFastWithKeywords entry);

}  // namespace rushlight::python
