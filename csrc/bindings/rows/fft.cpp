// torch.fft.
#include "ops/fft/fft.h"

#include "bindings/module.h"
#include "bindings/table/signature.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

template <Tensor (*of)(const Tensor&, const OptionalSizes&, const OptionalSizes&, OptionalText)>
Tensor two_dims(const Tensor& input, const OptionalSizes& s, const Shape& dim, OptionalText norm) {
  return of(input, s, dim, norm);
}

constexpr Row kRow = stored(As::fft);
constexpr Row kFullRow = stored({.as = As::fft, .autocast = kFullOnCpu});  // as torch lists them

}  // namespace

void bind_fft(py::module_& m) {
  op<&fft_fft>(m, "fft_fft(input, n=None, dim=-1, norm=None, *, out=None)", kFullRow,
               R"(The discrete Fourier transform of a dimension: y_k is the sum of
x_j exp(-2 pi i j k / n) over all j.

Args:
    n: the length; what is beyond it is not read, what is missing counts as 0. None for that of
        the dimension.
    dim: the dimension.
    norm: "backward" (None) for no factor, "forward" for 1 / n, "ortho" for 1 / sqrt(n).

Shape:
    that of input, with n values along dim.

Raises:
    RuntimeError: if n is below 1, or of a dtype that is neither real with 32 or 64 bits nor
        complex with 64 or 128.

>>> torch.fft.fft(torch.tensor([1.0, 2.0, 3.0, 4.0]))
tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j]))");
  op<&fft_ifft>(m, "fft_ifft(input, n=None, dim=-1, norm=None, *, out=None)", kFullRow,
                R"(The inverse of fft(): x_j is the sum of y_k exp(2 pi i j k / n) over all k,
divided by n.

Args:
    n: as of fft().
    dim: the dimension.
    norm: "backward" (None) for the factor 1 / n, "forward" for none, "ortho" for 1 / sqrt(n).

Shape:
    that of input, with n values along dim.

>>> torch.fft.ifft(torch.tensor([10.0, -2 + 2j, -2, -2 - 2j]))
tensor([1.+0.j, 2.+0.j, 3.+0.j, 4.+0.j]))");
  op<&fft_rfft>(m, "fft_rfft(input, n=None, dim=-1, norm=None, *, out=None)", kFullRow,
                R"(The first half of fft() of real numbers: the other is its conjugate, backwards.

Args:
    n: as of fft().
    dim: the dimension.
    norm: as of fft().

Shape:
    that of input, with n // 2 + 1 values along dim.

Raises:
    RuntimeError: for complex numbers.

>>> torch.fft.rfft(torch.tensor([1.0, 2.0, 3.0, 4.0]))
tensor([10.+0.j, -2.+2.j, -2.+0.j]))");
  op<&fft_irfft>(m, "fft_irfft(input, n=None, dim=-1, norm=None, *, out=None)", kFullRow,
                 R"(The inverse of rfft(): real numbers, of the first half of their spectrum.

Args:
    n: how many numbers; None for an even number, 2 (m - 1) of m values.
    dim: the dimension.
    norm: as of ifft().

Shape:
    that of input, with n values along dim.

>>> torch.fft.irfft(torch.tensor([10.0, -2 + 2j, -2]))
tensor([1., 2., 3., 4.]))");
  op<&fft_hfft>(m, "fft_hfft(input, n=None, dim=-1, norm=None, *, out=None)", kFullRow,
                R"(The real spectrum of numbers whose second half is the conjugate of the first,
backwards.

Args:
    n: how many values; None for an even number, 2 (m - 1) of m values.
    dim: the dimension.
    norm: as of fft().

Shape:
    that of input, with n values along dim.

>>> torch.fft.hfft(torch.tensor([1.0, 1j, 0.0]))
tensor([ 1.,  3.,  1., -1.]))");
  op<&fft_ihfft>(m, "fft_ihfft(input, n=None, dim=-1, norm=None, *, out=None)", kFullRow,
                 R"(The inverse of hfft(): the first half of the numbers of a real spectrum.

Args:
    n: as of fft().
    dim: the dimension.
    norm: as of ifft().

Shape:
    that of input, with n // 2 + 1 values along dim.

Raises:
    RuntimeError: for complex numbers.

>>> torch.fft.ihfft(torch.tensor([1.0, 3.0, 1.0, -1.0]))
tensor([1.-0.j, 0.+1.j, 0.-0.j]))");
  op<&fft_fftn>(m, "fft_fftn(input, s=None, dim=None, norm=None, *, out=None)", kFullRow,
                R"(The discrete Fourier transform of several dimensions: fft() of each.

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions; None for all, or for the last ones that s names.
    norm: as of fft(), of the number of values in all.

Shape:
    that of input, with s values along dim.

>>> torch.fft.fftn(torch.ones(2, 2))
tensor([[4.+0.j, 0.+0.j],
        [0.+0.j, 0.+0.j]]))");
  op<&fft_ifftn>(m, "fft_ifftn(input, s=None, dim=None, norm=None, *, out=None)", kFullRow,
                 R"(The inverse of fftn().

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions; None for all, or for the last ones that s names.
    norm: as of ifft(), of the number of values in all.

Shape:
    that of input, with s values along dim.

>>> torch.fft.ifftn(torch.tensor([[4.0, 0.0], [0.0, 0.0]])).real
tensor([[1., 1.],
        [1., 1.]]))");
  op<&fft_rfftn>(m, "fft_rfftn(input, s=None, dim=None, norm=None, *, out=None)", kFullRow,
                 R"(fftn() of real numbers, the first half of the last dimension.

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions; None for all, or for the last ones that s names.
    norm: as of fft(), of the number of values in all.

Shape:
    that of input, with s values along dim, of the last one s[-1] // 2 + 1.

>>> torch.fft.rfftn(torch.ones(2, 3))
tensor([[6.+0.j, 0.+0.j],
        [0.+0.j, 0.+0.j]]))");
  op<&fft_irfftn>(m, "fft_irfftn(input, s=None, dim=None, norm=None, *, out=None)", kFullRow,
                  R"(The inverse of rfftn(): real numbers.

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions; None for all, or for the last ones that s names.
    norm: as of ifft(), of the number of values in all.

Shape:
    that of input, with s values along dim, of the last one 2 (m - 1) of m without s.

>>> torch.fft.irfftn(torch.tensor([[4.0, 0.0], [0.0, 0.0]]))
tensor([[1., 1.],
        [1., 1.]]))");
  op<&fft_hfftn>(m, "fft_hfftn(input, s=None, dim=None, norm=None, *, out=None)", kRow,
                 R"(The real spectrum of numbers whose last dimension is given by its first half,
as of hfft().

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions; None for all, or for the last ones that s names.
    norm: as of fft(), of the number of values in all.

Shape:
    that of input, with s values along dim, of the last one 2 (m - 1) of m without s.

>>> torch.fft.hfftn(torch.ones(1, 2))
tensor([[2., 0.]]))");
  op<&fft_ihfftn>(m, "fft_ihfftn(input, s=None, dim=None, norm=None, *, out=None)", kRow,
                  R"(The inverse of hfftn(): the first half of the last dimension.

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions; None for all, or for the last ones that s names.
    norm: as of ifft(), of the number of values in all.

Shape:
    that of input, with s values along dim, of the last one s[-1] // 2 + 1.

>>> torch.fft.ihfftn(torch.tensor([[2.0, 0.0]]))
tensor([[1.-0.j, 1.-0.j]]))");
  op<&two_dims<&fft_fftn>>(m, "fft_fft2(input, s=None, dim=(-2, -1), norm=None, *, out=None)",
                           kFullRow,
                           R"(fftn() of the last two dimensions.

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions.
    norm: as of fft(), of the number of values in all.

Shape:
    that of input, with s values along dim.

>>> torch.fft.fft2(torch.ones(2, 2))
tensor([[4.+0.j, 0.+0.j],
        [0.+0.j, 0.+0.j]]))");
  op<&two_dims<&fft_ifftn>>(m, "fft_ifft2(input, s=None, dim=(-2, -1), norm=None, *, out=None)",
                            kFullRow,
                            R"(ifftn() of the last two dimensions.

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions.
    norm: as of ifft(), of the number of values in all.

Shape:
    that of input, with s values along dim.

>>> torch.fft.ifft2(torch.tensor([[4.0, 0.0], [0.0, 0.0]])).real
tensor([[1., 1.],
        [1., 1.]]))");
  op<&two_dims<&fft_rfftn>>(m, "fft_rfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None)",
                            kFullRow,
                            R"(rfftn() of the last two dimensions.

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions.
    norm: as of fft(), of the number of values in all.

Shape:
    that of input, with s values along dim, of the last one s[-1] // 2 + 1.

>>> torch.fft.rfft2(torch.ones(2, 3))
tensor([[6.+0.j, 0.+0.j],
        [0.+0.j, 0.+0.j]]))");
  op<&two_dims<&fft_irfftn>>(m, "fft_irfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None)",
                             kFullRow,
                             R"(irfftn() of the last two dimensions.

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions.
    norm: as of ifft(), of the number of values in all.

Shape:
    that of input, with s values along dim, of the last one 2 (m - 1) of m without s.

>>> torch.fft.irfft2(torch.tensor([[4.0, 0.0], [0.0, 0.0]]))
tensor([[1., 1.],
        [1., 1.]]))");
  op<&two_dims<&fft_hfftn>>(m, "fft_hfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None)",
                            kRow,
                            R"(hfftn() of the last two dimensions.

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions.
    norm: as of fft(), of the number of values in all.

Shape:
    that of input, with s values along dim, of the last one 2 (m - 1) of m without s.

>>> torch.fft.hfft2(torch.ones(1, 2))
tensor([[2., 0.]]))");
  op<&two_dims<&fft_ihfftn>>(m, "fft_ihfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None)",
                             kRow,
                             R"(ihfftn() of the last two dimensions.

Args:
    s: how long each is; -1 for the size of the dimension, None for all of them.
    dim: the dimensions.
    norm: as of ifft(), of the number of values in all.

Shape:
    that of input, with s values along dim, of the last one s[-1] // 2 + 1.

>>> torch.fft.ihfft2(torch.tensor([[2.0, 0.0]]))
tensor([[1.-0.j, 1.-0.j]]))");
}

}  // namespace rushlight::python
