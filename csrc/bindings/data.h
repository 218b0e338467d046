// What turns Python data into tensors (data.cpp).
#pragma once
#include <optional>

#include "bindings/tensor/python_tensor.h"

namespace rushlight::python {

// Numbers, nested sequences, arrays. `copy` false: an array's memory is shared.
Tensor data_of(PyObject* data, std::optional<DType> dtype, bool copy);
pybind11::object python_number(const Tensor& t, std::int64_t offset);  // the element there
bool is_true(const Tensor& t);  // of the one element
// A complex number of Python's or NumPy's, and what stands for it among operands: a 0-d tensor that
// promotes as a number. A new reference, or null with an error in flight.
bool is_complex_number(PyObject* o);
PyObject* complex_as_tensor(PyObject* o);
// Whether it is a storage, and its memory as elements of a type, shared.
bool is_storage(PyObject* o);
Tensor elements_of_storage(PyObject* o, std::optional<DType> dtype);
bool is_array(PyObject* o);  // has the buffer protocol of numbers: numpy.ndarray and its like
Tensor from_array(PyObject* o, bool copy);

}  // namespace rushlight::python
