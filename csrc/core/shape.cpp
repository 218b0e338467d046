// Checked size arithmetic, broadcasting and the geometry of views.
#include "core/shape.h"

namespace rushlight {

void Shape::too_many(std::size_t rank) {
  fail<RuntimeError>("tensors here have at most ", kMaxRank, " dimensions, but ", rank,
                     " were asked for");
}

std::ostream& operator<<(std::ostream& s, Sizes sizes) {
  s << '[';
  for (std::size_t i = 0; i < sizes.size(); ++i) s << (i ? ", " : "") << sizes[i];
  return s << ']';
}

void fail_overflow(std::int64_t a, const char* sign, std::int64_t b) {
  fail<RuntimeError>("size calculation overflowed: ", a, sign, b, " does not fit 64 bits");
}

std::int64_t numel_of(Sizes sizes) {
  std::int64_t n = 1;
  for (std::int64_t s : sizes) {
    if (s < 0) [[unlikely]]
      fail<RuntimeError>("Trying to create tensor with negative dimension ", s, ": ", sizes);
    n = checked_mul(n, s);
  }
  return n;
}
std::int64_t bytes_of(Sizes sizes, DType dtype) {
  return checked_mul(numel_of(sizes), std::int64_t(item_size(dtype)));
}

std::int64_t contiguous_strides(Sizes sizes, Strides& strides) {
  std::int64_t step = 1, numel = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] < 0) [[unlikely]]
      fail<RuntimeError>("Trying to create tensor with negative dimension ", sizes[d], ": ", sizes);
    strides[d] = step;
    if (__builtin_mul_overflow(step, std::max<std::int64_t>(sizes[d], 1), &step)) [[unlikely]]
      fail<RuntimeError>("Storage size calculation overflowed with sizes=", sizes);
    numel *= sizes[d];  // cannot overflow: step, which is at least as large, did not
  }
  return numel;
}

bool contiguous(Sizes sizes, const Strides& strides) {
  std::uint64_t step = 1;  // may wrap before a size of 0, where it says nothing
  bool dense = true;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    if (sizes[d] == 0) return true;
    if (sizes[d] == 1) continue;
    dense &= std::uint64_t(strides[d]) == step;
    step *= std::uint64_t(sizes[d]);
  }
  return dense;
}

Extent extent_of(Sizes sizes, const std::int64_t* strides) {
  Extent e{0, 0};
  for (std::size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return {0, -1};
    const std::int64_t reach = checked_mul(sizes[d] - 1, strides[d]);
    (reach < 0 ? e.low : e.high) = checked_add(reach < 0 ? e.low : e.high, reach);
  }
  return e;
}

int wrap_dim(std::int64_t dim, int rank) {
  const int n = std::max(rank, 1);
  if (dim < -n || dim >= n) [[unlikely]]
    fail<IndexError>("Dimension out of range (expected to be in range of [", -n, ", ", n - 1,
                     "], but got ", dim, ")");
  return int(dim < 0 ? dim + n : dim);
}

unsigned dim_mask(Sizes dims, int rank, bool empty_means_all) {
  if (dims.empty() && empty_means_all) return (1u << rank) - 1;
  unsigned mask = 0;
  for (std::int64_t dim : dims) {
    const unsigned bit = 1u << wrap_dim(dim, rank);
    if (mask & bit)
      fail<RuntimeError>("dim ", wrap_dim(dim, rank),
                         " appears multiple times in the list of dims");
    mask |= bit;
  }
  return mask;
}

Shape broadcast(Sizes a, Sizes b) {
  Shape out;
  out.rank = std::int8_t(std::max(a.size(), b.size()));
  for (std::size_t d = 1; d <= std::size_t(out.rank); ++d) {
    const std::int64_t x = d <= a.size() ? a[a.size() - d] : 1;
    const std::int64_t y = d <= b.size() ? b[b.size() - d] : 1;
    if (x != y && x != 1 && y != 1) [[unlikely]]
      fail<RuntimeError>("The size of tensor a (", x, ") must match the size of tensor b (", y,
                         ") at non-singleton dimension ", std::size_t(out.rank) - d,
                         "\na has shape ", a, ", b has shape ", b,
                         "; dimensions are compared from the last one, and must be equal or 1");
    out.sizes[std::size_t(out.rank) - d] = x == 1 ? y : x;
  }
  return out;
}

bool can_broadcast_to(Sizes from, Sizes to) {
  if (from.size() > to.size()) return false;
  for (std::size_t d = 1; d <= from.size(); ++d)
    if (from[from.size() - d] != 1 && from[from.size() - d] != to[to.size() - d]) return false;
  return true;
}

void broadcast_strides(Sizes from, const std::int64_t* strides, Sizes to, std::int64_t* out) {
  // Callers have seen to it, in torch's words; but what a kernel reads depends on it.
  bool fits = from.size() <= to.size();
  const std::size_t added = fits ? to.size() - from.size() : 0;
  for (std::size_t d = 0; d < added; ++d) out[d] = 0;
  for (std::size_t d = 0; fits && d < from.size(); ++d) {
    fits = from[d] == 1 || from[d] == to[added + d];
    out[added + d] = from[d] == 1 ? 0 : strides[d];
  }
  if (!fits) [[unlikely]]
    fail<RuntimeError>("a tensor of shape ", from, " cannot be broadcast to ", to);
}

void order_by_strides(Sizes sizes, const Strides* operands, int count, int* order) {
  const int rank = int(sizes.size());
  for (int i = 0; i < rank; ++i) order[i] = rank - 1 - i;
  const auto compared = [&](int a, int b) {  // 1: a comes after b, -1: before, 0: either order
    for (int k = 0; k < count; ++k) {
      const std::int64_t x = operands[k][std::size_t(a)], y = operands[k][std::size_t(b)];
      if (x == 0 || y == 0) continue;
      if (x != y) return x < y ? -1 : 1;
      if (sizes[std::size_t(a)] > sizes[std::size_t(b)]) return 1;
    }
    return 0;
  };
  for (int i = 1; i < rank; ++i)
    for (int at = i, before = i - 1; before >= 0; --before) {
      const int c = compared(order[before], order[at]);
      if (c < 0) break;
      if (c == 0) continue;
      std::swap(order[before], order[at]);
      at = before;
    }
}

Strides dense_strides(Sizes sizes, const int* order) {
  Strides strides{};
  std::int64_t step = 1;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto d = std::size_t(order[i]);
    strides[d] = step;
    step = checked_mul(step, sizes[d]);
  }
  return strides;
}

// Both lists are walked from the back: a run of old dimensions that lie densely behind each other
// can be cut anew; every new dimension must end inside one run.
bool view_strides(Sizes from, const std::int64_t* strides, Sizes to, Strides& out) {
  const std::int64_t numel = numel_of(from);
  if (numel == 0) {
    if (same(from, to))
      std::copy_n(strides, from.size(), out.begin());
    else
      contiguous_strides(to, out);
    return true;
  }
  if (from.empty()) {
    std::fill_n(out.begin(), to.size(), 1);
    return true;
  }
  std::ptrdiff_t t = std::ptrdiff_t(to.size()) - 1;
  std::int64_t run = 1, cut = 1, step = strides[from.size() - 1];
  for (std::ptrdiff_t f = std::ptrdiff_t(from.size()) - 1; f >= 0; --f) {
    run *= from[std::size_t(f)];
    const bool ends =
        f == 0 || (from[std::size_t(f) - 1] != 1 && strides[f - 1] != checked_mul(run, step));
    if (!ends) continue;
    while (t >= 0 && (cut < run || to[std::size_t(t)] == 1)) {
      out[std::size_t(t)] = cut * step;
      cut *= to[std::size_t(t)];
      --t;
    }
    if (cut != run) return false;
    if (f > 0) {
      step = strides[f - 1];
      run = cut = 1;
    }
  }
  return t == -1;
}

Shape infer_shape(Sizes wanted, std::int64_t numel) {
  Shape out(wanted);
  int hole = -1;
  std::int64_t known = 1;
  for (int d = 0; d < out.rank; ++d) {
    if (out[d] == -1) {
      if (hole >= 0) fail<RuntimeError>("only one dimension can be inferred");
      hole = d;
    } else if (out[d] < 0) {
      fail<RuntimeError>("invalid shape dimension ", out[d]);
    } else {
      known = checked_mul(known, out[d]);
    }
  }
  if (hole >= 0 && known == 0 && numel == 0)
    fail<RuntimeError>("cannot reshape tensor of 0 elements into shape ", wanted,
                       " because the unspecified dimension size -1 can be any value and is "
                       "ambiguous");
  if (hole >= 0 ? known == 0 || numel % known != 0 : known != numel)
    fail<RuntimeError>("shape '", wanted, "' is invalid for input of size ", numel);
  if (hole >= 0) out[hole] = numel / known;
  return out;
}

}  // namespace rushlight
