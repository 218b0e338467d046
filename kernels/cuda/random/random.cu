// Random numbers by philox.h: each distribution is a function of an element's words.
#include "kernels/cuda/elements.h"
#include "kernels/cuda/families.h"
#include "kernels/cuda/runtime/launch.h"
#include "kernels/cuda/sort/pairs.h"
#include "kernels/math/laws.h"
#include "philox.h"

namespace rushlight::gpu {
namespace {

// Angles in half turns: for any angle, CUDA's functions keep a table in local memory.
__device__ double normal_of(const Words& w) {  // 1 - u: the logarithm of 0 never occurs
  return std::sqrt(-2 * std::log(1 - w.unit(0))) * cospi(2 * w.unit(1));
}

// Each distribution is a function of the words, in double or 64 bits.
struct Uniform {
  double from, to;
  __device__ double operator()(const Words& w) const { return from + (to - from) * w.unit(); }
};
struct Normal {
  double mean, std;
  __device__ double operator()(const Words& w) const { return mean + std * normal_of(w); }
};
struct LogNormal {
  double mean, std;
  __device__ double operator()(const Words& w) const { return std::exp(mean + std * normal_of(w)); }
};
struct Integers {
  Index base;
  std::uint64_t range;
  __device__ Index operator()(const Words& w) const {
    return Index((range ? w.bits(0) % range : w.bits(0)) + std::uint64_t(base));
  }
};
struct Bernoulli {
  double p;
  __device__ Index operator()(const Words& w) const { return w.unit() < p; }
};
struct Exponential {
  double lambda;
  __device__ double operator()(const Words& w) const { return -std::log1p(-w.unit()) / lambda; }
};
struct Geometric {
  double scale;
  __device__ double operator()(const Words& w) const {
    return std::ceil(std::log(1 - w.unit()) / scale + 0x1p-60);
  }
};
struct Cauchy {
  double median, sigma;
  __device__ double operator()(const Words& w) const {
    const double half_turns = w.unit() - 0.5;
    return median + sigma * (sinpi(half_turns) / cospi(half_turns));
  }
};

template <class D>
__global__ void fill_items(Strided<1> items, Fill fill, void* out, DType dtype, D draw) {
  for (Index i = first_item(); i < items.numel; i += stride()) {
    Index at[1];
    items.at(i, at);
    store_as(out, at[0], dtype, draw(words_of(fill, i)));
  }
}

Strided<1> items_of(const View& v) {
  Strided<1> items;
  for (int d = v.rank - 1; d >= 0; --d) items.add(v.sizes[d], v.strides[d]);
  return items;
}

template <class D>
void run(const char* op, const View& out, RandomState& s, D draw) {
  if (out.numel == 0) return;
  launch_items(op, fill_items<D>, out.numel, items_of(out), next_fill(s), out.data, out.dtype,
               draw);
}

// Rounded to a narrow type, a number may reach the upper bound, which it must not: it becomes the
// lower one.
__global__ void uniform_items(Strided<1> items, Fill fill, void* out, DType dtype, Uniform draw) {
  for (Index i = first_item(); i < items.numel; i += stride()) {
    Index at[1];
    items.at(i, at);
    store_as(out, at[0], dtype, draw(words_of(fill, i)));
    if (draw.from < draw.to && load_as<double>(out, at[0], dtype) >= draw.to)
      store_as(out, at[0], dtype, draw.from);
  }
}
void uniform(const View& out, double from, double to, RandomState& s) {
  if (out.numel > 0)
    launch_items("uniform_", uniform_items, out.numel, items_of(out), next_fill(s), out.data,
                 out.dtype, Uniform{from, to});
}
void normal(const View& out, double mean, double std, RandomState& s) {
  run("normal_", out, s, Normal{mean, std});
}
void integers(const View& out, Index base, std::uint64_t range, RandomState& s) {
  run("random_", out, s, Integers{base, range});
}
void natural(const View& out, RandomState& s) {
  const auto range = dispatch_all(out.dtype, []<class T>(Type<T>) -> std::uint64_t {
    if constexpr (std::is_integral_v<T>)
      return std::uint64_t(1) << std::numeric_limits<T>::digits;
    else
      return (std::uint64_t(1) << (std::is_same_v<T, float16>    ? 11
                                   : std::is_same_v<T, bfloat16> ? 8
                                   : std::is_same_v<T, float>    ? 24
                                                                 : 53)) +
             1;
  });
  run("random_", out, s, Integers{0, range});
}
void bernoulli(const View& out, double p, RandomState& s) {
  run("bernoulli_", out, s, Bernoulli{p});
}
void exponential(const View& out, double lambda, RandomState& s) {
  run("exponential_", out, s, Exponential{lambda});
}
void geometric(const View& out, double p, RandomState& s) {
  run("geometric_", out, s, Geometric{std::log1p(-p)});
}
void log_normal(const View& out, double mean, double std, RandomState& s) {
  run("log_normal_", out, s, LogNormal{mean, std});
}
void cauchy(const View& out, double median, double sigma, RandomState& s) {
  run("cauchy_", out, s, Cauchy{median, sigma});
}

__global__ void bernoulli_items(Strided<2> items, Fill fill, void* out, DType dtype, const void* p,
                                DType p_dtype) {
  for (Index i = first_item(); i < items.numel; i += stride()) {
    Index at[2];
    items.at(i, at);
    const bool hit = words_of(fill, i).unit() < load_as<double>(p, at[1], p_dtype);
    store_as(out, at[0], dtype, Index(hit));
  }
}
void bernoulli_each(const View& out, const View& p, RandomState& s) {
  if (out.numel == 0) return;
  Strided<2> items;
  for (int d = out.rank - 1; d >= 0; --d) items.add(out.sizes[d], out.strides[d], p.strides[d]);
  launch_items("bernoulli_", bernoulli_items, out.numel, items, next_fill(s), out.data, out.dtype,
               static_cast<const void*>(p.data), p.dtype);
}

template <class C>
__global__ void dropout_items(Index n, Fill fill, Writer<C> out, Writer<C> noise, Reader<C> rounded,
                              Reader<C> input, double keep) {
  for (Index i = first_item(); i < n; i += stride()) {
    noise.set(i, words_of(fill, i).unit() < keep ? C(1) / C(keep) : C(0));
    out.set(i, input[i] * rounded[i]);  // by the noise as it was stored
  }
}
void dropout(const View& out, const View& noise, const View& input, double keep, RandomState& s) {
  if (out.numel == 0) return;
  compute_floating(out.dtype, [&]<class C>(Type<C>) {
    launch_items("dropout", dropout_items<C>, out.numel, out.numel, next_fill(s), Writer<C>(out),
                 Writer<C>(noise), Reader<C>(noise), Reader<C>(input), keep);
  });
}

template <class C>
__global__ void slope_items(Index n, Fill fill, Writer<C> noise, Reader<C> input, Uniform draw) {
  for (Index i = first_item(); i < n; i += stride())
    noise.set(i, input[i] <= C(0) ? C(draw(words_of(fill, i))) : C(1));
}
void slopes(const View& noise, const View& input, double lower, double upper, RandomState& s) {
  if (noise.numel == 0) return;
  compute_floating(noise.dtype, [&]<class C>(Type<C>) {
    launch_items("rrelu", slope_items<C>, noise.numel, noise.numel, next_fill(s), Writer<C>(noise),
                 Reader<C>(input), Uniform{lower, upper});
  });
}

__global__ void random_keys(Index n, Fill fill, std::uint64_t* keys, Index* indices) {
  for (Index i = first_item(); i < n; i += stride()) {
    keys[i] = words_of(fill, i).bits(0);
    indices[i] = i;
  }
}
__global__ void write_indices(Index n, const Index* indices, void* out, Index step, DType dtype) {
  for (Index i = first_item(); i < n; i += stride()) store_as(out, i * step, dtype, indices[i]);
}
void permutation(const View& out, RandomState& s) {
  const Index n = out.numel;
  if (n == 0) return;
  const Scratch<std::uint64_t> keys(n, "randperm");
  const Scratch<Index> indices(n, "randperm");
  launch_items("randperm", random_keys, n, n, next_fill(s), keys.data(), indices.data());
  sort_pairs(keys.data(), indices.data(), 1, n);
  launch_items("randperm", write_indices, n, n, static_cast<const Index*>(indices.data()), out.data,
               out.rank ? out.strides[0] : 1, out.dtype);
}

// A row that is no distribution: a negative, infinite or missing number, or nothing but zeros.
template <class C>
__global__ void check_chances(Reader<C> p, Index rows, Index columns, Index row_step,
                              Index column_step, const double* sums, unsigned long long* first) {
  for (Index i = first_item(); i < rows * columns; i += stride()) {
    const Index r = i / columns, c = i % columns;
    const C v = p[r * row_step + c * column_step];
    const bool is_zero = c == columns - 1 && !(sums[i] > 0);
    if (!(v >= C(0)) || std::isinf(v) || is_zero) atomicMin(first, (unsigned long long)(r));
  }
}
// One thread a sample: where the running sums of its row pass its number. Sums that many threads
// make may fall by a rounding, so that an impossible column passes first: then it is the last
// possible one before it, or the first one behind.
template <class C>
__global__ void draw_columns(Reader<C> p, Index rows, Index columns, Index row_step,
                             Index column_step, const double* sums, Index samples, Fill fill,
                             Index* out, Index out_row, Index out_column) {
  for (Index i = first_item(); i < rows * samples; i += stride()) {
    const Index r = i / samples;
    const double* const own = sums + r * columns;
    const double goal = own[columns - 1] * words_of(fill, i).unit();
    Index found = 0;
    for (Index beyond = columns - 1; found < beyond;) {
      const Index middle = found + (beyond - found) / 2;
      if (own[middle] > goal)
        beyond = middle;
      else
        found = middle + 1;
    }
    const auto possible = [&](Index c) { return p[r * row_step + c * column_step] > C(0); };
    while (found > 0 && !possible(found)) --found;
    while (found < columns - 1 && !possible(found)) ++found;
    out[r * out_row + i % samples * out_column] = found;
  }
}
Index multinomial(const View& out, const View& p, RandomState& s) {
  const Index rows = p.sizes[0], columns = p.sizes[1], samples = out.sizes[1];
  if (rows == 0) return -1;
  const Scratch<double> sums(rows * columns, "multinomial");
  const View running = {sums.data(),    DType::float64,  2,
                        rows * columns, {rows, columns}, {columns, 1}};
  scan_kernels.scan(Scan::sum, running, p, 1);
  return compute_floating(p.dtype, [&]<class C>(Type<C>) -> Index {
    const Scratch<unsigned long long> first(1, "multinomial");
    check(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned long long), current().stream),
          "multinomial");
    const double* const own = sums.data();
    launch_items("multinomial", check_chances<C>, rows * columns, Reader<C>(p), rows, columns,
                 p.strides[0], p.strides[1], own, first.data());
    const auto bad = static_cast<Index>(fetch(first.data(), "multinomial"));
    if (bad >= 0) return bad;
    launch_items("multinomial", draw_columns<C>, rows * samples, Reader<C>(p), rows, columns,
                 p.strides[0], p.strides[1], own, samples, next_fill(s), out.as<Index>(),
                 out.strides[0], out.strides[1]);
    return -1;
  });
}

// As many numbers as an element's tries take: those of its further words, whose numbers lie above
// the element's.
struct Tries {
  Fill fill;
  Index item, tried = 0;
  double left = 0;
  bool has_left = false;
  __device__ Words next() { return words_of(fill, item | tried++ << 48); }
  __device__ double unit() {
    if (has_left) {
      has_left = false;
      return left;
    }
    const Words words = next();
    left = words.unit(1);
    has_left = true;
    return words.unit(0);
  }
  __device__ double normal() { return normal_of(next()); }
};
template <Law law>
__global__ void draw_items(Index n, Fill fill, void* out, const void* a, const void* b,
                           DType dtype) {
  for (Index i = first_item(); i < n; i += stride()) {
    Tries tries{fill, i};
    store_as(out, i, dtype,
             random::draw<law>(load_as<double>(a, i, dtype), load_as<double>(b, i, dtype), tries));
  }
}
void drawn(Law which, const View& out, const View& a, const View& b, RandomState& s) {
  random::dispatch_law(which, [&](auto law) {
    launch_items("draw", draw_items<law()>, out.numel, out.numel, next_fill(s), out.data,
                 static_cast<const void*>(a.data), static_cast<const void*>(b.data), out.dtype);
  });
}

}  // namespace

const RandomKernels random_kernels = {uniform,   normal,         integers, natural,     permutation,
                                      bernoulli, bernoulli_each, dropout,  slopes,      exponential,
                                      geometric, log_normal,     cauchy,   multinomial, drawn};

}  // namespace rushlight::gpu
