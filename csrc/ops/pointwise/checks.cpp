// Promotion and refusals of pointwise ops, in torch's words.
#include "checks.h"

namespace rushlight {

void (*warn)(const std::string&) = nullptr;

// ---- promotion

namespace {

// Dimensioned tensors decide, then 0-d tensors, then scalars: a weaker one only where it is of a
// higher kind (bool, integer, floating).
struct Promotion {
  DType kinds[3] = {};
  bool seen[3] = {};
  void add(int strength, DType d) {
    kinds[strength] = seen[strength] ? promote_types(kinds[strength], d) : d;
    seen[strength] = true;
  }
  void add(const Input& i) {
    if (!i.tensor)
      add(2, dtype_of(i.scalar));
    else if ((*i.tensor)->number)
      add(2, complex_of(default_dtype()));
    else
      add(i.tensor->dim() == 0 ? 1 : 0, i.tensor->dtype());
  }
  DType result() const {
    DType d = DType::boolean;
    bool any = false;
    for (int strength = 2; strength >= 0; --strength) {
      if (!seen[strength]) continue;
      const DType stronger = kinds[strength];
      if (!any || is_complex(stronger))
        d = stronger;
      else if (is_complex(d) && is_floating(stronger))
        d = complex_of(stronger);
      else if (!is_floating(stronger) &&
               (stronger == DType::boolean || is_floating(d) || is_complex(d)))
        d = promote_types(stronger, d);
      else
        d = stronger;
      any = true;
    }
    return d;
  }
};

}  // namespace

DType result_type(std::span<const Input> inputs) {
  Promotion p;
  for (const Input& i : inputs) p.add(i);
  return p.result();
}

static bool is_bool(const Input& i) {
  return i.tensor ? i.tensor->dtype() == DType::boolean : i.scalar.kind == Scalar::Kind::boolean;
}

// Without the "special_" of torch.special's functions.
static std::string_view plain_name(const PointwiseOp& op) {
  constexpr std::string_view special = "special_";
  return op.name.starts_with(special) ? op.name.substr(special.size()) : op.name;
}

// The ops that do not promote.
static void check_same_dtypes(const PointwiseOp& op, const Input* in) {
  const DType d = in[0].tensor ? in[0].tensor->dtype() : dtype_of(in[0].scalar);
  const auto differs = [&](const Input& i) { return i.tensor && i.tensor->dtype() != d; };
  if (op.index == pointwise_op<Heaviside>().index && differs(in[1]))
    fail<RuntimeError>(
        "heaviside is not yet implemented for tensors with different dtypes.\nheaviside(): input: ",
        d, ", values: ", in[1].tensor->dtype(),
        "; convert one, for example values.to(input.dtype)");
  if (op.index != pointwise_op<Lerp>().index) return;
  if (is_integral(d) && !in[2].tensor)
    fail<NotImplementedError>("\"lerp_kernel_scalar\" not implemented for '", scalar_name(d),
                              "'\nlerp(): convert the input first, for example with .float()");
  const char* const names[] = {"input", "end", "weight"};
  for (int i = 1; i < 3; ++i)
    if (differs(in[i]) && (i == 1 || in[i].tensor->dim()))
      fail<RuntimeError>("expected dtype ", c_name(d), " for `", names[i], "` but got dtype ",
                         c_name(in[i].tensor->dtype()), "\nlerp(): convert it, for example ",
                         names[i], ".to(input.dtype)");
}

void check_difference(const PointwiseOp& op, const Input* in, DType common) {
  if (op.index != pointwise_op<Sub>().index && op.index != pointwise_op<Rsub>().index) return;
  const bool a = is_bool(in[0]), b = is_bool(in[1]);
  if (a && b && common == DType::boolean)
    fail<RuntimeError>(
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
        "`logical_xor()` operator instead.");
  if (a || b)
    fail<RuntimeError>(
        "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
        "to invert a mask, use the `~` or `logical_not()` operator instead.");
}

DType common_dtype(const PointwiseOp& op, const Input* in, bool on_cuda) {
  Promotion p;
  for (int i = 0; i < op.inputs; ++i)
    if (!(op.bool_inputs >> i & 1)) p.add(in[i]);
  DType d = p.result();
  check_difference(op, in, d);
  check_same_dtypes(op, in);
  if (op.promotes_bool && d == DType::boolean) d = DType::int64;
  if ((op.takes == Takes::converted || op.takes == Takes::wide) && is_integral(d))
    d = default_dtype();
  bool taken = true;
  switch (op.takes) {
    case Takes::floating:
    case Takes::converted: taken = is_floating(d); break;
    case Takes::wide: taken = d == DType::float32 || d == DType::float64; break;
    case Takes::numeric: taken = d != DType::boolean; break;
    case Takes::anything: break;
    case Takes::integers: taken = is_integral(d); break;
    case Takes::shifts: taken = is_integral(d) && d != DType::boolean; break;
  }
  if (!taken) {
    if (op.refusal) fail<RuntimeError>(op.refusal);
    fail<NotImplementedError>(
        "\"", op.kernel ? op.kernel : text(plain_name(op), on_cuda ? "_cuda" : "_cpu"),
        "\" not implemented for '", scalar_name(d), "'\n", op.name, "(): convert the input first, ",
        is_floating(d) && op.takes != Takes::wide ? "for example with .long()"
                                                  : "for example with .float()");
  }
  return d;
}

// Of integers torch takes the bounds as int64 first.
static void check_bounds(const Scalar* bounds, DType common) {
  const char* const names[] = {"min_val", "max_val"};
  for (int i = 0; i < 2; ++i) check_fits("hardtanh", names[i], bounds[i], DType::int64);
  for (int i = 0; i < 2; ++i)
    if (common == DType::uint8 && bounds[i].as_int() < 0)
      fail<RuntimeError>(
          "cannot do hardtanh on an unsigned type with negative limits\nhardtanh(): ", names[i],
          " is ", bounds[i].as_int(), ": convert the input first, for example with .float()");
  for (int i = 0; i < 2; ++i) check_fits("hardtanh", names[i], bounds[i].as_int(), common);
}

static void check_width(double width, DType common) {
  const double most = common == DType::float64    ? std::numeric_limits<double>::max()
                      : common == DType::float16  ? 65504
                      : common == DType::bfloat16 ? 0x1.fep127
                                                  : std::numeric_limits<float>::max();
  if (!(width >= 0 && width <= most))
    fail<RuntimeError>("lambda must be in range [0, ", most, "] for input dtype ",
                       scalar_name(common), ", but found ", width);
}

void check_parameters(const PointwiseOp& op, const Scalar* parameters, DType common) {
  if (op.index == pointwise_op<Softshrink>().index && is_computed_floating(common))
    check_width(parameters[0].as_double(), common);
  if (is_integral(common) && op.index == pointwise_op<Hardtanh>().index)
    return check_bounds(parameters, common);
  for (int i = 0; i < op.parameters; ++i) {
    const Scalar& s = parameters[i];
    if (op.index == pointwise_op<Celu>().index && s.as_double() == 0)
      fail<RuntimeError>("ZeroDivisionError: alpha cannot be 0 for CELU");
    if (op.gradients != 2) continue;  // alpha scales one of two inputs
    if (s.kind == Scalar::Kind::boolean && common != DType::boolean)
      fail<RuntimeError>("Boolean alpha only supported for Boolean results.");
    if (s.is_floating() && is_integral(common))
      fail<RuntimeError>(
          "For integral input tensors, argument alpha must not be a floating point number.");
  }
  if (is_integral(common))
    for (int i = 0; i < op.parameters; ++i)
      check_fits(op.name, op.gradients == 2 ? "alpha" : "a number", parameters[i], common);
}

// ---- devices

Device common_device(const PointwiseOp& op, const Input* in, Into into) {
  const Tensor* first = into.kind == Into::fresh ? nullptr : into.target;
  for (int i = 0; i < op.inputs; ++i) {
    const Tensor* t = in[i].tensor;
    if (!t || (t->dim() == 0 && t->device().is_cpu())) continue;
    if (first && first->device() != t->device())
      fail_devices(std::string(op.name).c_str(), *first, nullptr, *t, nullptr);
    if (!first) first = t;
  }
  if (first) return first->device();
  for (int i = 0; i < op.inputs; ++i)
    if (in[i].tensor) return in[i].tensor->device();
  return kCpu;
}

// ---- targets

void check_target(const PointwiseOp& op, Into into, const Shape& shape, DType result,
                  bool records) {
  const Tensor& out = *into.target;
  const std::string name(op.name);
  if (into.kind == Into::out && grad_enabled() && (records || wants_grad(out)))
    fail<RuntimeError>(
        name,
        "(): functions with out=... arguments don't support automatic differentiation, but "
        "one of the arguments requires grad.");
  if (into.kind != Into::out) {
    check_inplace(out, records, name.c_str());
    check_no_internal_overlap(out, name.c_str());
    if (!(out.shape() == shape))
      fail<RuntimeError>("output with shape ", out.sizes(), " doesn't match the broadcast shape ",
                         shape, "\n", name, "_(): a result that is larger needs a new tensor: use ",
                         name, "() without the underscore");
  }
  if (into.kind == Into::out && op.exact && out.dtype() != result)
    fail<RuntimeError>("Found dtype ", scalar_name(out.dtype()), " but expected ",
                       scalar_name(result), "\n", op.name, "(): out has to have the dtype of the ",
                       "result\n", describe("out", out));
  if (!can_cast(result, out.dtype()))
    fail<RuntimeError>("result type ", scalar_name(result),
                       " can't be cast to the desired output type ", scalar_name(out.dtype()), "\n",
                       name, "(): ", describe(into.kind == Into::out ? "out" : "self", out));
}

// `fresh`: of the new shape, on the memory that `out` gets where its own is too small.
static void resize_to(const Tensor& out, const Tensor& fresh) {
  if (out.numel() != 0 && warn)
    warn(text("An output with one or more elements was resized since it had shape ", out.sizes(),
              ", which does not match the required output shape ", fresh.sizes(),
              ". This behavior is deprecated, and in a future PyTorch release outputs will not be "
              "resized unless they have zero elements. You can explicitly reuse an out tensor t by "
              "resizing it, inplace, to zero elements with t.resize_(0)."));
  Body& b = *out.body();
  b.shape = fresh.shape();
  b.strides = fresh->strides;
  b.numel = fresh->numel;
  b.contiguous = fresh->contiguous;
  const std::size_t needed = (std::size_t(b.offset) + std::size_t(b.numel)) * item_size(b.dtype);
  if (needed <= b.storage->bytes) return;
  b.offset = 0;
  b.storage = fresh->storage;
}

void resize_output(const Tensor& out, const Shape& shape) {
  if (!(out.shape() == shape)) resize_to(out, empty(shape, out.dtype(), out.device()));
}
void resize_output(const Tensor& out, const Tensor& like) {
  if (!(out.shape() == like.shape())) resize_to(out, empty_like(like, out.dtype()));
}

namespace {

enum class Overlap { none, same, partial, unknown };

Overlap overlap_of(const Tensor& out, const Tensor& in) {
  if (out->storage.get() != in->storage.get() || !out.numel() || !in.numel()) return Overlap::none;
  if (out->offset == in->offset && out.dtype() == in.dtype() && out.shape() == in.shape() &&
      same(out.strides(), in.strides()))
    return Overlap::same;
  auto bytes = [](const Tensor& t) {
    const Extent e = extent_of(t.sizes(), t->strides.data());
    const auto item = std::int64_t(item_size(t.dtype()));
    return Extent{(t.offset() + e.low) * item, (t.offset() + e.high + 1) * item};
  };
  const Extent a = bytes(out), b = bytes(in);
  if (a.high <= b.low || b.high <= a.low) return Overlap::none;
  auto dense = [](const Tensor& t, const Extent& e) {
    return e.high - e.low == t.numel() * std::int64_t(item_size(t.dtype()));
  };
  return dense(out, a) && dense(in, b) ? Overlap::partial : Overlap::unknown;
}

[[noreturn]] void fail_overlap(const Tensor& out, const Tensor& in) {
  fail<RuntimeError>(
      "unsupported operation: some elements of the input tensor and the written-to tensor refer "
      "to a single memory location. Please clone() the tensor before performing the operation.\n",
      describe("written to", out), "; ", describe("read", in));
}

}  // namespace

bool needs_copy(const Tensor& out, const Tensor& in) {
  const Overlap o = overlap_of(out, in);
  if (o == Overlap::partial) fail_overlap(out, in);
  return o == Overlap::unknown;
}

void check_apart(const Tensor& out, const Tensor& in) {
  if (const Overlap o = overlap_of(out, in); o == Overlap::same || o == Overlap::partial)
    fail_overlap(out, in);
}

void fail_zero_division(const PointwiseOp& op, std::int64_t position) {
  fail<RuntimeError>("ZeroDivisionError\n", op.name, "(): the integer divisor is 0 at element ",
                     position, "; nothing was written");
}

}  // namespace rushlight
