// Batch, group, layer and rms norm: fused kernels both ways; a gradient that must itself be
// differentiable comes from norm_formula.cpp.
#include "norm.h"

#include <limits>

#include "autograd/showing.h"
#include "core/backend.h"
#include "core/dense_view.h"
#include "core/unlocked.h"
#include "formula.h"
#include "kernels/norm.h"
#include "ops/memory_format.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"

namespace rushlight {
namespace {

// A contiguous view of a parameter for the kernel, or none.
class Parameter {
 public:
  Parameter(const Tensor& t, DType dtype) {
    if (!t) return;
    const GradMode off(false);
    tensor_ = contiguous(to(t, dtype));
  }
  // `dtype` and `count`: what the kernel expects.
  const View* get(DType dtype, std::int64_t count) {
    if (!tensor_) return nullptr;
    view_ = dense_view(tensor_, dtype, count);
    return &view_;
  }
  const Tensor& tensor() const { return tensor_; }

 private:
  Tensor tensor_;
  View view_{};
};

Tensor value(const MaybeTensor& t) { return t ? *t : Tensor(); }

void check_floating(const Tensor& input, const char* kernel) {
  if (!is_floating(input.dtype()))
    fail<NotImplementedError>("\"", kernel, "\" not implemented for '", scalar_name(input.dtype()),
                              "'");
}

// Parameters are of the input's dtype, or float32 beside 16-bit inputs.
void check_parameter(const char* op, const Tensor& input, const MaybeTensor& t, const char* name) {
  if (!t) return;
  check_same_device(op, input, "input", *t, name);
  if (t->dtype() != input.dtype() && t->dtype() != computed_in(input))
    fail<RuntimeError>("mixed dtype (CPU): expect parameter to have scalar type of Float\n",
                       describe("input", input), "; ", describe(name, *t));
}

double nanoseconds(const Tensor& t) { return double(t.numel()) * 0.5; }

// Results of a backward kernel that are wanted.
struct Wanted {
  Tensor input, weight, bias;
  View views[3];
  bool inside = false;
  const View* input_view() { return view(input && inside ? channels_inside(input) : input, 0); }
  const View* weight_view() { return view(weight, 1); }
  const View* bias_view() { return view(bias, 2); }

 private:
  const View* view(const Tensor& t, int i) {
    if (!t) return nullptr;
    views[i] = view_of(t);
    return &views[i];
  }
};
Wanted wanted(Node& self, const Tensor& input, std::int64_t c, bool inside) {
  const DType dtype = computed_in(input);
  Wanted w;
  w.inside = inside;
  if (self.needs_input(0))
    w.input = empty_image(input.shape(), input.dtype(), input.device(), inside);
  if (self.needs_input(1)) w.weight = empty({c}, dtype, input.device());
  if (self.needs_input(2)) w.bias = empty({c}, dtype, input.device());
  return w;
}

Tensor back_to(const Tensor& g, const Shape& shape, DType dtype) {
  return g ? to(reshape(g, shape), dtype) : g;
}

// Everything that the backward of one of the norms needs.
struct Plan {
  NormShape shape;
  Shape formula;    // the input's shape under the formula
  Shape dims;       // over which it takes statistics
  Shape weight;     // the weight's shape beside it
  double eps;
  bool batch, training;
  bool inside = false;  // images whose channels lie innermost, and stay there

  Tensor dense(const Tensor& t) const { return inside ? channels_inside(t) : contiguous(t); }
  View statistics(const Tensor& t, DType dtype) const {
    return dense_view(t, dtype, batch ? shape.c : shape.n * shape.groups);
  }
};

Gradients formula_gradients(const Plan& p, const Tensor& g, const Tensor& x, const Tensor& weight,
                            const Tensor& mean, const Tensor& invstd, Node& self) {
  const Tensor grad = reshape(g, p.formula), input = reshape(x, p.formula);
  const Tensor w = weight ? reshape(to(weight, x.dtype()), p.weight) : Tensor();
  Tensor of_input, normalized;
  if (p.training) {
    norm::FormulaGradients f = norm::gradients({grad, input, w, p.dims, p.eps, p.shape.centered});
    of_input = f.input;
    normalized = f.normalized;
  } else {
    const Tensor scale = reshape(to(invstd, x.dtype()), p.weight);
    of_input = mul(w ? mul(grad, w) : grad, scale);
    normalized = mul(sub(input, reshape(to(mean, x.dtype()), p.weight)), scale);
  }
  Gradients all;
  if (self.needs_input(0)) all[0] = reshape(of_input, x.shape());
  if (self.needs_input(1))
    all[1] = back_to(sum_to(mul(grad, normalized), p.weight), weight.shape(), weight.dtype());
  if (self.needs_input(2)) all[2] = sum_to(grad, p.weight);
  return all;
}

// What a node of a norm shows, beside input and weight, under torch's names.
struct ShownNorm {
  const char* names = "";  // of all that record_norm() keeps
  Tensor bias;
  Shape normalized;                    // of layer norm
  Tensor running_mean, running_var;    // of batch norm
  std::int64_t n = 0, c = 0, plane = 0, groups = 0;  // of group norm
};
constexpr const char* kShownOfBatches[] = {  // in evaluation, in training
    "input weight - - eps training running_mean running_var - - - - - - result1 result2",
    "input weight result1 result2 eps training running_mean running_var"};
constexpr const char* kShownOfGroups = "input weight result1 result2 eps - - - - - N C HxW group";
constexpr const char* kShownOfLayers = "input weight result1 result2 - - - - bias normalized_shape";

struct NoStatistics {
  DType dtype;
  Device device;
};
SavedValue value_of(const NoStatistics& n, Node&) { return empty({0}, n.dtype, n.device); }

Tensor record_norm(const char* node, const Plan& plan, Tensor out, const Tensor& input,
                   const Tensor& weight, const Tensor& bias, const Tensor& mean,
                   const Tensor& invstd, const ShownNorm& shown) {
  if (!needs_grad(input, weight, bias)) return out;
  const Shape bias_shape = bias ? bias.shape() : Shape();
  const DType bias_dtype = bias ? bias.dtype() : DType::float32;
  const NoStatistics none{mean.dtype(), mean.device()};
  return record(
      node, std::move(out),
      showing(
          shown.names,
          [plan, bias_shape, bias_dtype](Tensor g, Node& self, const Saved& x, const Saved& w,
                                         const Saved& averages, const Saved& deviations) {
            const Tensor &input = x.get(), &weight = w.get();
            const Tensor mean = contiguous(averages.get()), invstd = contiguous(deviations.get());
            if (grad_enabled()) {
              Gradients all = formula_gradients(plan, g, input, weight, mean, invstd, self);
              all[2] = back_to(all[2], bias_shape, bias_dtype);
              return all;
            }
            Wanted out = wanted(self, input, plan.shape.c, plan.inside);
            if (input.numel() == 0 || input.device().is_meta()) {
              for (Tensor* t : {&out.input, &out.weight, &out.bias})
                if (*t && !t->device().is_meta()) zero_(*t);
            } else {
              const Tensor grad = plan.dense(g), dense = plan.dense(input);
              Parameter scale(weight, computed_in(input));
              const std::int64_t count = plan.shape.n * plan.shape.c * plan.shape.plane;
              const View gv = dense_view(grad, input.dtype(), count),
                         xv = dense_view(dense, input.dtype(), count),
                         m = plan.statistics(mean, computed_in(input)),
                         i = plan.statistics(invstd, computed_in(input));
              const View* factor = scale.get(computed_in(input), plan.shape.c);
              const NormKernels& kernels = *backend(input.device()).norm;
              const View *to_input = out.input_view(), *to_weight = out.weight_view(),
                         *to_bias = out.bias_view();
              const Unlocked unlocked(nanoseconds(input),
                                      {&grad, &dense, &scale.tensor(), &mean, &invstd, &out.input,
                                       &out.weight, &out.bias});
              if (plan.batch)
                kernels.batch_norm_backward(plan.shape, gv, xv, factor, m, i, plan.training,
                                            to_input, to_weight, to_bias);
              else
                kernels.group_norm_backward(plan.shape, gv, xv, factor, m, i, to_input, to_weight,
                                            to_bias);
            }
            Gradients all;
            all[0] = out.input;
            if (out.weight) all[1] = back_to(out.weight, weight.shape(), weight.dtype());
            if (out.bias) all[2] = back_to(out.bias, bias_shape, bias_dtype);
            return all;
          },
          Saved(input), Saved(weight), Saved(mean), Saved(invstd), plan.eps, plan.training,
          Saved(shown.running_mean), Saved(shown.running_var), Saved(shown.bias), shown.normalized,
          shown.n, shown.c, shown.plane, shown.groups, none, none),
      input, weight, bias);
}

// Images and volumes.
bool lies_inside(const Tensor& t) { return t.device().is_cpu() && is_channels_last(t); }

// Dense with the channels innermost, though the strides of its sizes of 1 do not show it.
bool is_dense_inside(const Tensor& t) {
  if (!t.device().is_cpu() || t.is_contiguous() || (t.dim() != 4 && t.dim() != 5)) return false;
  const GradMode off(false);
  return permute(t, t.dim() == 5 ? Shape{0, 2, 3, 4, 1} : Shape{0, 2, 3, 1}).is_contiguous();
}

std::int64_t plane_of(const Tensor& t) {
  std::int64_t n = 1;
  for (int d = 2; d < t.dim(); ++d) n = checked_mul(n, t->shape[d]);
  return n;
}

// A running statistic that the kernel may write: itself, or a copy that is written back.
class RunningStatistic {
 public:
  RunningStatistic(const Tensor& t, DType dtype, bool written)
      : original_(written ? t : Tensor()), parameter_(t, dtype) {}
  const View* get(DType dtype, std::int64_t count) { return parameter_.get(dtype, count); }
  const Tensor& tensor() const { return parameter_.tensor(); }
  void finish() {
    if (!original_) return;
    const GradMode off(false);
    if (!parameter_.tensor().is_same(original_)) copy_bits(original_, parameter_.tensor());
    finish_inplace(original_);
  }

 private:
  Tensor original_;
  Parameter parameter_;
};

}  // namespace

Tensor batch_norm(const Tensor& input, const MaybeTensor& weight, const MaybeTensor& bias,
                  const MaybeTensor& running_mean, const MaybeTensor& running_var, bool training,
                  double momentum, double eps) {
  if (input.dim() == 1 && input.numel() == 0) {  // torch checks nothing more of it
    Tensor out = clone(input);
    if (weight) out = mul(out, select(*weight, 0, 0));
    return bias ? add(out, select(*bias, 0, 0)) : out;
  }
  if (input.dim() < 2)
    fail<RuntimeError>("batch_norm(): expected an input of at least 2 dimensions (n, c, ...), got ",
                       input.sizes());
  const std::int64_t n = input->shape[0], c = input->shape[1], plane = plane_of(input);
  const std::pair<const MaybeTensor*, const char*> parameters[] = {{&running_mean, "running_mean"},
                                                                   {&running_var, "running_var"},
                                                                   {&weight, "weight"},
                                                                   {&bias, "bias"}};
  for (const auto& [t, name] : parameters) {
    if (!*t && !training && t != &weight && t != &bias)
      fail<RuntimeError>(name, " must be defined in evaluation mode");
    if (*t && (*t)->numel() != c)
      fail<RuntimeError>(name, " should contain ", c, " elements not ", (*t)->numel(), "\n",
                         describe("input", input), "; ", describe(name, **t));
  }
  if (training && bool(running_mean) != bool(running_var))
    fail<ValueError>("running_mean and running_var must either both be None or neither be None");
  check_floating(input, "batch_norm");
  for (const auto& [t, name] : parameters) check_parameter("batch_norm", input, *t, name);

  const DType dtype = computed_in(input);
  const Device device = input.device();
  const bool inside = lies_inside(input) || is_dense_inside(input);
  Tensor out = empty_image(input.shape(), input.dtype(), device, inside);
  Tensor mean = empty({c}, dtype, device), invstd = empty({c}, dtype, device);
  Plan plan{{n, c, plane, 1}, {n, c, plane}, {0, 2}, {1, c, 1}, eps, true, training, inside};
  if (inside) plan.shape = {checked_mul(n, plane), c, 1};
  const Tensor w = value(weight), b = value(bias);
  if (!device.is_meta() && input.numel() != 0) {  // else nothing moves the running statistics
    const GradMode off(false);
    RunningStatistic moving_mean(value(running_mean), dtype, training);
    RunningStatistic moving_var(value(running_var), dtype, training);
    const Tensor dense = plan.dense(input), to = plan.dense(out);
    Parameter scale(w, dtype), shift(b, dtype);
    if (!training) mean = clone(moving_mean.tensor());
    const View x = dense_view(dense, out.dtype(), out.numel()), y = view_of(to),
               m = dense_view(mean, dtype, c), i = view_of(invstd);
    const View *factor = scale.get(dtype, c), *summand = shift.get(dtype, c),
               *means = moving_mean.get(dtype, c), *variances = moving_var.get(dtype, c);
    const NormKernels& kernels = *backend(device).norm;
    if (training) {
      const Unlocked unlocked(nanoseconds(input),
                              {&dense, &out, &mean, &invstd, &scale.tensor(), &shift.tensor(),
                               &moving_mean.tensor(), &moving_var.tensor()});
      kernels.batch_norm(plan.shape, x, factor, summand, means, variances, momentum, eps, m, i, y);
    } else {
      kernels.inverse_deviation(*variances, eps, i);
      const Unlocked unlocked(nanoseconds(input),
                              {&dense, &out, &mean, &invstd, &scale.tensor(), &shift.tensor()});
      kernels.scale_channels(plan.shape, x, factor, summand, m, i, y);
    }
    moving_mean.finish();
    moving_var.finish();
  }
  ShownNorm shown;
  shown.names = kShownOfBatches[training];
  shown.running_mean = value(running_mean), shown.running_var = value(running_var);
  return record_norm("NativeBatchNormBackward0", plan, std::move(out), input, w, b, mean, invstd,
                     shown);
}

static Tensor grouped(const char* node, const Plan& plan, const Tensor& input, const Tensor& w,
                      const Tensor& b, const ShownNorm& shown);

namespace {

struct RecomputedNorm final : PackedValue {
  Plan plan;
  Saved input, weight, bias;
  RecomputedNorm(const Plan& p, const Tensor& x, const Tensor& w, const Tensor& b)
      : plan(p), input(x), weight(w), bias(b) {}
  Tensor unpack() override {
    const GradMode off(false);
    return grouped("", plan, input.get(), weight.get(), bias.get(), {});
  }
};

}  // namespace

static Tensor grouped(const char* node, const Plan& plan, const Tensor& input, const Tensor& w,
                      const Tensor& b, const ShownNorm& shown) {
  const DType dtype = computed_in(input);
  const Device device = input.device();
  Tensor out = empty_image(input.shape(), input.dtype(), device, plan.inside);
  Shape of_statistics{plan.shape.n, plan.shape.groups};  // as torch's nodes show them
  if (shown.normalized.rank) {
    of_statistics = input.shape();
    for (int d = input.dim() - shown.normalized.rank; d < input.dim(); ++d) of_statistics[d] = 1;
  }
  const Tensor mean = empty(of_statistics, dtype, device),
               invstd = empty(of_statistics, dtype, device);
  if (out.numel() != 0 && !device.is_meta()) {
    const GradMode off(false);
    const Tensor dense = plan.dense(input), to = plan.dense(out);
    Parameter scale(w, dtype), shift(b, dtype);
    const View x = dense_view(dense, out.dtype(), out.numel()), y = view_of(to),
               m = plan.statistics(mean, dtype), i = plan.statistics(invstd, dtype);
    const View *factor = scale.get(dtype, plan.shape.c), *summand = shift.get(dtype, plan.shape.c);
    const NormKernels& kernels = *backend(device).norm;
    const Unlocked unlocked(nanoseconds(input),
                            {&dense, &out, &mean, &invstd, &scale.tensor(), &shift.tensor()});
    kernels.group_norm(plan.shape, x, factor, summand, plan.eps, m, i, y);
  }
  if (!plan.shape.centered) out = in_format_of(input, std::move(out));  // torch's rms norm alone
  out = record_norm(node, plan, std::move(out), input, w, b, mean, invstd, shown);
  if (out->node && offers_recompute(out.numel(), out.dtype()))
    out->node->recompute = Ref<PackedValue>::adopt(new RecomputedNorm(plan, input, w, b));
  return out;
}

Tensor group_norm(const Tensor& input, std::int64_t num_groups, const MaybeTensor& weight,
                  const MaybeTensor& bias, double eps) {
  if (input.dim() < 2)
    fail<RuntimeError>("Expected at least 2 dimensions for input tensor but received ",
                       input.dim());
  const std::int64_t c = input->shape[1];
  if (c == 0) fail<RuntimeError>("Expected number of channels to be greater than 0, got 0");
  if (num_groups <= 0)
    fail<RuntimeError>("Expected num groups to be greater than 0, got ", num_groups);
  if (c % num_groups)
    fail<RuntimeError>(
        "Expected number of channels in input to be divisible by num_groups, but "
        "got input of shape ",
        input.sizes(), " and num_groups=", num_groups);
  const std::pair<const MaybeTensor*, const char*> parameters[] = {{&weight, "weight"},
                                                                   {&bias, "bias"}};
  for (const auto& [t, name] : parameters)
    if (*t && ((*t)->dim() != 1 || (*t)->numel() != c))
      fail<RuntimeError>("Expected ", name,
                         " to be a vector of size equal to the number of channels in input, but "
                         "got ",
                         name, " of shape ", (*t)->sizes(), " and input of shape ", input.sizes());
  check_floating(input, "GroupNormKernelImpl");
  for (const auto& [t, name] : parameters) check_parameter("group_norm", input, *t, name);
  const std::int64_t n = input->shape[0], plane = plane_of(input), part = c / num_groups;
  const bool inside = lies_inside(input);
  const Plan plan{{n, c, plane, num_groups, true, inside},
                  {n, num_groups, part, plane},
                  {2, 3},
                  {1, num_groups, part, 1},
                  eps,
                  false,
                  true,
                  inside};
  ShownNorm shown;
  shown.names = kShownOfGroups;
  shown.n = n, shown.c = c, shown.plane = plane, shown.groups = num_groups;
  return grouped("NativeGroupNormBackward0", plan, input, value(weight), value(bias), shown);
}

namespace {

// `first`: what torch writes before the first of the wanted sizes.
void check_normalized_shape(const Tensor& input, const Shape& normalized_shape,
                            const MaybeTensor& weight, const MaybeTensor& bias, const char* first) {
  if (normalized_shape.rank < 1)
    fail<RuntimeError>(
        "Expected normalized_shape to be at least 1-dimensional, i.e., containing "
        "at least one element, but got normalized_shape = ",
        normalized_shape);
  const std::pair<const MaybeTensor*, const char*> parameters[] = {{&weight, "weight"},
                                                                   {&bias, "bias"}};
  for (const auto& [t, name] : parameters)
    if (*t && !same((*t)->sizes(), normalized_shape))
      fail<RuntimeError>("Expected ", name, " to be of same shape as normalized_shape, but got ",
                         name, " of shape ", (*t)->sizes(),
                         " and normalized_shape = ", normalized_shape);
  const int lead = input.dim() - normalized_shape.rank;
  if (lead < 0 || !same(input.sizes().subspan(std::size_t(lead)), normalized_shape)) {
    std::string wanted = first;
    for (const std::int64_t n : normalized_shape) wanted += std::to_string(n) + ", ";
    wanted.resize(wanted.size() - 2);
    fail<RuntimeError>("Given normalized_shape=", normalized_shape,
                       ", expected input with shape [*", wanted, "], but got input of size",
                       input.sizes());
  }
}

// Rows of the normalised dimensions, each one group.
Plan row_plan(const Tensor& input, const Shape& normalized_shape, double eps, bool centered) {
  const std::int64_t size = numel_of(normalized_shape);
  const int lead = input.dim() - normalized_shape.rank;
  const std::int64_t rows = numel_of(input.sizes().first(std::size_t(lead)));
  return {{rows, size, 1, 1, centered}, {rows, size}, {1}, {1, size}, eps, false, true};
}

}  // namespace

Tensor layer_norm(const Tensor& input, const Shape& normalized_shape, const MaybeTensor& weight,
                  const MaybeTensor& bias, double eps) {
  check_normalized_shape(input, normalized_shape, weight, bias, ", ");
  check_floating(input, "LayerNormKernelImpl");
  check_parameter("layer_norm", input, weight, "weight");
  check_parameter("layer_norm", input, bias, "bias");
  ShownNorm shown;
  shown.names = kShownOfLayers, shown.bias = value(bias), shown.normalized = normalized_shape;
  return grouped("NativeLayerNormBackward0", row_plan(input, normalized_shape, eps, true), input,
                 value(weight), value(bias), shown);
}

// As torch has it, of the numbers' squares, not those of their sizes.
static Tensor complex_rms_norm(const Tensor& input, const Shape& normalized_shape,
                               const MaybeTensor& weight, std::optional<double> eps) {
  Shape dims;
  for (int d = 1; d <= normalized_shape.rank; ++d) dims.push_back(-d);
  const double smallest = input.dtype() == DType::complex128
                              ? std::numeric_limits<double>::epsilon()
                              : double(std::numeric_limits<float>::epsilon());
  const Tensor square = mean(mul(input, input), dims, true);
  const Tensor out = mul(input, apply<Rsqrt>(apply<Add>(square, Scalar(eps.value_or(smallest)))));
  return weight ? mul(out, *weight) : out;
}

Tensor rms_norm(const Tensor& input, const Shape& normalized_shape, const MaybeTensor& weight,
                std::optional<double> eps) {
  check_normalized_shape(input, normalized_shape, weight, std::nullopt, "");
  if (is_complex(input.dtype())) return complex_rms_norm(input, normalized_shape, weight, eps);
  check_floating(input, "rms_norm");
  if (weight) check_same_device("rms_norm", input, "input", *weight, "weight");
  const double smallest = computed_in(input) == DType::float64
                              ? std::numeric_limits<double>::epsilon()
                              : double(std::numeric_limits<float>::epsilon());
  const Plan plan = row_plan(input, normalized_shape, eps.value_or(smallest), false);
  const char* const node = input.device().is_cuda()              ? "FusedRmsNormBackward0"
                           : computed_in(input) == input.dtype() ? "MulBackward0"
                                                                 : "ToCopyBackward0";
  ShownNorm shown;
  shown.names = "input weight";
  return grouped(node, plan, input, value(weight), Tensor(), shown);
}

}  // namespace rushlight
