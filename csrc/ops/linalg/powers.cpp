// Powers, exponentials and chains of products: what is written with products.
#include <cmath>
#include <limits>

#include "ops/linalg/columns.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"
#include "ops/value.h"

namespace rushlight {

Tensor linalg_matrix_power(const Tensor& a, std::int64_t n) {
  constexpr const char* name = "linalg.matrix_power";
  if (a.dim() < 2)
    fail<RuntimeError>(name, ": The input tensor A must have at least 2 dimensions.");
  if (a.size(-1) != a.size(-2))
    fail<RuntimeError>(name, ": A must be batches of square matrices, but they are ", a.size(-2),
                       " by ", a.size(-1), " matrices");
  if (n == 0) {
    Tensor out = empty(a.shape(), a.dtype(), a.device());
    if (out.numel() && !out.device().is_meta())
      copy_bits(out, eye(a.size(-2), a.size(-1), {a.dtype(), a.device()}));
    return record(
        "CopyBackwards", std::move(out), [](Tensor g) { return Gradients(zeros_like(g)); }, a);
  }
  if (n == 1) return clone(a);
  Tensor square = n < 0 ? linalg_inv("linalg.inv", a) : a, out;
  for (std::uint64_t left = n < 0 ? 0 - std::uint64_t(n) : std::uint64_t(n);;) {
    if (left & 1) out = out ? matmul(out, square) : square;
    left >>= 1;
    if (left == 0) return out;
    square = matmul(square, square);
  }
}

namespace {

void check_chain(const std::vector<Tensor>& tensors) {
  constexpr const char* name = "multi_dot(): ";
  const std::size_t count = tensors.size();
  if (count < 2) fail<RuntimeError>(name, "expected at least 2 tensors but got ", count);
  const Tensor& first = tensors[0];
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor& t = tensors[i];
    const bool ends = i == 0 || i == count - 1;
    if (t.dim() != 2 && !(ends && t.dim() == 1))
      fail<RuntimeError>(name, "tensor ", i, " must be ", ends ? "1D or 2D" : "2D", " but got ",
                         t.dim(), "D");
    if (t.dtype() != first.dtype())
      fail<RuntimeError>(name, "all tensors must have be the same dtype but tensor 0 is ",
                         scalar_name(first.dtype()), " and tensor ", i, " ",
                         scalar_name(t.dtype()));
    if (t.device() != first.device())
      fail<RuntimeError>(name, "all tensors must be on the same device but tensor 0 is on ",
                         first.device(), " and tensor ", i, " on ", t.device());
    if (i == 0) continue;
    const Tensor& before = tensors[i - 1];
    if (before.size(-1) != t.size(0))
      fail<RuntimeError>(name, "tensors ", i - 1, " and ", i, " with shapes ", before.sizes(),
                         " and ", t.sizes(), " cannot be multiplied");
  }
}

// Where to split each part [first, last] of a chain, by the classic dynamic programme.
class Splits {
 public:
  explicit Splits(const std::vector<Tensor>& chain)
      : count_(chain.size()), cost_(count_ * count_), at_(count_ * count_) {
    const auto columns = [&](std::size_t i) { return double(chain[i].size(1)); };
    for (std::size_t length = 1; length < count_; ++length)
      for (std::size_t i = 0, j = length; j < count_; ++i, ++j) {
        double& best = cost_[i * count_ + j] = std::numeric_limits<double>::infinity();
        for (std::size_t k = i; k < j; ++k) {
          const double cost = cost_[i * count_ + k] + cost_[(k + 1) * count_ + j] +
                              double(chain[i].size(0)) * columns(k) * columns(j);
          if (cost < best) best = cost, at_[i * count_ + j] = k;
        }
      }
  }
  Tensor product(const std::vector<Tensor>& chain, std::size_t first, std::size_t last) const {
    if (first == last) return chain[first];
    const std::size_t at = at_[first * count_ + last];
    return mm(product(chain, first, at), product(chain, at + 1, last));
  }

 private:
  std::size_t count_;
  std::vector<double> cost_;
  std::vector<std::size_t> at_;
};

}  // namespace

Tensor linalg_multi_dot(const std::vector<Tensor>& tensors) {
  check_chain(tensors);
  std::vector<Tensor> chain = tensors;
  const bool row = chain.front().dim() == 1, column = chain.back().dim() == 1;
  if (row) chain.front() = unsqueeze(chain.front(), 0);
  if (column) chain.back() = unsqueeze(chain.back(), -1);
  Tensor out;
  if (chain.size() > 200) {  // the programme takes count^3 steps
    out = chain[0];
    for (std::size_t i = 1; i < chain.size(); ++i) out = mm(out, chain[i]);
  } else {
    out = Splits(chain).product(chain, 0, chain.size() - 1);
  }
  if (row) out = squeeze(out, Shape{0});
  if (column) out = squeeze(out, Shape{-1});
  return out;
}

// Scaling, Pade's approximant of degree 13, squaring (Higham 2005), in float64.
Tensor linalg_matrix_exp(const Tensor& a) {
  if (is_reduced(a.dtype())) return to(linalg_matrix_exp(to(a, DType::float32)), a.dtype());
  linalg_check("linalg.matrix_exp", a, true);
  if (!a.numel() || a.device().is_meta()) return clone(a);
  const Tensor wide = to(a, is_complex(a.dtype()) ? DType::complex128 : DType::float64);
  // How often each matrix is halved: not where its norm is no number, which nothing mends.
  Tensor halvings;
  double most = 0;
  {
    const GradMode off(false);
    const Value norm = amax(sum(abs(Value(wide)).tensor(), Shape{-2}, false), Shape{-1}, false);
    const Value wanted = apply_to_values<Ceil>(apply_to_values<Log2>(norm / Value(5.4)));
    const Value is_sound = (wanted > Value(0.0)) & (wanted < Value(1100.0));
    halvings = unsqueeze(unsqueeze(where(is_sound, wanted, Value(0.0)).tensor(), -1), -1);
    most = item(max(halvings)).as_double();
  }
  const auto dot = [](const Value& l, const Value& r) {
    return Value(matmul(l.tensor(), r.tensor()));
  };
  const auto times = [](double by, const Value& v) { return Value(by) * v; };
  const Value x = Value(wide) * pow(Value(2.0), -Value(halvings));
  const Value one = eye(a.size(-1), a.size(-1), {DType::float64, a.device()});
  const Value x2 = dot(x, x), x4 = dot(x2, x2), x6 = dot(x4, x2);
  const Value odd = dot(x, dot(x6, x6 + times(16380.0, x4) + times(40840800.0, x2)) +
                               times(33522128640.0, x6) + times(10559470521600.0, x4) +
                               times(1187353796428800.0, x2) + times(32382376266240000.0, one));
  const Value even = dot(x6, times(182.0, x6) + times(960960.0, x4) + times(1323241920.0, x2)) +
                     times(670442572800.0, x6) + times(129060195264000.0, x4) +
                     times(7771770303897600.0, x2) + times(64764752532480000.0, one);
  Value out =
      std::get<0>(linalg_solve("linalg.matrix_exp", (even - odd).tensor(), (even + odd).tensor()));
  for (double done = 0; done < most; ++done) {
    const Value is_left = Value(halvings) > Value(done);
    const Value base = where(is_left, out, Value(0.0));  // others would overflow
    out = where(is_left, dot(base, base), out);
  }
  return contiguous(to(out.tensor(), a.dtype()));
}

}  // namespace rushlight
