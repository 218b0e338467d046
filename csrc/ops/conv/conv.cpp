// What convolutions accept: geometry checked, in torch's words, before anything is computed.
#include "conv.h"

#include "products.h"

namespace rushlight {
namespace {

// Entries for `rank` dimensions, one standing for all.
Shape filled(const char* what, const Shape& given, int rank) {
  if (given.rank == rank) return given;
  if (given.rank != 1)
    fail<RuntimeError>("expected ", what, " to be a single integer value or a list of ", rank,
                       " values to match the convolution dimensions, but got ", what, "=", given);
  Shape all;
  for (int d = 0; d < rank; ++d) all.push_back(given[0]);
  return all;
}

ConvOptions checked(const ConvOptions& o, int rank) {
  ConvOptions r{filled("stride", o.stride, rank), filled("padding", o.padding, rank),
                filled("dilation", o.dilation, rank),
                o.output_padding.rank ? filled("output_padding", o.output_padding, rank) : Shape(),
                o.groups};
  for (const std::int64_t p : r.padding)
    if (p < 0) fail<RuntimeError>("negative padding is not supported");
  for (const std::int64_t p : r.output_padding)
    if (p < 0) fail<RuntimeError>("negative output_padding is not supported");
  for (const std::int64_t s : r.stride)
    if (s <= 0) fail<RuntimeError>("non-positive stride is not supported");
  for (const std::int64_t d : r.dilation)
    if (d <= 0) fail<RuntimeError>("dilation should be greater than zero, but got ", r.dilation);
  if (o.groups <= 0) fail<RuntimeError>("non-positive groups is not supported");
  return r;
}

void check_conv_operands(const char* name, int rank, const Tensor& input, const Tensor& weight,
                         const std::optional<Tensor>& bias, const ConvOptions& o, bool transposed) {
  const auto kind = [](const Tensor& t) {
    return text(t.device().is_cuda() ? "torch.cuda." : "torch.", scalar_name(t.dtype()), "Tensor");
  };
  const auto elsewhere = [&](const Tensor& other, const char* what) {
    fail<RuntimeError>("Input type (", kind(input), ") and ", what, " type (", kind(other),
                       ") should be the same or input should be a MKLDNN tensor and weight is a "
                       "dense tensor\n",
                       describe("input", input), "; ", describe(what, other),
                       "\nmove one of them: x.to(y.device), or module.to(device)");
  };
  if (weight.device().type != input.device().type) elsewhere(weight, "weight");
  check_same_device(name, input, "input", weight, "weight");
  if (bias) check_same_device(name, input, "input", *bias, "bias");
  if (input.dim() != rank + 1 && input.dim() != rank + 2)
    fail<RuntimeError>("Expected ", rank + 1, "D (unbatched) or ", rank + 2,
                       "D (batched) input to ", name, ", but got input of size: ", input.sizes());
  if (weight.dim() != rank + 2)
    fail<RuntimeError>("Expected ", rank + 2, "-dimensional weight for ", name,
                       ", but got weight of size ", weight.sizes(), "\n", describe("input", input),
                       "; ", describe("weight", weight));
  const auto words = [&](const Tensor& other, const char* what) {
    fail<RuntimeError>("Input type (", c_name(input.dtype()), ") and ", what, " type (",
                       c_name(other.dtype()), ") should be the same\n", describe("input", input),
                       "; ", describe(what, other),
                       "; convert one with .to(dtype), as in x.float()");
  };
  if (bias && bias->dtype() != input.dtype()) words(*bias, "bias");
  if (weight.dtype() != input.dtype()) words(weight, "weight");
  // of integers torch transposes int64 alone
  const bool integers = transposed ? input.dtype() == DType::int64
                                   : is_integral(input.dtype()) && input.dtype() != DType::boolean;
  if (!is_differentiable(input.dtype()) && (!integers || input.device().is_cuda()))
    fail<NotImplementedError>("\"slow_conv", rank, "d_cpu\" not implemented for '",
                              scalar_name(input.dtype()), "'");
  if (weight->shape[0] < o.groups)
    fail<RuntimeError>("Given groups=", o.groups, ", expected weight to be at least ", o.groups,
                       " at dimension 0, but got weight of size ", weight.sizes(), " instead");
  if (weight->shape[0] % o.groups)
    fail<RuntimeError>("Given groups=", o.groups, ", expected weight to be divisible by ", o.groups,
                       " at dimension 0, but got weight of size [", weight.sizes(), "] instead");
  const std::int64_t channels = input->shape[input.dim() - rank - 1];
  const std::int64_t wanted =
      transposed ? weight->shape[0] : checked_mul(weight->shape[1], o.groups);
  if (channels != wanted) {
    Shape shown;
    if (input.dim() == rank + 1) shown.push_back(1);  // as torch names one without a batch
    for (std::int64_t n : input.sizes()) shown.push_back(n);
    const std::string given = transposed ? "transposed=1" : text("groups=", o.groups);
    fail<RuntimeError>("Given ", given, ", weight of size ", weight.sizes(), ", expected input",
                       shown, " to have ", wanted, " channels, but got ", channels,
                       " channels instead");
  }
  const std::int64_t out = transposed ? checked_mul(weight->shape[1], o.groups) : weight->shape[0];
  if (bias && (bias->dim() != 1 || bias->numel() != out))
    fail<RuntimeError>("Given ", transposed ? "transposed=1, " : "", "weight of size ",
                       weight.sizes(), ", expected bias to be 1-dimensional with ", out,
                       " elements, but got bias of size ", bias->sizes(), " instead");
}

std::int64_t reach(const Tensor& weight, const ConvOptions& o, int d) {
  return checked_add(checked_mul(o.dilation[d], weight->shape[d + 2] - 1), 1);
}

// "(3 x 3)"
template <class F>
std::string crossed(int rank, F f) {
  std::string s = "(";
  for (int d = 0; d < rank; ++d) s += (d ? " x " : "") + std::to_string(f(d));
  return s + ")";
}

ConvShape geometry_of(int rank, const Tensor& weight, const ConvOptions& o) {
  ConvShape s{};
  s.groups = o.groups;
  for (int i = 0; i < 3; ++i) {
    const int d = i - (3 - rank);
    s.kernel[i] = d < 0 ? 1 : weight->shape[d + 2];
    s.stride[i] = d < 0 ? 1 : o.stride[d];
    s.padding[i] = d < 0 ? 0 : o.padding[d];
    s.dilation[i] = d < 0 ? 1 : o.dilation[d];
    s.in[i] = s.result[i] = 1;
  }
  return s;
}

// A batch of one, where the input has no batch.
template <class F>
Tensor batched(const Tensor& input, int rank, F f) {
  if (input.dim() == rank + 2) return f(input);
  return squeeze(f(unsqueeze(input, 0)), Shape{0});
}

Tensor run(int rank, const Tensor& input, const Tensor& weight, const std::optional<Tensor>& bias,
           const ConvOptions& o) {
  ConvShape s = geometry_of(rank, weight, o);
  s.n = input->shape[0];
  s.c = input->shape[1];
  s.out = weight->shape[0];
  Shape sizes{s.n, s.out};
  bool fits = true;
  for (int d = 0; d < rank; ++d) {
    const int i = d + 3 - rank;
    s.in[i] = input->shape[d + 2];
    const std::int64_t padded = checked_add(s.in[i], checked_mul(2, o.padding[d]));
    const std::int64_t room = padded - reach(weight, o, d);
    fits = fits && room >= 0 && s.kernel[i] > 0;
    s.result[i] = room / o.stride[d] + 1;
    if (s.result[i] == 1) s.stride[i] = 1;  // one window: a stride of 2^62 would only overflow
    sizes.push_back(s.result[i]);
  }
  if (!fits)
    fail<RuntimeError>("Calculated padded input size per channel: ",
                       crossed(rank, [&](int d) { return input->shape[d + 2] + 2 * o.padding[d]; }),
                       ". Kernel size: ", crossed(rank, [&](int d) { return reach(weight, o, d); }),
                       ". Kernel size can't be greater than actual input size\n",
                       describe("input", input), "; ", describe("weight", weight));
  return conv::forward(s, input, weight, bias ? *bias : Tensor(), sizes);
}

}  // namespace

// Of complex numbers: f(input, weight, bias) of the parts.
template <class F>
static Tensor of_parts(const Tensor& x, const Tensor& w, const std::optional<Tensor>& bias, F&& f) {
  const std::optional<Tensor> none;
  const auto part = [&](Tensor (*of)(const Tensor&)) {
    return bias ? std::optional<Tensor>(of(*bias)) : none;
  };
  const Tensor a = real(x), b = imag(x), c = real(w), d = imag(w);
  return complex_of(sub(f(a, c, part(real)), f(b, d, none)),
                    add(f(a, d, part(imag)), f(b, c, none)));
}

Tensor convolution(const char* name, int rank, const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias, const ConvOptions& options) {
  const ConvOptions o = checked(options, rank);
  check_conv_operands(name, rank, input, weight, bias, o, false);
  if (is_complex(input.dtype()))
    return of_parts(input, weight, bias, [&](const Tensor& x, const Tensor& w, const auto& b) {
      return convolution(name, rank, x, w, b, options);
    });
  return batched(input, rank,
                 [&](const Tensor& given) { return run(rank, given, weight, bias, o); });
}

Tensor convolution(const char* name, int rank, const Tensor& input, const Tensor& weight,
                   const std::optional<Tensor>& bias, ConvOptions options,
                   std::string_view padding) {
  options.padding = {0};
  if (padding == "valid") return convolution(name, rank, input, weight, bias, options);
  if (padding != "same") fail<RuntimeError>("Invalid padding string: '", padding, "'");
  ConvOptions o = checked(options, rank);
  for (const std::int64_t s : o.stride)
    if (s != 1) fail<RuntimeError>("padding='same' is not supported for strided convolutions");
  check_conv_operands(name, rank, input, weight, bias, o, false);
  if (is_complex(input.dtype()))
    return of_parts(input, weight, bias, [&](const Tensor& x, const Tensor& w, const auto& b) {
      return convolution(name, rank, x, w, b, options, padding);
    });
  Tensor x = input;
  for (int d = 0; d < rank; ++d) {
    const std::int64_t total = reach(weight, o, d) - 1;
    o.padding[d] = total / 2;
    if (total % 2 == 0) continue;
    const int at = x.dim() - rank + d;  // one zero more on the right
    Shape wider = x.shape();
    wider[at] = checked_add(wider[at], 1);
    x = slice_backward(x, wider, at, 0, x->shape[at], 1);
  }
  return batched(x, rank, [&](const Tensor& given) { return run(rank, given, weight, bias, o); });
}

Tensor convolution_transpose(const char* name, int rank, const Tensor& input, const Tensor& weight,
                             const std::optional<Tensor>& bias, const ConvOptions& options) {
  const ConvOptions o = checked(options, rank);
  check_conv_operands(name, rank, input, weight, bias, o, true);
  if (is_complex(input.dtype()))
    return of_parts(input, weight, bias, [&](const Tensor& x, const Tensor& w, const auto& b) {
      return convolution_transpose(name, rank, x, w, b, options);
    });
  for (int d = 0; d < rank; ++d)
    if (o.output_padding[d] >= o.stride[d] && o.output_padding[d] >= o.dilation[d])
      fail<RuntimeError>(
          "output padding must be smaller than either stride or dilation, but got output_padding=",
          o.output_padding, " stride=", o.stride, " dilation=", o.dilation);
  const auto run_transposed = [&](const Tensor& x, const Tensor& w,
                                  const std::optional<Tensor>& b) {
    ConvShape s = geometry_of(rank, w, o);
    s.n = x->shape[0];
    s.c = checked_mul(weight->shape[1], o.groups);
    s.out = x->shape[1];
    Shape sizes{s.n, s.c};
    for (int d = 0; d < rank; ++d) {
      const int i = d + 3 - rank;
      s.result[i] = x->shape[d + 2];
      const std::int64_t spread = checked_mul(s.result[i] - 1, o.stride[d]);
      s.in[i] = checked_add(checked_add(spread, reach(weight, o, d)), o.output_padding[d]) -
                checked_mul(2, o.padding[d]);
      if (s.in[i] <= 0)
        fail<RuntimeError>(
            "Given input size per channel: ", crossed(rank, [&](int e) { return x->shape[e + 2]; }),
            ". Calculated output size per channel: ",
            crossed(rank,
                    [&](int e) {
                      return (x->shape[e + 2] - 1) * o.stride[e] + reach(weight, o, e) +
                             o.output_padding[e] - 2 * o.padding[e];
                    }),
            ". Output size is too small");
      sizes.push_back(s.in[i]);
    }
    return conv::grad_input(s, x, w, b ? *b : Tensor(), sizes);
  };
  return batched(input, rank, [&](const Tensor& x) { return run_transposed(x, weight, bias); });
}

}  // namespace rushlight
