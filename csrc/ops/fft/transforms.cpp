// torch.fft: which dimensions of what length a call means, its factor, and the dtype.
#include <algorithm>
#include <cmath>

#include "ops/fft/fft.h"

namespace rushlight {
namespace {

void check_length(std::int64_t n) {
  if (n < 1)
    fail<RuntimeError>("Invalid number of data points (", n, ") specified\n",
                       "a transform has a length of at least 1: give it n, or s");
}

// As float32, float64, or complex numbers of them.
Tensor promoted(const Tensor& input, bool complex) {
  const DType given = input.dtype();
  const DType dtype = is_integral(given) ? default_dtype() : given;
  const DType parts = real_of(dtype);
  if (parts != DType::float32 && parts != DType::float64)
    fail<RuntimeError>("Unsupported dtype ", scalar_name(dtype), "\n",
                       "transforms are of float32, float64, and complex numbers of them: "
                       "convert it, for example with .float()");
  return to(input, complex ? complex_of(dtype) : dtype);
}

void check_real(const char* op, const char* words, const Tensor& input) {
  if (is_complex(input.dtype()))
    fail<RuntimeError>(op, " expects a real", words, " input tensor, but got ",
                       scalar_name(input.dtype()), "\nfft() and its like take complex numbers");
}

int checked_dim(std::int64_t dim, int rank) {
  if (rank == 0) fail<IndexError>("Dimension specified as ", dim, " but tensor has no dimensions");
  return wrap_dim(dim, rank);
}

// The factor of a transform of `count` values in all.
double factor(OptionalText norm, double count, bool inverse) {
  if (!norm || *norm == "backward") return inverse ? 1 / count : 1;
  if (*norm == "forward") return inverse ? 1 : 1 / count;
  if (*norm == "ortho") return 1 / std::sqrt(count);
  fail<RuntimeError>("Invalid normalization mode: \"", *norm,
                     "\"\nnorm is \"forward\", \"backward\" or \"ortho\"");
}

FftPlan planned(const Shape& dims, const Shape& n, OptionalText norm, bool inverse) {
  double count = 1;
  for (const std::int64_t each : n) count *= double(each);
  return {dims, n, inverse, factor(norm, count, inverse), false};
}

// No more of a dimension than is transformed.
Tensor shortened(Tensor x, std::int64_t dim, std::int64_t n) {
  return x.size(dim) > n ? narrow(x, dim, 0, n) : x;
}

// ---- one dimension
Tensor complex_one(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm,
                   bool inverse) {
  const Tensor x = promoted(input, false);
  const int at = checked_dim(dim, x.dim());
  const std::int64_t length = n.value_or(x.size(at));
  check_length(length);
  const FftPlan plan = planned({at}, {length}, norm, inverse);
  return fft_complex(shortened(x, at, length), plan);
}
Tensor half_one(const char* op, const Tensor& input, OptionalSize n, std::int64_t dim,
                OptionalText norm, bool inverse) {
  check_real(op, "", input);
  const Tensor x = promoted(input, false);
  const int at = checked_dim(dim, x.dim());
  const std::int64_t length = n.value_or(x.size(at));
  check_length(length);
  const FftPlan plan = planned({at}, {length}, norm, inverse);
  return fft_to_half(shortened(x, at, length), plan);
}
Tensor real_one(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm,
                bool inverse) {
  const Tensor x = promoted(input, true);
  const int at = checked_dim(dim, x.dim());
  const std::int64_t length = n.value_or(2 * (x.size(at) - 1));
  check_length(length);
  const FftPlan plan = planned({at}, {length}, norm, inverse);
  return fft_from_half(shortened(x, at, length / 2 + 1), plan);
}

// ---- several
struct Several {
  Shape dims, n;
};
Several several(const Tensor& x, const OptionalSizes& s, const OptionalSizes& dim) {
  Several found;
  const int rank = x.dim();
  unsigned seen = 0;
  if (dim)
    for (const std::int64_t d : *dim) {
      found.dims.push_back(checked_dim(d, rank));
      seen |= 1u << found.dims[found.dims.rank - 1];
    }
  if (dim && __builtin_popcount(seen) != dim->rank)
    fail<RuntimeError>("FFT dims must be unique\ndim=", *dim, " of a tensor of ", rank,
                       " dimensions");
  if (s && dim && s->rank != dim->rank)
    fail<RuntimeError>("When given, dim and shape arguments must have the same length\n", "s=", *s,
                       ", dim=", *dim);
  if (s && s->rank > rank)
    fail<RuntimeError>("Got shape with ", int(s->rank), " values but input tensor only has ", rank,
                       " dimensions.");
  const int count = s ? s->rank : rank;
  for (int i = 0; !dim && i < count; ++i) found.dims.push_back(rank - count + i);
  for (int i = 0; i < found.dims.rank; ++i) {
    const std::int64_t size = x.size(found.dims[i]);
    found.n.push_back(s && (*s)[i] != -1 ? (*s)[i] : size);
    check_length(found.n[i]);
  }
  return found;
}
void check_some(const char* op, const Several& of) {
  if (of.dims.rank == 0) fail<RuntimeError>(op, " must transform at least one axis");
}
Tensor shortened(Tensor x, const Several& of) {
  for (int i = 0; i < of.dims.rank; ++i) x = shortened(x, of.dims[i], of.n[i]);
  return x;
}

Tensor complex_several(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                       OptionalText norm, bool inverse) {
  const Several of = several(input, s, dim);
  const Tensor x = shortened(promoted(input, false), of);
  return fft_complex(x, planned(of.dims, of.n, norm, inverse));
}
Tensor half_several(const char* op, const Tensor& input, const OptionalSizes& s,
                    const OptionalSizes& dim, OptionalText norm, bool inverse) {
  const Several of = several(input, s, dim);
  check_some(op, of);
  const Tensor x = shortened(promoted(input, false), of);
  return fft_to_half(x, planned(of.dims, of.n, norm, inverse));
}
Tensor real_several(const char* op, const Tensor& input, const OptionalSizes& s,
                    const OptionalSizes& dim, OptionalText norm, bool inverse) {
  Several of = several(input, s, dim);
  check_some(op, of);
  const int last = of.dims.rank - 1;
  Several read = of;  // what there is of the input
  std::int64_t& n = of.n[last];
  if (!s || (*s)[last] == -1) n = 2 * (input.size(of.dims[last]) - 1);
  check_length(n);
  read.n[last] = n / 2 + 1;
  const Tensor x = shortened(promoted(input, true), read);
  return fft_from_half(x, planned(of.dims, of.n, norm, inverse));
}

}  // namespace

Tensor fft_fft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm) {
  return complex_one(input, n, dim, norm, false);
}
Tensor fft_ifft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm) {
  return complex_one(input, n, dim, norm, true);
}
Tensor fft_rfft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm) {
  return half_one("rfft", input, n, dim, norm, false);
}
Tensor fft_irfft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm) {
  return real_one(input, n, dim, norm, true);
}
Tensor fft_hfft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm) {
  return real_one(input, n, dim, norm, false);
}
Tensor fft_ihfft(const Tensor& input, OptionalSize n, std::int64_t dim, OptionalText norm) {
  return half_one("ihfft", input, n, dim, norm, true);
}

Tensor fft_fftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                OptionalText norm) {
  return complex_several(input, s, dim, norm, false);
}
Tensor fft_ifftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                 OptionalText norm) {
  return complex_several(input, s, dim, norm, true);
}
Tensor fft_rfftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                 OptionalText norm) {
  check_real("rfftn", "-valued", input);
  return half_several("rfftn", input, s, dim, norm, false);
}
Tensor fft_irfftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                  OptionalText norm) {
  return real_several("irfftn", input, s, dim, norm, true);
}
Tensor fft_hfftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                 OptionalText norm) {
  return real_several("hfftn", input, s, dim, norm, false);
}
Tensor fft_ihfftn(const Tensor& input, const OptionalSizes& s, const OptionalSizes& dim,
                  OptionalText norm) {
  if (is_complex(input.dtype()))
    fail<RuntimeError>("Only supports floating-point dtypes, but found: ",
                       scalar_name(input.dtype()));
  return half_several("ihfftn", input, s, dim, norm, true);
}

}  // namespace rushlight
