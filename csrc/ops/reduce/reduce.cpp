// Sums, products and counts, and what all reductions share. Note: the kernel writes
// the result in its final shape, seen by it with size 1 where the input is reduced.
#include "reduce.h"

#include <bit>
#include <limits>

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "kernels/reduce_formulas.h"
#include "ops/pointwise/pointwise.h"
#include "ops/scan.h"

namespace rushlight {

ReducedShape::ReducedShape(const Tensor& input, Sizes dims)
    : mask(dim_mask(dims, input.dim())), whole(input.shape()), kept(whole) {
  if (dims.empty()) {
    count = input.numel();
    std::fill_n(kept.sizes.begin(), kept.rank, 1);
    return;
  }
  for (int d = 0; d < whole.rank; ++d) {
    if (mask >> d & 1) {
      count = checked_mul(count, whole[d]);
      kept[d] = 1;
    } else {
      squeezed.push_back(whole[d]);
    }
  }
}

// Whether one element is its own total, to the last bit; a sum begins with 0, and -0 becomes that.
static bool is_itself_of_one(Reduction kind) {
  return kind == kReduction<reduction::Maximum> || kind == kReduction<reduction::Minimum> ||
         kind == kReduction<reduction::Product>;
}

Tensor reduce_into_new(Reduction kind, const Tensor& input, const ReducedShape& over, bool keepdim,
                       DType dtype, double parameter) {
  if (!same(input.sizes(), over.whole.view())) [[unlikely]]  // by another thread
    fail_changed(input);
  Tensor out = empty(over.shape(keepdim), dtype, input.device());
  if (out.numel() == 0 || out.device().is_meta()) return out;
  View to = view_of(out), from = view_of(input);
  if (out.numel() == 1 && input.is_contiguous()) {  // all of a dense tensor: one row
    to.rank = from.rank = 1;
    to.sizes[0] = to.strides[0] = from.strides[0] = 1;
    from.sizes[0] = from.numel;
  } else {
    Strides strides{};
    contiguous_strides(over.kept, strides);
    to.rank = over.kept.rank;
    std::copy_n(over.kept.begin(), to.rank, to.sizes);
    std::copy_n(strides.begin(), to.rank, to.strides);
  }
  const Backend& b = backend(input.device());
  const Unlocked unlocked(double(input.numel()) * 0.1, {&out, &input});
  if (over.count == 1 && is_itself_of_one(kind))
    b.copy->copy(to, from);
  else
    b.reduce->reduce(kind, to, from, parameter);
  return out;
}

Tensor spread(const Tensor& g, const ReducedShape& over) {
  if (!grad_enabled()) {
    // Small: written out, so that what follows is dense. Else one view instead of two with history.
    if (g.numel() == 1 && !is_complex(g.dtype()) && g.device().is_cpu() &&
        numel_of(over.whole) <= 4096)
      return full(over.whole, item(g), g.dtype(), kCpu);
    Strides strides{};
    const bool kept = g.dim() == over.whole.rank;
    for (int d = 0, from = 0; d < over.whole.rank; ++d) {
      const bool reduced = over.mask >> d & 1;
      if (!reduced) strides[std::size_t(d)] = g->strides[std::size_t(kept ? d : from++)];
    }
    return geometry(g, over.whole, strides.data(), g.offset());
  }
  return expand(reshape(g, over.kept), over.whole);
}

Tensor spread_rows(const Tensor& rows, const ReducedShape& over) {
  return expand(reshape(rows, with_rows(rows, over.kept)), with_rows(rows, over.whole));
}

void check_not_empty(const char* op, const Tensor& input, const ReducedShape& over,
                     bool dims_given) {
  if (input.numel()) return;
  if (!dims_given) {
    const std::string words = text(op,
                                   "(): Expected reduction dim to be specified for input.numel() "
                                   "== 0. Specify the reduction dim with the 'dim' argument.\n",
                                   describe("input", input));
    if (std::string_view(op).starts_with("arg")) throw IndexError(words);
    throw RuntimeError(words);
  }
  for (int d = 0; d < over.whole.rank; ++d)
    if (over.mask >> d & 1 && over.whole[d] == 0)
      fail<IndexError>(op, "(): Expected reduction dim ", d, " to have non-zero size.\n",
                       describe("input", input));
}

DType sum_dtype(const Tensor& input, OptionalDtype wanted) {
  if (wanted && is_integral(*wanted) && needs_grad(input)) [[unlikely]]
    fail<RuntimeError>("Autograd not support dtype: ", scalar_name(*wanted), "\n",
                       describe("input", input), " requires grad, which integers cannot have");
  return wanted ? *wanted : is_integral(input.dtype()) ? DType::int64 : input.dtype();
}

namespace {

// The kernel gives int64 for integers, and floats of the type that it computes in: for another
// dtype input is cast first. Among integers a sum modulo 2^64 is one of each dtype; of bools, 1 and
// -1 are two trues.
Tensor total(Reduction kind, const Tensor& input, const ReducedShape& over, bool keepdim,
             DType dtype) {
  if (is_floating(dtype) && is_computed_in(input.dtype(), dtype))
    return reduce_into_new(kind, input, over, keepdim, dtype);
  const GradMode off(false);
  const bool cast = is_floating(dtype) || is_floating(input.dtype()) || dtype == DType::boolean;
  const Tensor x = cast ? to(input, dtype) : input;
  return to(reduce_into_new(kind, x, over, keepdim, sum_dtype(x, {})), dtype);
}

DType mean_dtype(const char* op, const Tensor& input, OptionalDtype dtype) {
  const DType d = dtype.value_or(input.dtype());
  if (!is_floating(d))
    fail<RuntimeError>(op, "(): could not infer output dtype. ", dtype ? "Optional" : "Input",
                       " dtype must be either a floating point or complex dtype. Got: ",
                       scalar_name(d), "\n", describe("input", input),
                       dtype ? "" : ": pass dtype=torch.float32, or convert with .float()");
  return d;
}

// As PyTorch checks; not on a GPU, where it would be a wait in every pass.
bool is_free_of_zeros(const Tensor& x) {
  return x.device().is_cpu() && item(all(x, {}, false)).as_int() != 0;
}

// The product of all others, for each element of dimension `dim`: right also where there are zeros.
Tensor product_of_others(const Tensor& input, int dim) {
  const std::int64_t n = input.size(dim);
  Shape one = input.shape();
  one[dim] = 1;
  const Tensor unit = full(one, 1, input.dtype(), input.device());
  const auto before = [&](const Tensor& x) {
    return cumprod(cat({unit, narrow(x, dim, 0, n - 1)}, dim), dim);
  };
  const Shape along{dim};
  return mul(before(input), flip(before(flip(input, along)), along));
}

// Of one element in a mean.
Scalar share(const ReducedShape& over) {
  return 1 / static_cast<double>(std::max<std::int64_t>(1, over.count));
}

// Of complex numbers: halves times halves, whose history is that of the products.
Tensor complex_product(Tensor x, const ReducedShape& over, bool keepdim) {
  for (int d = 0; d < x.dim(); ++d) {
    if (!(over.mask >> d & 1)) continue;
    if (x.size(d) == 0) x = apply<Add>(sum(x, Shape{d}, true), Scalar(1));
    Tensor odd;  // what is left over, multiplied
    while (x.size(d) > 1) {
      const std::int64_t half = x.size(d) / 2;
      if (x.size(d) % 2) {
        const Tensor one = narrow(x, d, 2 * half, 1);
        odd = odd ? mul(odd, one) : one;
      }
      x = mul(narrow(x, d, 0, half), narrow(x, d, half, half));
    }
    if (odd) x = mul(x, odd);
  }
  if (x.dim() == 0) return clone(x);
  Shape kept;
  for (int d = 0; d < x.dim(); ++d)
    if (keepdim || !(over.mask >> d & 1)) kept.push_back(x->shape[d]);
  return reshape(x, kept);
}

Tensor product(const char* node, const char* names, const Tensor& input, const ReducedShape& over,
               bool keepdim, OptionalDtype dtype) {
  if (is_complex(dtype.value_or(input.dtype())))
    return complex_product(to(input, dtype.value_or(input.dtype())), over, keepdim);
  if (is_complex(input.dtype()))
    return product(node, names, to(input, *dtype), over, keepdim, dtype);
  const DType d = sum_dtype(input, dtype);
  const Tensor out = total(kReduction<reduction::Product>, input, over, keepdim, d);
  return record(
      node, out,
      showing(
          names,
          [over, from = input.dtype(), d](Tensor g, Node& self, const Saved& x,
                                          const SavedOutput& y) {
            const Tensor input = to(x.get(), d);
            if (input.numel() == 0 || input.dim() == 0) return Gradients(to(spread(g, over), from));
            if (!grad_enabled() && is_free_of_zeros(input))
              return Gradients(
                  to(mul(spread(g, over), div(spread(y.get(self), over), input)), from));
            const bool one = (over.mask & (over.mask - 1)) == 0;
            int dim = 0;
            while (one && !(over.mask >> dim & 1)) ++dim;
            const Tensor others =
                one ? product_of_others(input, dim)
                    : view(product_of_others(reshape(input, Shape{-1}), 0), over.whole);
            return Gradients(to(mul(spread(g, over), others), from));
          },
          Saved(input), SavedOutput(out), std::int64_t(std::countr_zero(over.mask)), keepdim),
      input);
}

// Whether a complex number is another than 0 is asked before the kernels, which have none.
Tensor asked(const Tensor& input) {
  return is_complex(input.dtype()) ? apply<Ne>(input, Scalar(0)) : input;
}

Tensor truth(Reduction kind, const Tensor& given, Sizes dims, bool keepdim) {
  const GradMode off(false);
  const Tensor input = asked(given);
  const DType d = input.dtype() == DType::uint8 ? DType::uint8 : DType::boolean;
  return reduce_into_new(kind, input, ReducedShape(input, dims), keepdim, d);
}

}  // namespace

SavedValue value_of(ReducedDims dims, Node&) {
  if (!dims.given) return {};
  std::vector<std::int64_t> shown;
  for (int d = 0; d < kMaxRank; ++d)
    if (dims.mask >> d & 1) shown.push_back(d);
  return shown;
}

// Whether a sum has to convert its input first: real numbers to complex ones, or back.
static bool changes_kind(const Tensor& input, OptionalDtype dtype) {
  return dtype && is_complex(*dtype) != is_complex(input.dtype());
}

// f(parts, dims) of complex numbers, the real and the imaginary parts apart; without history.
template <class F>
static Tensor by_parts(const char* op, const Tensor& input, const ReducedShape& over, F&& f) {
  if (input.dtype() == DType::complex32) refuse_stored(op, input.dtype());
  const GradMode off(false);
  Shape dims;
  for (int d = 0; d < input.dim(); ++d)
    if (over.mask >> d & 1) dims.push_back(d);
  return dims.rank ? alias(view_as_complex(f(view_as_real(input), dims.view()))) : clone(input);
}

Tensor sum(const Tensor& input, Sizes dims, bool keepdim, OptionalDtype dtype) {
  if (changes_kind(input, dtype))
    return sum(to(input, *dtype), dims, keepdim, is_complex(*dtype) ? OptionalDtype() : dtype);
  if (is_only_stored(input.dtype()) && is_integral(input.dtype()))  // uint16 to uint64
    return sum(to(input, dtype && is_floating(*dtype) ? *dtype : DType::int64), dims, keepdim,
               dtype);
  const ReducedShape over(input, dims);
  Tensor out =
      is_complex(input.dtype())
          ? by_parts("sum", dtype ? to(input, *dtype) : input, over,
                     [&](const Tensor& t, Sizes d) { return sum(t, d, keepdim); })
          : total(kReduction<reduction::Sum>, input, over, keepdim, sum_dtype(input, dtype));
  if (!needs_grad(input)) return out;
  return record(dims.empty() ? "SumBackward0" : "SumBackward1", std::move(out),
                showing(dims.empty() ? "self_sym_sizes" : "self_sym_sizes dim keepdim",
                        both(
                            [d = input.dtype()](Tensor g, Node&, const ReducedShape& over) {
                              return Gradients(to(spread(g, over), d));
                            },
                            [d = input.dtype()](Rows rows, Node&, const ReducedShape& over) {
                              return Gradients(to(spread_rows(rows.g, over), d));
                            }),
                        over, ReducedDims{over.mask}, keepdim),
                input);
}

Tensor mean(const Tensor& input, Sizes dims, bool keepdim, OptionalDtype dtype) {
  if (changes_kind(input, dtype)) return mean(to(input, *dtype), dims, keepdim, {});
  const ReducedShape over(input, dims);
  Tensor out = is_complex(input.dtype())
                   ? by_parts("mean", dtype ? to(input, *dtype) : input, over,
                              [&](const Tensor& t, Sizes d) { return mean(t, d, keepdim); })
                   : total(kReduction<reduction::Mean>, input, over, keepdim,
                           mean_dtype("mean", input, dtype));
  if (!needs_grad(input)) return out;
  return record(
      dims.empty() ? "MeanBackward0" : "MeanBackward1", std::move(out),
      showing(dims.empty() ? "self_sym_sizes self_sym_numel"
                           : "self_sym_sizes self_sym_numel dim keepdim",
              both(
                  [from = input.dtype()](Tensor g, Node&, const ReducedShape& over) {
                    return Gradients(to(spread(mul(g, share(over)), over), from));
                  },
                  [from = input.dtype()](Rows rows, Node&, const ReducedShape& over) {
                    return Gradients(to(spread_rows(mul(rows.g, share(over)), over), from));
                  }),
              over, input.numel(), ReducedDims{over.mask}, keepdim),
      input);
}

Tensor nansum(const Tensor& input, Sizes dims, bool keepdim, OptionalDtype dtype) {
  if (is_integral(input.dtype())) return sum(input, dims, keepdim, dtype);
  if (dtype && is_integral(*dtype)) {
    sum_dtype(input, dtype);  // refuses what requires grad
    const GradMode off(false);
    constexpr double inf = std::numeric_limits<double>::infinity();
    return sum(nan_to_num(input, 0.0, inf, -inf), dims, keepdim, dtype);
  }
  const ReducedShape over(input, dims);
  Tensor out =
      total(kReduction<reduction::NanSum>, input, over, keepdim, dtype.value_or(input.dtype()));
  return record("NansumBackward0", out,
                showing(
                    "self dim keepdim",
                    [over](Tensor g, Node&, const Saved& x) {
                      const DType d = x.get().dtype();
                      return Gradients(mul(to(spread(g, over), d), not_nan_mask(x.get())));
                    },
                    Saved(input), ReducedDims{over.mask, !dims.empty()}, keepdim),
                input);
}

Tensor nanmean(const Tensor& input, Sizes dims, bool keepdim, OptionalDtype dtype) {
  mean_dtype("nanmean", input, {});
  const Tensor counts = sum(not_nan_mask(input), dims, keepdim, dtype);
  return div(nansum(input, dims, keepdim, dtype), counts);
}

Tensor prod(const Tensor& input, OptionalDtype dtype) {
  return product("ProdBackward0", "self result", input, ReducedShape(input, {}), false, dtype);
}
Tensor prod(const Tensor& input, std::int64_t dim, bool keepdim, OptionalDtype dtype) {
  return product("ProdBackward1", "self result dim keepdim", input, ReducedShape(input, {&dim, 1}),
                 keepdim, dtype);
}

Tensor any(const Tensor& input, Sizes dims, bool keepdim) {
  return truth(kReduction<reduction::Any>, input, dims, keepdim);
}
Tensor all(const Tensor& input, Sizes dims, bool keepdim) {
  return truth(kReduction<reduction::All>, input, dims, keepdim);
}
Tensor count_nonzero(const Tensor& given, Sizes dims) {
  const GradMode off(false);
  const Tensor input = asked(given);
  return reduce_into_new(kReduction<reduction::Count>, input, ReducedShape(input, dims), false,
                         DType::int64);
}

Tensor sum_to_size(const Tensor& input, const Shape& size) {
  if (size.rank == 0) return sum(input, {}, false);
  const int lead = input.dim() - size.rank;
  bool fits = lead >= 0;
  for (int d = 0; fits && d < size.rank; ++d)
    fits = size[d] == 1 || size[d] == input->shape[lead + d];
  if (!fits)
    fail<RuntimeError>("size {", size, "} is not expandable to size {", input.shape(),
                       "}.\nsum_to_size(): ", describe("input", input));
  return sum_to(input, size);
}

}  // namespace rushlight
