// Plain arithmetic, until the pointwise family stands here.
#include "core/backend.h"
#include "ops/ops.h"

namespace rushlight {

template <class F>
static Tensor plain(const char* name, const Tensor& a, const Tensor& b, F f) {
  check_same_device(name, a, "input", b, "other");
  const DType d = promote_types(a.dtype(), b.dtype());
  const Tensor x = contiguous(expand(to(a, d), broadcast(a.sizes(), b.sizes())));
  const Tensor y = contiguous(expand(to(b, d), broadcast(a.sizes(), b.sizes())));
  Tensor out = empty(x.sizes(), d, a.device());
  const View v = view_of(out), p = view_of(x), q = view_of(y);
  dispatch_all(d, [&]<class S>(Type<S>) {
    for (std::int64_t i = 0; i < v.numel; ++i)
      store(v.as<S>() + i,
            static_cast<Compute<S>>(f(load(p.as<const S>() + i), load(q.as<const S>() + i))));
  });
  return out;
}

Tensor add(const Tensor& a, const Tensor& b) {
  Tensor out;
  {
    const GradMode off(false);
    out = plain("add", a, b, [](auto x, auto y) { return x + y; });
  }
  return record(
      "AddBackward0", out,
      [p = a.shape(), q = b.shape()](Tensor g) { return Gradients(sum_to(g, p), sum_to(g, q)); }, a,
      b);
}
Tensor sub(const Tensor& a, const Tensor& b) { return add(a, neg(b)); }
Tensor mul(const Tensor& a, const Tensor& b) {
  Tensor out;
  {
    const GradMode off(false);
    out = plain("mul", a, b, [](auto x, auto y) { return x * y; });
  }
  return record(
      "MulBackward0", out,
      [x = Saved(a), y = Saved(b)](Tensor g) {
        return Gradients(sum_to(mul(g, y.get()), x.get().shape()),
                         sum_to(mul(g, x.get()), y.get().shape()));
      },
      a, b);
}
Tensor mul(const Tensor& a, Scalar b) { return mul(a, scalar_tensor(b, a.dtype(), a.device())); }
Tensor div(const Tensor& a, const Tensor& b) {
  return plain("div", a, b, [](auto x, auto y) { return x / y; });
}
Tensor neg(const Tensor& a) { return mul(a, Scalar(-1)); }
void add_into(const Tensor& self, const Tensor& other) {
  const GradMode off(false);
  copy_bits(self, add(self, other));
}

}  // namespace rushlight
