// Transforms along one dimension of tensors: lines are taken into planes, several at a time,
// transformed there and put where they belong. A transform backwards is one forwards with real and
// imaginary parts exchanged, which costs nothing.
#include "../../fft.h"

#include <algorithm>

#include "block.h"
#include "kernels/cpu/scratch.h"
#include "kernels/parallel.h"
#include "kernels/strided.h"
#include "matrix.h"
#include "spectrum.h"
#include "transform.h"

namespace rushlight {
namespace {

using namespace fft;

constexpr Index kLongLine = 256;  // dense and of small factors: fast by itself
template <class T>
constexpr Index kMostLines = kLines<T> + kLines<T> / 4;
constexpr Index kWork = 1 << 15;  // values that a thread transforms at least

template <class T>
Planes<T> exchanged(Planes<T> p) {
  return {p.im, p.re};
}

// A block of lines, with planes for `values` of each, twice.
template <class T>
struct Block {
  Numbers out, in;  // in numbers of T
  Planes<T> x, y;
};

// Calls f(block) for all lines; `values`: that a line takes in memory. `out_width`, `in_width`:
// numbers of an element.
template <class T, class F>
void each_block(const Lines<2>& lines, Index together, Index values, Index out_width,
                Index in_width, F&& f) {
  const Strided<2>& starts = lines.starts;
  // Of a run of neighbours, or of all.
  const Index run = starts.rank && starts.sizes[0] >= together ? starts.sizes[0] : starts.numel;
  // A few lines that are left over, beside neighbours: half a spectrum has one more than others.
  const Index left = run % together;
  const bool joins = run > together && 4 * left <= together && starts.strides[0][0] == 1;
  const Index in_run = (run + together - 1) / together - (joins && left);
  const Index blocks = starts.numel / run * in_run;
  const bool steps = lines.length > 1;  // the stride of a single element may be anything
  const Index out_step = steps ? lines.step[0] * out_width : 0;
  const Index in_step = steps ? lines.step[1] * in_width : 0;
  const auto work = [&](Index begin, Index end) {
    Scratch<T> memory(std::size_t(4 * values * (together + together / 4)));
    for (; begin < end; ++begin) {
      const Index part = begin % in_run * together;
      const bool is_last = begin % in_run + 1 == in_run;
      const Index first = begin / in_run * run + part, count = is_last ? run - part : together;
      Index to[kMostLines<T>], from[kMostLines<T>];
      Index at[2] = {first * starts.strides[0][0], first * starts.strides[1][0]};
      for (Index l = 0; l < count; ++l) {
        if (starts.rank > 1 && (l == 0 || run == starts.numel)) starts.at(first + l, at);
        to[l] = at[0] * out_width, from[l] = at[1] * in_width;
        at[0] += starts.strides[0][0], at[1] += starts.strides[1][0];
      }
      const Index size = values * count;
      T* const m = memory.data();
      f(Block<T>{{count, to, out_step},
                 {count, from, in_step},
                 {m, m + size},
                 {m + 2 * size, m + 3 * size}});
    }
  };
  if (blocks == 1) return work(0, 1);  // which may be parallel inside
  parallel_for(blocks, 1 + kWork / (values * together), work);
}

// One long line after another, read and written where it lies.
template <class T>
void complex_lines(const FftShape& s, const Plan<T>& plan, const Lines<2>& lines, const View& out,
                   const View& in) {
  const Index height = plan.columns->n, width = plan.rows->n;
  const auto turned = [&](Planes<T> p) { return s.inverse ? exchanged(p) : p; };
  for (Index line = 0; line < lines.starts.numel; ++line) {
    Index at[2];
    lines.starts.at(line, at);
    T* const to = out.as<T>() + 2 * at[0];
    const T* const from = in.as<const T>() + 2 * at[1];
    // Of a row of neighbours, numbers first .. first + kGroup, `step` elements from each other.
    const auto neighbours = [](Index first, Index step, Index(&offsets)[kGroup]) {
      for (Index l = 0; l < kGroup; ++l) offsets[l] = 2 * (first + l) * step;
    };
    const auto take = [&](Index column, Index count, Index row, Index rows, Planes<T> x) {
      Index offsets[kGroup];
      neighbours(row * width + column, lines.step[1], offsets);
      const Planes<T> to = turned({x.re + row * kGroup, x.im + row * kGroup});
      const Index apart = 2 * width * lines.step[1];
      if (count == kGroup) return take_pairs(from, {count, offsets, apart}, rows, rows, to);
      for (Index l = 0; l < count; ++l)
        for (Index i = 0; i < rows; ++i) {
          const T* const z = from + offsets[l] + i * apart;
          to.re[i * kGroup + l] = z[0], to.im[i * kGroup + l] = z[1];
        }
    };
    const auto put = [&](Index row, Index count, Index j, Index values, Planes<T> y) {
      Index offsets[kGroup];
      neighbours(j * height + row, lines.step[0], offsets);
      const Planes<T> made = turned({y.re + j * kGroup, y.im + j * kGroup});
      const Index apart = 2 * height * lines.step[0];
      const T scale = T(s.scale);
      if (count == kGroup)
        return put_pairs(made, {count, offsets, apart}, values, scale, scale, to);
      for (Index l = 0; l < count; ++l)
        for (Index i = 0; i < values; ++i) {
          T* const z = to + offsets[l] + i * apart;
          z[0] = made.re[i * kGroup + l] * scale, z[1] = made.im[i * kGroup + l] * scale;
        }
    };
    by_matrix<T>(plan, take, put);
  }
}

template <class T>
Index lines_together(const Plan<T>& plan, const Lines<2>& lines) {
  if (plan.takes_one_line()) return 1;
  const Index length = plan.inner ? plan.inner->n : plan.n;
  if (length >= kLongLine && lines.step[0] == 1 && lines.step[1] == 1 && length % 8 == 0) return 1;
  return std::min(kLines<T>, lines.starts.numel);
}

// The spectrum of real numbers, n / 2 + 1 values, is left in the planes that are returned.
template <class T>
class RealPlan {
 public:
  explicit RealPlan(Index n)
      : n_(n),
        even_(n % 2 == 0),
        plan_(plan_of<T>(even_ ? n / 2 : n)),
        roots_(even_ ? half_circle<T>(n) : nullptr) {}
  const Plan<T>& plan() const { return *plan_; }
  Index values() const { return std::max(plan_->capacity, n_ / 2 + 1); }

  Planes<T> forwards(const Block<T>& b, const T* from, Index present, T middle) const {
    const Index h = n_ / 2, lines = b.in.count;
    if (!even_) {
      take(from, b.in, present, n_, b.x.re);
      std::fill(b.x.im, b.x.im + n_ * lines, T(0));
      const Planes<T> made = transform(*plan_, lines, b.x, b.y);
      for (Index i = lines; middle != T(1) && i < (h + 1) * lines; ++i)
        made.re[i] *= middle, made.im[i] *= middle;
      return made;
    }
    if (b.in.step == 1 && present % 2 == 0) {
      take_pairs(from, {lines, b.in.offsets, 2}, present / 2, h, b.x);
    } else {
      const Numbers pairs = {lines, b.in.offsets, 2 * b.in.step};
      take(from, pairs, (present + 1) / 2, h, b.x.re);
      take(from + b.in.step, pairs, present / 2, h, b.x.im);
    }
    const Planes<T> made = transform(*plan_, lines, b.x, b.y);
    const Planes<T> out = made.re == b.x.re ? b.y : b.x;
    spectrum_of_pairs(made, h, lines, roots_->data(), middle, out);
    return out;
  }

  // Of the spectrum in b.x, with the sign of the exponent that its planes' order says.
  void backwards(const Block<T>& b, Planes<T> spectrum, T middle, T scale, T* to) const {
    const Index h = n_ / 2, lines = b.out.count;
    if (!even_) {
      std::fill(spectrum.im, spectrum.im + lines, T(0));
      for (Index k = 1; k <= h; ++k)
        for (Index l = 0; l < lines; ++l) {
          const Index at = k * lines + l, mirror = (n_ - k) * lines + l;
          const T re = spectrum.re[at] * middle, im = spectrum.im[at] * middle;
          spectrum.re[at] = spectrum.re[mirror] = re;
          spectrum.im[at] = im, spectrum.im[mirror] = -im;
        }
      const Planes<T> made = transform(*plan_, lines, exchanged(spectrum), exchanged(b.y));
      return put(made.im, b.out, n_, scale, to);
    }
    pairs_of_spectrum(spectrum, h, lines, roots_->data(), middle, b.y);
    const Planes<T> made = exchanged(transform(*plan_, lines, exchanged(b.y), exchanged(spectrum)));
    if (b.out.step == 1) return put_pairs(made, {lines, b.out.offsets, 2}, h, scale, scale, to);
    const Numbers pairs = {lines, b.out.offsets, 2 * b.out.step};
    put(made.re, pairs, h, scale, to);
    put(made.im, pairs, h, scale, to + b.out.step);
  }

 private:
  Index n_;
  bool even_;
  std::shared_ptr<const Plan<T>> plan_;
  std::shared_ptr<const std::vector<T>> roots_;
};

template <class F>
void dispatch(DType real_or_complex, F&& f) {
  if (real_or_complex == DType::float64 || real_or_complex == DType::complex128) return f(double());
  f(float());
}

Index size_along(const View& v, int dim) { return v.rank ? v.sizes[dim] : 1; }

void complex_of_real(const FftShape& s, const View& out, const View& in) {
  dispatch(in.dtype, [&]<class T>(T) {
    const RealPlan<T> plan(s.n);
    const Lines<2> lines(s.dim, out, in);
    const Index present = size_along(in, s.dim);
    const T scale = T(s.scale), scale_im = s.inverse ? -scale : scale;
    each_block<T>(lines, lines_together(plan.plan(), lines), plan.values(), 2, 1,
                  [&](const Block<T>& b) {
                    const Planes<T> made = plan.forwards(b, in.as<const T>(), present, T(1));
                    put_pairs(made, b.out, s.n / 2 + 1, scale, scale_im, out.as<T>());
                    const Numbers back = {b.out.count, b.out.offsets, -b.out.step};
                    const Index skip = b.out.count;  // the first value is no other's mirror
                    put_pairs({made.re + skip, made.im + skip}, back, (s.n - 1) / 2, scale,
                              -scale_im, out.as<T>() + (s.n - 1) * b.out.step);
                  });
  });
}

void complex(const FftShape& s, const View& out, const View& in) {
  if (out.numel == 0) return;
  if (in.dtype == DType::float32 || in.dtype == DType::float64) return complex_of_real(s, out, in);
  dispatch(in.dtype, [&]<class T>(T) {
    const auto plan = plan_of<T>(s.n);
    const Lines<2> lines(s.dim, out, in);
    const Index present = size_along(in, s.dim);
    if (plan->columns && present == s.n) return complex_lines(s, *plan, lines, out, in);
    const auto turned = [&](Planes<T> p) { return s.inverse ? exchanged(p) : p; };
    each_block<T>(lines, lines_together(*plan, lines), plan->capacity, 2, 2,
                  [&](const Block<T>& b) {
                    take_pairs(in.as<const T>(), b.in, present, s.n, b.x);
                    const Planes<T> made = transform(*plan, b.in.count, turned(b.x), turned(b.y));
                    put_pairs(turned(made), b.out, s.n, T(s.scale), T(s.scale), out.as<T>());
                  });
  });
}

void to_half(const FftShape& s, const View& out, const View& in) {
  if (out.numel == 0) return;
  dispatch(in.dtype, [&]<class T>(T) {
    const RealPlan<T> plan(s.n);
    const Lines<2> lines(s.dim, out, in);
    const Index present = size_along(in, s.dim);
    const T scale = T(s.scale);
    each_block<T>(
        lines, lines_together(plan.plan(), lines), plan.values(), 2, 1, [&](const Block<T>& b) {
          const Planes<T> made = plan.forwards(b, in.as<const T>(), present, T(s.weighted ? 2 : 1));
          put_pairs(made, b.out, s.n / 2 + 1, scale, s.inverse ? -scale : scale, out.as<T>());
        });
  });
}

void from_half(const FftShape& s, const View& out, const View& in) {
  if (out.numel == 0) return;
  dispatch(out.dtype, [&]<class T>(T) {
    const RealPlan<T> plan(s.n);
    const Lines<2> lines(s.dim, out, in);
    const Index present = std::min(size_along(in, s.dim), s.n / 2 + 1);
    each_block<T>(lines, lines_together(plan.plan(), lines), plan.values(), 1, 2,
                  [&](const Block<T>& b) {
                    take_pairs(in.as<const T>(), b.in, present, s.n / 2 + 1, b.x);
                    if (!s.inverse)
                      for (Index i = 0; i < (s.n / 2 + 1) * b.in.count; ++i) b.x.im[i] = -b.x.im[i];
                    plan.backwards(b, b.x, T(s.weighted ? 0.5 : 1), T(s.scale), out.as<T>());
                  });
  });
}

}  // namespace
}  // namespace rushlight

const rushlight::FftKernels rushlight::cpu_fft = {complex, to_half, from_half};
