// Attention: checks in torch's words, leading dimensions brought to (batch, heads), the calls of
// the kernels. Note: where torch takes its fused kernel, the result lies in memory
// as the query does and the gradients as (batch, length, heads, features); elsewhere the result is
// contiguous.
#include "ops/attention.h"

#include <cmath>
#include <limits>
#include <memory>

#include "core/backend.h"
#include "core/dense_view.h"
#include "core/generator.h"
#include "core/unlocked.h"
#include "ops/attention_formula.h"
#include "ops/linalg/matmul.h"
#include "ops/pointwise/pointwise.h"

namespace rushlight {
namespace {

using MaybeTensor = std::optional<Tensor>;

void check_kinds(const Tensor& q, const Tensor& k, const Tensor& v, const MaybeTensor& mask) {
  if (q.dtype() != k.dtype() || q.dtype() != v.dtype())
    fail<RuntimeError>(
        "Expected query, key, and value to have the same dtype, but got query.dtype: ",
        c_name(q.dtype()), " key.dtype: ", c_name(k.dtype()),
        " and value.dtype: ", c_name(v.dtype()), " instead.");
  if (q.device().type != k.device().type || q.device().type != v.device().type)
    fail<RuntimeError>(
        "Expected query, key, and value to have the same device type, but got query.device: ",
        q.device(), " key.device: ", k.device(), " and value.device: ", v.device(), " instead.");
  if (q.dim() < 2 || k.dim() < 2 || v.dim() < 2)
    fail<RuntimeError>(
        "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: ",
        q.dim(), " key.dim: ", k.dim(), " and value.dim: ", v.dim(), " instead.");
  check_same_device("scaled_dot_product_attention", q, "query", k, "key");
  check_same_device("scaled_dot_product_attention", q, "query", v, "value");
  if (!is_floating(q.dtype()))
    fail<RuntimeError>("expected scalar type Float but found ", scalar_name(q.dtype()),
                       "\nscaled_dot_product_attention(): ", describe("query", q));
  if (!mask) return;
  const DType m = mask->dtype();
  if (m != DType::boolean && m != DType::float32 && m != q.dtype())
    fail<RuntimeError>(
        "Expected attn_mask dtype to be bool or float or to match query dtype, but got "
        "attn_mask.dtype: ",
        c_name(m), " and  query.dtype: ", c_name(q.dtype()), " instead.");
  if (mask->dim() == 0)
    fail<IndexError>("Dimension specified as -2 but tensor has no dimensions\n",
                     describe("attn_mask", *mask), "; it has two dimensions or more");
  wrap_dim(-2, mask->dim());
  check_same_device("scaled_dot_product_attention", q, "query", *mask, "attn_mask");
}

// Rows that the kernels can read: of neighbouring elements, one after another.
bool has_rows(const Tensor& t) {
  const std::int64_t rows = t->shape[2], columns = t->shape[3];
  return t.numel() > 0 && (columns == 1 || t->strides[3] == 1) &&
         (rows == 1 || (t->strides[2] >= columns && t->strides[2] < 2'000'000'000));
}

// Whether torch's fused kernel for the CPU takes such a call.
bool keeps_query_layout(const Tensor& q, const Tensor& k, const Tensor& v, const MaybeTensor& mask,
                        double dropout_p, bool gqa) {
  if (q.dim() != 4 || k.dim() != 4 || v.dim() != 4 || dropout_p != 0) return false;
  if (mask && mask->requires_grad()) return false;
  const bool heads = gqa || (q->shape[1] == k->shape[1] && q->shape[1] == v->shape[1]);
  return heads && q->shape[0] == k->shape[0] && q->shape[0] == v->shape[0] &&
         q->shape[3] == v->shape[3] && q.numel() > 0 && k.numel() > 0 && q->strides[3] == 1 &&
         k->strides[3] == 1 && v->strides[3] == 1;
}

Shape leading(const Tensor& t, int left_out) {
  return Shape(t.sizes().first(std::size_t(t.dim() - left_out)));
}
std::int64_t last(const Shape& lead) { return lead.rank ? lead[lead.rank - 1] : 1; }

// t as (batch, heads, ...): its leading dimensions expanded to `lead`, all but the last as one.
Tensor with_heads(const Tensor& t, const Shape& lead) {
  Shape whole = lead;
  whole.push_back(t.size(-2));
  whole.push_back(t.size(-1));
  const Tensor wide = same(t.sizes(), whole) ? t : expand(t, whole);
  if (wide.dim() == 4) return wide;
  std::int64_t batch = 1;
  for (int d = 0; d + 1 < lead.rank; ++d) batch = checked_mul(batch, lead[d]);
  return reshape(wide, {batch, last(lead), t.size(-2), t.size(-1)});
}

// A mask that is broadcast in the kernel; only what does not fit four dimensions is expanded.
Tensor mask_with_heads(const Tensor& mask, const Shape& lead, std::int64_t l, std::int64_t s) {
  Shape whole = lead;
  whole.push_back(l);
  whole.push_back(s);
  if (!can_broadcast_to(mask.sizes(), whole))
    fail<RuntimeError>("output with shape ", whole, " doesn't match the broadcast shape ",
                       broadcast(whole, mask.sizes()));
  return lead.rank > 2 && mask.dim() > 3 ? with_heads(mask, lead) : mask;
}

Tensor empty_like_query(const Tensor& q, const AttentionShape& s, DType dtype, bool fused) {
  if (fused) {
    const Tensor out = empty_like(q, dtype);
    if (has_rows(out)) return out;
  }
  return empty({s.batch, s.heads, s.l, s.v}, dtype, q.device());
}
Tensor empty_gradient(std::int64_t batch, std::int64_t heads, std::int64_t length,
                      std::int64_t features, DType dtype, Device device) {
  return transpose(empty({batch, length, heads, features}, dtype, device), 1, 2);
}

View checked_view(const Tensor& t, DType dtype, Sizes sizes) {
  const View v = view_of(t);
  if (v.dtype != dtype || !same(t.sizes(), sizes) || !has_rows(t)) fail_changed(t);
  return v;
}

// What the kernels are given for one call, made ready without history.
struct Ready {
  Tensor q, k, v, mask;
  View q_view, k_view, v_view, mask_view;
  const View* mask_or_null;

  // dtype: of the mask; `stored` of q, k and v.
  Ready(const AttentionShape& s, DType dtype, DType stored, const Tensor& query, const Tensor& key,
        const Tensor& value, const Tensor& m) {
    const auto rows = [&](const Tensor& t) {
      const Tensor cast = to(detach(t), stored);  // which no other thread gives other data
      return has_rows(cast) ? cast : contiguous(cast);
    };
    q = rows(query);
    k = rows(key);
    v = rows(value);
    if (m) mask = m.dtype() == DType::boolean ? detach(m) : to(detach(m), dtype);
    const auto view = [&](const Tensor& t, std::int64_t heads, std::int64_t l, std::int64_t n) {
      // No features: nothing is read.
      return n == 0 ? view_of(t) : checked_view(t, stored, Shape{s.batch, heads, l, n});
    };
    q_view = view(q, s.heads, s.l, s.e);
    k_view = view(k, s.kv_heads, s.s, s.e);
    v_view = view(v, s.kv_heads, s.s, s.v);
    if (mask) {
      mask_view = view_of(mask, Shape{s.batch, s.heads, s.l, s.s});
      if (mask_view.dtype != DType::boolean && mask_view.dtype != dtype) fail_changed(mask);
    }
    mask_or_null = mask ? &mask_view : nullptr;
  }
};

double nanoseconds(const AttentionShape& s) {
  return double(s.batch * s.heads) * double(s.l) * double(s.s) * double(s.e + s.v) * 0.05;
}

// The noise of a whole matrix of weights, from the state in which forward found the generator.
Tensor whole_noise(const AttentionShape& s, RandomState random, DType dtype, Device device) {
  const GradMode off(false);
  const Tensor noise = empty({s.batch, s.heads, s.l, s.s}, dtype, device);
  if (s.keep > 0)
    backend(device).random->bernoulli(view_of(noise), s.keep, random);
  else
    zero_(noise);
  return s.keep > 0 ? mul(noise, Scalar(1 / s.keep)) : noise;
}

Gradients backward(const AttentionShape& s, const Tensor& g, const Tensor& q, const Tensor& k,
                   const Tensor& v, const Tensor& mask, const Tensor& out, const Tensor& lse,
                   const RandomState* before, Node& self) {
  const DType dtype = computed_in(q);
  const Device device = q.device();
  Gradients all;
  const bool wants_mask = mask && self.needs_input(3);
  if (self.needs_input(0)) all[0] = empty_gradient(s.batch, s.heads, s.l, s.e, dtype, device);
  if (self.needs_input(1)) all[1] = empty_gradient(s.batch, s.kv_heads, s.s, s.e, dtype, device);
  if (self.needs_input(2)) all[2] = empty_gradient(s.batch, s.kv_heads, s.s, s.v, dtype, device);
  if (wants_mask) all[3] = zeros(mask.shape(), dtype, device);
  if (device.is_meta()) return all;
  if (out.numel() == 0 || s.s == 0) {
    for (std::size_t i = 0; i < 3; ++i)
      if (all[i]) zero_(all[i]);
  } else {
    Tensor grad = to(g, dtype);
    if (!has_rows(grad)) grad = contiguous(grad);
    const Ready ready(s, dtype, dtype, q, k, v, mask);
    const Shape size{s.batch, s.heads, s.l, s.v};
    const View gv = checked_view(grad, dtype, size), ov = checked_view(out, dtype, size),
               lv = dense_view(lse, dtype, s.batch * s.heads * s.l);
    View views[4];
    for (std::size_t i = 0; i < 3; ++i)
      if (all[i]) views[i] = view_of(all[i]);
    if (wants_mask) views[3] = view_of(all[3], Shape{s.batch, s.heads, s.l, s.s});
    const auto wanted = [&](std::size_t i) { return all[i] ? &views[i] : nullptr; };
    const AttentionOperands operands = {ready.q_view,       ready.k_view, ready.v_view,
                                        ready.mask_or_null, ov,           lv};
    const AttentionKernels& kernels = *backend(device).attention;
    std::optional<RandomState> random;
    if (before) random = *before;
    const Unlocked unlocked(2 * nanoseconds(s),
                            {&ready.q, &ready.k, &ready.v, &ready.mask, &grad, &out});
    kernels.attention_backward(s, operands, gv, {wanted(0), wanted(1), wanted(2), wanted(3)},
                               random ? &*random : nullptr);
  }
  for (std::size_t i = 0; i < 3; ++i)
    if (all[i]) all[i] = to(all[i], q.dtype());
  if (wants_mask) all[3] = to(all[3], mask.dtype());
  return all;
}

// Operands of rank 4, kernels/attention.h's shapes.
Tensor attend(AttentionShape s, const Tensor& q, const Tensor& k, const Tensor& v,
              const Tensor& mask, bool keeps_layout) {
  const DType dtype = computed_in(q);
  const Device device = q.device();
  s.rounded = q.dtype() == DType::bfloat16;
  // What the kernels multiply cannot overflow, nor the sizes passed to BLAS.
  checked_mul(checked_mul(checked_mul(s.batch, s.heads), checked_mul(s.l, s.s)), s.e + s.v + 64);
  if (std::max(s.e, s.v) > 2'000'000'000)
    fail<RuntimeError>("scaled_dot_product_attention(): at most 2000000000 features, got ",
                       std::max(s.e, s.v));
  Tensor out, lse, unrounded;
  std::shared_ptr<const RandomState> before;
  const auto takes_bfloat16 =
      device.is_meta() ? nullptr : backend(device).attention->takes_bfloat16;
  const bool in_bfloat16 = s.rounded && s.s > 0 && takes_bfloat16 && takes_bfloat16(s);
  const bool rounds = in_bfloat16 && !needs_grad(q, k, v, mask);
  {
    const GradMode off(false);
    out = empty_like_query(q, s, rounds ? q.dtype() : dtype, keeps_layout);
    if (s.s == 0 && !device.is_meta()) {
      zero_(out);
    } else if (out.numel() != 0 && !device.is_meta()) {
      lse = empty({s.batch, s.heads, s.l}, dtype, device);
      const AttentionKernels& kernels = *backend(device).attention;
      const Ready ready(s, dtype, in_bfloat16 ? DType::bfloat16 : dtype, q, k, v, mask);
      const View ov = view_of(out), lv = view_of(lse);
      const AttentionOperands operands = {ready.q_view,       ready.k_view, ready.v_view,
                                          ready.mask_or_null, ov,           lv};
      const double cost = nanoseconds(s);
      if (s.keep == 1) {
        const Unlocked unlocked(cost, {&ready.q, &ready.k, &ready.v, &ready.mask, &out, &lse});
        kernels.attention(s, operands, nullptr);
      } else {
        Generator& g = default_generator(device);
        const Unlocked unlocked(cost, {&ready.q, &ready.k, &ready.v, &ready.mask, &out, &lse});
        const GeneratorLock lock(g);
        before = std::make_shared<const RandomState>(g.state);
        RandomState copy = g.state;  // where nothing is kept, torch draws nothing
        kernels.attention(s, operands, s.keep > 0 ? &g.state : &copy);
      }
    }
    if (out.dtype() != q.dtype()) {  // the gradients of 16-bit inputs need the unrounded output
      unrounded = out;
      out = to(out, q.dtype());
    }
  }
  return record(
      device.is_cuda() ? "ScaledDotProductEfficientAttentionBackward0"
                       : "ScaledDotProductFlashAttentionForCpuBackward0",
      out,
      [s, q = Saved(q), k = Saved(k), v = Saved(v), mask = Saved(mask), out = SavedOutput(out), lse,
       unrounded, before](Tensor g, Node& self) {
        if (!grad_enabled())
          return backward(s, g, q.get(), k.get(), v.get(), mask.get(),
                          unrounded ? unrounded : out.get(self), lse, before.get(), self);
        const Tensor& query = q.get();
        const DType dtype = computed_in(query);
        Tensor alive, noise;
        {
          const GradMode off(false);
          alive =
              lse ? unsqueeze(apply<Ne>(lse, Scalar(std::numeric_limits<double>::infinity())), 3)
                  : full({s.batch, s.heads, s.l, 1}, Scalar(true), DType::boolean, query.device());
          if (before) noise = whole_noise(s, *before, dtype, query.device());
        }
        attention::FormulaGradients f =
            attention::gradients({g, query, k.get(), v.get(), mask.get(), alive, noise, s});
        Gradients all;
        const Tensor* found[] = {&f.q, &f.k, &f.v, &f.mask};
        for (std::size_t i = 0; i < 4; ++i)
          if (self.needs_input(i)) all[i] = *found[i];
        return all;
      },
      q, k, v, mask);
}

}  // namespace

Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                    const MaybeTensor& attn_mask, double dropout_p, bool is_causal,
                                    std::optional<double> scale, bool enable_gqa) {
  check_kinds(query, key, value, attn_mask);
  if (!(dropout_p >= 0 && dropout_p <= 1))
    fail<RuntimeError>("dropout probability has to be between 0 and 1, but got ", dropout_p);
  const bool fused = keeps_query_layout(query, key, value, attn_mask, dropout_p, enable_gqa);
  if (is_causal && attn_mask && !fused)
    fail<RuntimeError>(
        "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True");
  Tensor k = key, v = value;
  if (enable_gqa) {
    const std::int64_t heads = query.size(-3), of_key = k.size(-3), of_value = v.size(-3);
    if (of_key == 0 || of_value == 0 ? heads != 0 : heads % of_key || heads % of_value)
      fail<RuntimeError>("Number of heads in key and value must divide the number of heads in \n",
                         describe("query", query), "; ", describe("key", k), "; ",
                         describe("value", v));
    if (of_key != of_value) {
      k = attention::repeat_heads(k, of_key ? heads / of_key : 1);  // none stay none
      v = attention::repeat_heads(v, of_value ? heads / of_value : 1);
    }
  }
  const bool grouped = enable_gqa && k.size(-3) != query.size(-3);
  const int tail = grouped ? 3 : 2;
  Shape lead = broadcast(broadcast(leading(query, tail), leading(k, tail)), leading(v, tail));
  Shape shared = lead;
  if (grouped) {
    lead.push_back(query.size(-3));
    shared.push_back(k.size(-3));
  }
  const std::int64_t l = query.size(-2), s = k.size(-2), e = query.size(-1);
  Shape weights = lead, result = lead;
  for (const std::int64_t n : {l, s}) weights.push_back(n);
  for (const std::int64_t n : {l, v.size(-1)}) result.push_back(n);
  // The products that do not fit say so before anything is computed.
  if (k.size(-1) != e) matmul(query, transpose(k, -2, -1));
  if (v.size(-2) != s) matmul(expand(scalar_tensor(0, v.dtype(), v.device()), weights), v);
  const Tensor mask = attn_mask ? mask_with_heads(*attn_mask, lead, l, s) : Tensor();
  const Tensor q4 = with_heads(query, lead), k4 = with_heads(k, shared), v4 = with_heads(v, shared);
  // Without features all logits are 0.
  const double factor = scale ? *scale : 1 / std::sqrt(double(std::max<std::int64_t>(e, 1)));
  const AttentionShape shape = {q4->shape[0], q4->shape[1], k4->shape[1], l, s, e, v.size(-1),
                                factor,       is_causal,    1 - dropout_p};
  const Tensor out = attend(shape, q4, k4, v4, mask, fused);
  return same(out.sizes(), result) ? out : reshape(out, result);
}

}  // namespace rushlight
