// What turns Python data into tensors (data.cpp).
#pragma once
#include <optional>

#include "bindings/tensor/python_tensor.h"

namespace rushlight::python {

// Numbers, nested sequences, arrays. `copy` false: an array's memory is shared.
Tensor data_of(PyObject* data, std::optional<DType> dtype, bool copy);
pybind11::object python_number(const Tensor& t, std::int64_t offset);  // the element there
bool is_true(const Tensor& t);  // of the one element
// Whether it is a storage, and its memory as elements of a type, shared.
bool is_storage(PyObject* o);
Tensor elements_of_storage(PyObject* o, std::optional<DType> dtype);
bool is_array(PyObject* o);  // has the buffer protocol of numbers: numpy.ndarray and its like
Tensor from_array(PyObject* o, bool copy);

}  // namespace rushlight::python
