// Pooling as torch.nn.functional has it, and the few functions that torch itself has, whose
// signatures differ. Note: max pools return a pair only with return_indices.
#include "ops/pool/pool.h"

#include <algorithm>

#include "bindings/floats.h"
#include "bindings/module.h"
#include "bindings/table/signature.h"
#include "functional.h"

namespace py = pybind11;

namespace rushlight::python {
namespace {

using MaybeShape = std::optional<Shape>;
using Pair = std::tuple<Tensor, Tensor>;
using Maybe = std::optional<Tensor>;

// A result alone, or with the indices of the maxima.
struct MaybePair {
  Pair pair;
  bool both;
};
PyObject* to_python(MaybePair p) {
  return p.both ? python::to_python(std::move(p.pair))
                : python::to_python(std::move(std::get<0>(p.pair)));
}

// The functions' names, for errors.
constexpr const char *kMax[] = {"max_pool1d", "max_pool2d", "max_pool3d"},
                     *kAvg[] = {"avg_pool1d", "avg_pool2d", "avg_pool3d"},
                     *kAdaptiveAvg[] = {"adaptive_avg_pool1d", "adaptive_avg_pool2d",
                                        "adaptive_avg_pool3d"},
                     *kAdaptiveMax[] = {"adaptive_max_pool1d", "adaptive_max_pool2d",
                                        "adaptive_max_pool3d"},
                     *kUnpool[] = {"max_unpool1d", "max_unpool2d", "max_unpool3d"},
                     *kFractional[] = {"", "fractional_max_pool2d", "fractional_max_pool3d"};

PoolOptions max_options(Shape kernel, const MaybeShape& stride, Shape padding, Shape dilation,
                        bool ceil_mode) {
  return {kernel, stride.value_or(Shape()), padding, dilation, ceil_mode, true, {}};
}

template <int Rank>
Tensor max_pool(const Tensor& input, Shape kernel, MaybeShape stride, Shape padding, Shape dilation,
                bool ceil_mode) {
  return max_pool(kMax[Rank - 1], Rank, input,
                  max_options(kernel, stride, padding, dilation, ceil_mode));
}
template <int Rank>
Pair max_indices(const Tensor& input, Shape kernel, MaybeShape stride, Shape padding,
                 Shape dilation, bool ceil_mode) {
  return max_pool_with_indices(kMax[Rank - 1], Rank, input,
                               max_options(kernel, stride, padding, dilation, ceil_mode));
}
template <int Rank>
Pair max_indices_of(const Tensor& input, Shape kernel, MaybeShape stride, Shape padding,
                    Shape dilation, bool ceil_mode, Truth) {
  return max_indices<Rank>(input, kernel, stride, padding, dilation, ceil_mode);
}
template <int Rank>
MaybePair max_either(const Tensor& input, Shape kernel, MaybeShape stride, Shape padding,
                     Shape dilation, bool ceil_mode, Truth return_indices) {
  if (return_indices)
    return {max_indices<Rank>(input, kernel, stride, padding, dilation, ceil_mode), true};
  return {{max_pool<Rank>(input, kernel, stride, padding, dilation, ceil_mode), {}}, false};
}

Tensor avg1(const Tensor& input, Shape kernel, MaybeShape stride, Shape padding, bool ceil_mode,
            bool count_include_pad) {
  return avg_pool(
      kAvg[0], 1, input,
      {kernel, stride.value_or(Shape()), padding, {1}, ceil_mode, count_include_pad, {}});
}
template <int Rank>
Tensor avg(const Tensor& input, Shape kernel, MaybeShape stride, Shape padding, bool ceil_mode,
           bool count_include_pad, std::optional<std::int64_t> divisor) {
  return avg_pool(
      kAvg[Rank - 1], Rank, input,
      {kernel, stride.value_or(Shape()), padding, {1}, ceil_mode, count_include_pad, divisor});
}
template <int Rank>
Tensor lp(const Tensor& input, Scalar norm_type, Shape kernel, MaybeShape stride, bool ceil_mode) {
  return lp_pool(kAvg[Rank - 1], Rank, input, norm_type,
                 {kernel, stride.value_or(Shape()), {0}, {1}, ceil_mode, true, {}});
}

// A size in which None is the input's own.
struct OutputSize {
  Shape sizes;
  unsigned kept = 0;  // bit d: None
  bool is_list = false;
};

template <int Rank>
Shape full_size(const Tensor& input, const OutputSize& given) {
  Shape size = given.sizes;
  if (!given.is_list || Rank == 1) return size;
  if (input.dim() <= size.rank)
    fail<ValueError>("Input dimension should be at least ", size.rank + 1, ", got ", input.dim());
  for (int d = 0; d < size.rank; ++d)
    if (given.kept >> d & 1) size[d] = input->shape[input.dim() - size.rank + d];
  if (size.rank != Rank)
    fail<RuntimeError>("adaptive pooling: output_size must be one int or ", Rank, ", got ", size);
  return size;
}
}  // namespace

template <>
struct Argument<OutputSize> : ByValue<OutputSize> {
  static constexpr const char *expected = Argument<Shape>::expected,
                              *stub = "int | Sequence[int | None]";
  static bool read(PyObject* o, OutputSize& s) {
    s.is_list = PyTuple_Check(o) || PyList_Check(o);
    if (!s.is_list) return Argument<Shape>::read(o, s.sizes);
    const auto copy = py::reinterpret_steal<py::object>(PySequence_Tuple(o));
    if (!copy) return false;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(copy.ptr()); ++i) {
      PyObject* const item = PyTuple_GET_ITEM(copy.ptr(), i);
      std::int64_t value = 0;
      if (item == Py_None && i < kMaxRank)
        s.kept |= 1u << i;
      else if (!Argument<std::int64_t>::read(item, value))
        return false;
      s.sizes.push_back(value);
    }
    return true;
  }
};

namespace {

template <int Rank>
Tensor adaptive_avg(const Tensor& input, OutputSize size) {
  return adaptive_avg_pool(kAdaptiveAvg[Rank - 1], Rank, input, full_size<Rank>(input, size));
}
template <int Rank>
Pair adaptive_max_of(const Tensor& input, OutputSize size, Truth) {
  return adaptive_max_pool(kAdaptiveMax[Rank - 1], Rank, input, full_size<Rank>(input, size));
}
Pair adaptive_max1(const Tensor& input, OutputSize size) {
  return adaptive_max_of<1>(input, size, {});
}
template <int Rank>
MaybePair adaptive_max(const Tensor& input, OutputSize size, Truth return_indices) {
  return {adaptive_max_of<Rank>(input, size, {}), return_indices};
}

using Ratio = std::optional<std::vector<double>>;
template <int Rank>
Pair fractional_of(const Tensor& input, Shape kernel, MaybeShape size, Ratio ratio, Truth,
                   Maybe samples) {
  const char* const name = kFractional[Rank - 1];
  if (!size && !ratio)
    fail<ValueError>(name, " requires specifying either an output_size or an output_ratio");
  if (!size) {
    if (ratio->size() != 1 && ratio->size() != std::size_t(Rank))
      fail<ValueError>(name,
                       " requires output_ratio to either be a single Int or tuple of Ints, got ",
                       ratio->size(), " of them");
    if (input.dim() < Rank + 1)
      fail<RuntimeError>(name, "(): Expected ", Rank + 1, "D or ", Rank + 2,
                         "D tensor, but got: ", input.sizes());
    size.emplace();
    for (int d = 0; d < Rank; ++d) {
      const double share = (*ratio)[ratio->size() == 1 ? 0 : std::size_t(d)];
      size->push_back(convert<std::int64_t>(double(input->shape[input.dim() - Rank + d]) * share));
    }
  }
  return fractional_max_pool(name, Rank, input, kernel, *size, samples);
}
template <int Rank>
MaybePair fractional(const Tensor& input, Shape kernel, MaybeShape size, Ratio ratio,
                     Truth return_indices, Maybe samples) {
  return {fractional_of<Rank>(input, kernel, size, ratio, {}, samples), return_indices};
}

// The size wanted, or the smallest that pools to the input's.
template <int Rank>
Tensor unpool(const Tensor& input, const Tensor& indices, std::array<std::int64_t, Rank> kernel,
              std::optional<std::array<std::int64_t, Rank>> stride,
              std::array<std::int64_t, Rank> padding, MaybeShape output_size) {
  if (!stride) stride = kernel;
  if (Rank == 3 && *std::min_element(stride->begin(), stride->end()) <= 0)
    fail<RuntimeError>("strides should be greater than zero, but got stride: ",
                       Sizes(stride->data(), Rank));
  if (input.dim() < Rank)
    fail<RuntimeError>("Input to max_unpooling", Rank, "d should be a ", Rank + 1, "d or ",
                       Rank + 2, "d Tensor, but got a tensor with ", input.dim(), " dimensions.");
  Shape size, smallest;
  for (std::size_t d = 0; d < Rank; ++d) {
    const std::int64_t n = input->shape[input.dim() - Rank + int(d)];
    const std::int64_t spread = checked_mul(n - 1, (*stride)[d]);
    smallest.push_back(checked_add(checked_add(spread, kernel[d]), checked_mul(-2, padding[d])));
  }
  if (!output_size) return max_unpool(kUnpool[Rank - 1], Rank, input, indices, smallest);
  const int given = output_size->rank;
  if (given != Rank && given != Rank + 2)
    fail<ValueError>("output_size should be a sequence containing ", Rank, " or ", Rank + 2,
                     " elements, but it has a length of '", given, "'");
  for (int d = 0; d < Rank; ++d) {
    size.push_back((*output_size)[given - Rank + d]);
    const std::int64_t step = (*stride)[std::size_t(d)];
    const std::int64_t low = checked_add(smallest[d], -step), high = checked_add(smallest[d], step);
    if (size[d] <= low || size[d] >= high)
      fail<ValueError>("invalid output_size \"", *output_size, "\" (dim ", d, " must be between ",
                       low, " and ", high, ")");
  }
  return max_unpool(kUnpool[Rank - 1], Rank, input, indices, size);
}

template <int Rank>
std::string shape_words() {
  return Rank == 1   ? "(n, c, l) or (c, l)"
         : Rank == 2 ? "(n, c, h, w) or (c, h, w)"
                     : "(n, c, d, h, w) or (c, d, h, w)";
}
// torch.ones(1, 4, 4): an example's input.
std::string ones(int rank, int size) {
  std::string s = "torch.ones(1";
  for (int d = 0; d < rank; ++d) s += text(", ", size);
  return s + ")";
}
std::string size_words(int rank, int size) {
  std::string s = "torch.Size([1";
  for (int d = 0; d < rank; ++d) s += text(", ", size);
  return s + "])";
}

// The functions of torch.nn.functional for one number of dimensions.
template <int Rank>
[[gnu::cold]] void bind_rank(py::module_& m) {
  const std::string number = std::to_string(Rank), d = number + "d";
  const std::string shapes = "\n\nShape:\n    input " + shape_words<Rank>() + ".\n\n>>> ";
  const std::string windowed = "\n\nShape:\n    input " + shape_words<Rank>() +
                               "; a size becomes (size + 2 * padding - dilation * (kernel_size -"
                               "\n    1) - 1) / stride + 1.\n\n>>> ";
  const std::string f = "torch.nn.functional.";
  constexpr Policy kCast = Rank == 3 ? kFullOnCpu : Policy{};
  const auto name = [&](const char* stem) { return stem + d; };

  const std::string windows =
      "(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, "
      "return_indices=False)";
  op<&max_either<Rank>>(m, name("max_pool") + windows, As::functional,
                        "The maximum of each window; NaN if the window has one." + windowed + f +
                            name("max_pool") + "(" + ones(Rank, 4) + ", 2).shape\n" +
                            size_words(Rank, 2));
  op<&max_indices_of<Rank>>(m, name("max_pool") + "_with_indices" + windows, As::functional,
                            "max_pool" + d + "() and the flat index of each maximum." + windowed +
                                f + name("max_pool") + "_with_indices(" + ones(Rank, 4) +
                                ", 2)[1].dtype\ntorch.int64");

  op<&adaptive_avg<Rank>>(
      m, name("adaptive_avg_pool") + "(input, output_size)",
      {.as = As::functional, .autocast = kCast},
      "The mean of each of output_size windows that together cover the input.\n\nArgs:\n    "
      "output_size: one number or one for each dimension; None keeps the size of input." +
          shapes + f + name("adaptive_avg_pool") + "(" + ones(Rank, 4) + ", 3).shape\n" +
          size_words(Rank, 3));
  const std::string sized = "(input, output_size, return_indices=False)";
  op<&adaptive_max<Rank>>(
      m, name("adaptive_max_pool") + sized, {.as = As::functional, .autocast = kCast},
      "The maximum of each of output_size windows that together cover the input.\n\nArgs:\n    "
      "output_size: one number or one for each dimension; None keeps the size of input." +
          shapes + f + name("adaptive_max_pool") + "(" + ones(Rank, 4) + ", 3).shape\n" +
          size_words(Rank, 3));
  op<&adaptive_max_of<Rank>>(m, name("adaptive_max_pool") + "_with_indices" + sized,
                             {.as = As::functional, .autocast = kCast},
                             "adaptive_max_pool" + d + "() and the flat index of each maximum." +
                                 shapes + f + name("adaptive_max_pool") + "_with_indices(" +
                                 ones(Rank, 4) + ", 1)[1].dtype\ntorch.int64");

  op<&lp<Rank>>(
      m, name("lp_pool") + "(input, norm_type, kernel_size, stride=None, ceil_mode=False)",
      As::functional,
      "(sum of x^p over each window)^(1/p), p the norm type; inf takes the maximum." + shapes + f +
          name("lp_pool") + "(" + ones(Rank, 4) + ", 2, 2).shape\n" + size_words(Rank, 2));
  op<&unpool<Rank>>(
      m,
      name("max_unpool") +
          "(input, indices, kernel_size, stride=None, padding=0, output_size=None)",
      As::functional,
      "The inverse of max_pool" + d +
          "(): zeros, with the values at their indices.\n\nArgs:\n    indices: the flat indices "
          "that max_pool" +
          d +
          "() returned.\n    output_size: the size of the result; None for "
          "the smallest that was possible." +
          shapes + "x, at = " + f + name("max_pool") + "(" + ones(Rank, 4) + ", 2, " +
          "return_indices=True)\n>>> " + f + name("max_unpool") + "(x, at, 2).shape\n" +
          size_words(Rank, 4));
  if constexpr (Rank > 1) {
    const std::string drawn =
        "(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, "
        "_random_samples=None)";
    op<&fractional<Rank>>(m, name("fractional_max_pool") + drawn, As::functional,
                          "The maximum of each of a number of random windows (Graham, 2014)." +
                              shapes + f + name("fractional_max_pool") + "(" + ones(Rank, 5) +
                              ", 2, 3).shape\n" + size_words(Rank, 3));
    op<&fractional_of<Rank>>(m, name("fractional_max_pool") + "_with_indices" + drawn,
                             As::functional,
                             "fractional_max_pool" + d + "() and the flat index of each maximum." +
                                 shapes + f + name("fractional_max_pool") + "_with_indices(" +
                                 ones(Rank, 5) + ", 2, 3)[1].dtype\ntorch.int64");
    op<&avg<Rank>>(m,
                   name("avg_pool") +
                       "(input, kernel_size, stride=None, padding=0, ceil_mode=False, "
                       "count_include_pad=True, divisor_override=None, *, out=None)",
                   {.as = As::functional, .autocast = kCast, .exact = true},
                   "The mean of each window.\n\nShape:\n    input " + shape_words<Rank>() +
                       "; a size becomes (size + 2 * padding - kernel_size) / stride + 1.\n\n>>> " +
                       f + name("avg_pool") + "(" + ones(Rank, 4) + ", 2).shape\n" +
                       size_words(Rank, 2));
  }
}

}  // namespace

void bind_pool_functional(py::module_& m) {
  bind_rank<1>(m);
  bind_rank<2>(m);
  bind_rank<3>(m);
}

void bind_pool(py::module_& m) {
  constexpr std::string_view arguments =
      "(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False)";
  const auto with = [&](const char* name) { return name + std::string(arguments); };
  op<&max_pool<1>>(
      m, with("max_pool1d"), As::function,
      "The maximum of each window of the last dimension; NaN if the window has one.\n\n"
      "Shape:\n    input (n, c, l) or (c, l).\n\n>>> "
      "torch.max_pool1d(torch.tensor([[1., 3., 2., 4.]]), 2)\ntensor([[3., 4.]])");
  op<&max_pool<2>>(
      m, with("max_pool2d"), As::function,
      "The maximum of each window of the last two dimensions; NaN if the window has one.\n\n"
      "Shape:\n    input (n, c, h, w) or (c, h, w).\n\n>>> "
      "torch.max_pool2d(torch.tensor([[[1., 3.], [2., 4.]]]), 2)\ntensor([[[4.]]])");
  op<&max_pool<3>>(
      m, with("max_pool3d"), As::function,
      "The maximum of each window of the last three dimensions; NaN if the window has one.\n\n"
      "Shape:\n    input (n, c, d, h, w) or (c, d, h, w).\n\n>>> "
      "torch.max_pool3d(torch.ones(1, 2, 2, 2), 2)\ntensor([[[[1.]]]])");
  op<&max_indices<1>>(m, with("max_pool1d_with_indices"), As::function,
                      "max_pool1d() and the index of each maximum.\n\nShape:\n    input (n, c, l) "
                      "or (c, l).\n\n>>> "
                      "torch.max_pool1d_with_indices(torch.tensor([[1., 3.]]), "
                      "2)\n(tensor([[3.]]), tensor([[1]]))");
  op<&avg1>(m,
            "avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, "
            "count_include_pad=True)",
            As::function | As::functional,
            R"(The mean of each window of the last dimension.

Shape:
    input (n, c, l) or (c, l); l becomes (l + 2 * padding - kernel_size) / stride + 1.

>>> torch.nn.functional.avg_pool1d(torch.tensor([[1., 3., 2., 4.]]), 2)
tensor([[2., 3.]]))");
  op<&adaptive_avg<1>, 1>(m, "adaptive_avg_pool1d(input, output_size)", As::function,
                          R"(The mean of each of output_size windows that cover the last dimension.

Shape:
    input (n, c, l) or (c, l); the result (n, c, output_size) or (c, output_size).

>>> torch.adaptive_avg_pool1d(torch.tensor([[1., 3., 2., 4.]]), 2)
tensor([[2., 3.]]))");
  op<&adaptive_max1>(
      m, "adaptive_max_pool1d(input, output_size)", As::function,
      R"(The maximum of each of output_size windows that cover the last dimension, and its index.

Shape:
    input (n, c, l) or (c, l); the result (n, c, output_size) or (c, output_size).

>>> torch.adaptive_max_pool1d(torch.tensor([[1., 3., 2., 4.]]), 2)
(tensor([[3., 4.]]), tensor([[1, 3]])))");
}

}  // namespace rushlight::python
