// Operations written in Python: `op` of python/rushlight/_table.py makes a row of the table of an
// annotated function, and calls of it are parsed as those of operations in C++ are.
//
// Note: a method is on Tensor before the module that defines it is imported
// (_declare_methods); the first use imports it. A row lives as long as the process.
#pragma once
#include "signature.h"

namespace rushlight::python {

// What an annotation allows. The conversions are those of arguments.h; an int or a float that was
// given as another type (a NumPy number, a 0-d tensor) reaches the function as Python's own.
enum class Kind : unsigned char {
  anything,
  tensor,
  number,
  integer,
  real,
  boolean,
  truth,  // the truth of any object
  string,
  integers,  // a tuple of ints; one int is taken as a tuple of it
  int_tuple,  // a tuple of ints, from nothing but a list or tuple
  dtype,
  device,
  tensors,  // a tuple of tensors
};

inline constexpr std::size_t kMaxArguments = 32;

struct Composition {
  Signature signature;
  std::vector<std::vector<Kind>> kinds;  // per parameter, out= excepted
  std::vector<bool> optional;  // None is taken too
  std::string doc, module;
  pybind11::object function, keyword_names;

  // A call with the values of bind(); `rest` are the extra positionals of a *name.
  PyObject* call(PyObject** values, std::pair<PyObject* const*, Py_ssize_t> rest,
                 bool is_method) const;

 private:
  PyObject* compute(PyObject* const* values, std::pair<PyObject* const*, Py_ssize_t> rest,
                    bool is_method) const;
};

}  // namespace rushlight::python
