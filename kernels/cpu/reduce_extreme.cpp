// The extreme of each row and its place: the first among equals, and the first NaN before all.
#include "reduce_policies.h"

namespace rushlight::reduction {
namespace {

template <class C>
bool beats(C a, C b, bool largest) {  // strictly: equals do not beat
  if constexpr (std::is_floating_point_v<C>) {
    if (b != b) return false;
    if (a != a) return true;
  }
  return largest ? a > b : a < b;
}

template <class T>
void rows(bool largest, const View& values, const View& indices, const Job& job, std::int64_t n,
          std::int64_t stride, const Axes& to_indices) {
  using C = Compute<T>;
  parallel_for(job.kept.numel, std::max<std::int64_t>(1, (1 << 15) / n),
               [&](std::int64_t from, std::int64_t to) {
                 Place at(job.kept, 0, from), index_at(to_indices, 0, from);
                 const Extreme<T, true> maximum(job, 0);
                 const Extreme<T, false> minimum(job, 0);
                 Patience patience;
                 for (; from < to; ++from, at.next(job.kept, 0), index_at.next(to_indices, 0)) {
                   const T* const row = static_cast<const T*>(job.in) + at.offset;
                   C best = load(row);
                   std::int64_t where = 0;
                   for (std::int64_t i = 0; i < n;
                        i += kBlock) {  // whole blocks are passed over at full speed
                     const std::int64_t m = std::min<std::int64_t>(kBlock, n - i);
                     patience.done(m);
                     if (stride == 1 && m >= kLanes) {
                       const C found = largest ? dense_run(row + i, m, maximum)
                                               : dense_run(row + i, m, minimum);
                       if (!beats(found, best, largest)) continue;
                     }
                     for (std::int64_t k = i; k < i + m; ++k) {
                       const C x = load(row + k * stride);
                       if (beats(x, best, largest)) {
                         best = x;
                         where = k;
                       }
                     }
                   }
                   store(values.as<T>() + at.out, best);
                   indices.as<std::int64_t>()[index_at.out] = where;
                 }
               });
}

}  // namespace

void extreme(bool largest, const View& values, const View& indices, const View& in, int dim) {
  if (values.numel == 0) return;
  // Two walks in one order: unmerged axes of the input, with the strides of either output.
  Job job(in, in, 0);
  Axes to_indices;
  job.kept = {};
  for (int d = 0; d < in.rank; ++d) {
    if (d == dim) continue;
    job.kept.add({in.sizes[d], in.strides[d], values.strides[d]});
    to_indices.add({in.sizes[d], in.strides[d], indices.strides[d]});
  }
  const std::int64_t n = in.rank ? in.sizes[dim] : 1, stride = in.rank ? in.strides[dim] : 1;
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    rows<T>(largest, values, indices, job, n, stride, to_indices);
  });
}

}  // namespace rushlight::reduction
