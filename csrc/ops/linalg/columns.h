// What the files of the linalg family share: dense column-major copies for the kernels, and the
// words of gradients.
#pragma once
#include "core/backend.h"
#include "core/unlocked.h"
#include "kernels/linalg.h"
#include "ops/linalg/linalg.h"
#include "ops/linalg/matmul.h"

namespace rushlight {

// The batch of `of` with these last sizes.
Shape with_last(const Tensor& of, std::initializer_list<std::int64_t> sizes);
// Unset matrices (batch of `of`, m, n) whose columns are dense.
Tensor empty_columns(const Tensor& of, std::int64_t m, std::int64_t n);
Tensor columns_of(const Tensor& a);  // a copy of a, laid out so
// What a kernel gets: the batch in one dimension.
View batch_of_matrices(const Tensor& t);
View batch_of_rows(const Tensor& t);  // of a contiguous tensor
View batch_of_numbers(const Tensor& t);
Pair broadcast_batches(const Tensor& a, const Tensor& b);  // both with the same batch
inline Tensor adjoint(const Tensor& t) { return transposed(conj(t)); }
inline DType real_dtype(const Tensor& t) {
  return is_complex(t.dtype()) ? real_of(t.dtype()) : t.dtype();
}
// Complex vectors may each be turned by a number of size 1; a function of them that changes then
// has no gradient. `along`: by how much it changes, as its imaginary part.
void check_turns(std::string_view words, const Tensor& along);
const LinalgKernels& linalg_kernels(Name name, const Tensor& a);
double linalg_work(const Tensor& a);  // nanoseconds, roughly

// A GPU without cuSOLVER and cuBLAS leaves factorisations to the host, and any GPU those of complex
// matrices: the op runs there on copies, and what it gives goes back, history and all.
bool is_left_to_host(const Tensor& a);
inline Tensor on_host(const Tensor& t) { return to(t, kCpu); }
inline Tensor back(const Tensor& t, Device device) { return t ? to(t, device) : t; }
template <class... T>
std::tuple<T...> back(const std::tuple<T...>& results, Device device) {
  return std::apply([&](const T&... t) { return std::tuple(back(t, device)...); }, results);
}

}  // namespace rushlight
