// The families that make up the module, one bind function each, in a file of its name.
#pragma once
#include "bindings/tensor/python_tensor.h"

namespace rushlight::python {

void bind_types(pybind11::module_& m);       // dtype, Size, layout
void bind_device(pybind11::module_& m);      // called by bind_types
void bind_errors(pybind11::module_& m);      // exceptions, interpreter hooks
void bind_creation(pybind11::module_& m);
void bind_ranges(pybind11::module_& m);
void bind_from_data(pybind11::module_& m);
void bind_copy(pybind11::module_& m);        // to, clone, item, tolist, ...
void bind_view(pybind11::module_& m);
void bind_index(pybind11::module_& m);    // gather, scatter, index_put and their relatives
void bind_triangular(pybind11::module_& m);
void bind_diagonal(pybind11::module_& m);
void bind_equal(pybind11::module_& m);  // equal, isclose, allclose
void bind_join(pybind11::module_& m);   // cat and its relatives
void bind_repeat(pybind11::module_& m);
void bind_split(pybind11::module_& m);
void bind_flip(pybind11::module_& m);        // flip, roll, rot90
void bind_broadcast(pybind11::module_& m);  // broadcast_tensors, atleast_1d
void bind_grid(pybind11::module_& m);        // meshgrid, combinations, block_diag
void bind_samples(pybind11::module_& m);     // trapezoid, gradient, diff
void bind_slice_scatter(pybind11::module_& m);
void bind_distance(pybind11::module_& m);    // cdist, pdist
void bind_matmul(pybind11::module_& m);
void bind_conv(pybind11::module_& m);
void bind_pool(pybind11::module_& m);
void bind_norm(pybind11::module_& m);
void bind_softmax(pybind11::module_& m);
void bind_embedding(pybind11::module_& m);
void bind_sparse(pybind11::module_& m);
void bind_attention(pybind11::module_& functional);  // called by bind_functional
void bind_functional(pybind11::module_& core);  // what torch.nn.functional has of its own
void bind_pointwise(pybind11::module_& m);
void bind_pointwise_variants(pybind11::module_& m);  // called by bind_pointwise
void bind_complex(pybind11::module_& m);
void bind_random(pybind11::module_& m);   // generators, random tensors
void bind_dropout(pybind11::module_& m);
void bind_reduce(pybind11::module_& m);   // sums, extremes, moments, norms
void bind_return_types(pybind11::module_& m);
void bind_table(pybind11::module_& m);      // what the table says of itself
void bind_operation(pybind11::module_& m);  // operations written in Python
void bind_missing_names(pybind11::module_& m);
void bind_scan(pybind11::module_& m);     // running reductions
void bind_fft(pybind11::module_& m);      // torch.fft
void bind_sort(pybind11::module_& m);     // orders, quantiles, distinct values
void bind_histogram(pybind11::module_& m);
void bind_search(pybind11::module_& m);  // searchsorted, isin
void bind_autograd(pybind11::module_& m);    // backward, grad, hooks
void bind_function(pybind11::module_& m);    // autograd.Function
void bind_graph(pybind11::module_& m);       // autograd.graph
void bind_profile(pybind11::module_& m);
void bind_overrides(pybind11::module_& m);
void bind_anomaly(pybind11::module_& m);     // detect_anomaly
void bind_autocast(pybind11::module_& m);
void bind_numpy(pybind11::module_& m);
void bind_image(pybind11::module_& m);   // pixels of image libraries
void bind_dlpack(pybind11::module_& m);
void bind_storage(pybind11::module_& m);  // what copying and saving need of storages
void bind_optim(pybind11::module_& m);      // steps over lists of parameters
void bind_ctc(pybind11::module_& core);
void bind_recurrent(pybind11::module_& m);  // RNN, LSTM, GRU and their cells
void bind_pad(pybind11::module_& m);
void bind_cuda(pybind11::module_& m);     // devices, memory, streams, virtual GPUs
void bind_parallel(pybind11::module_& m);
void bind_distributed(pybind11::module_& core);  // stores of torch.distributed
void bind_info(pybind11::module_& m);
void bind_module_call(pybind11::module_& m);  // the base type of nn.Module
void bind_stack(pybind11::module_& m);
void guard_classes(const pybind11::module_& m);  // when all is bound

}  // namespace rushlight::python
