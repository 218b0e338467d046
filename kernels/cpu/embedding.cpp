// Embedding. Note: in backward a thread owns a range of the table's rows and reads
// all indices, so sums have one order whatever the number of threads. An index that another thread
// has changed since it was checked gives zeros, and adds nothing.
#include "../embedding.h"

#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "../host_device.h"
#include "../parallel.h"
#include "read_once.h"
#include "scratch.h"

namespace rushlight {
namespace {

using Index = std::int64_t;

template <class F>
auto with_indices(const View& indices, F f) {
  return indices.dtype == DType::int32 ? f(indices.as<const std::int32_t>())
                                       : f(indices.as<const Index>());
}

template <class I>
Index first_bad(const I* at, Index n, Index rows) {
  for (Index i = 0; i < n; ++i)
    if (at[i] < 0 || at[i] >= rows) return i;
  return -1;
}

Index forward(const View& weight, const View& indices, const View& out) {
  const Index rows = weight.sizes[0], bytes = weight.sizes[1] * Index(item_size(weight.dtype));
  return with_indices(indices, [&](const auto* at) {
    const Index bad = first_bad(at, indices.numel, rows);
    if (bad >= 0) return bad;
    parallel_for(indices.numel, 1 + 32768 / std::max<Index>(bytes, 1), [&](Index begin, Index end) {
      for (Index i = begin; i < end; ++i) {
        char* const to = out.as<char>() + i * bytes;
        if (const Index row = checked_index(at + i, rows); row >= 0)
          std::memcpy(to, weight.as<const char>() + row * bytes, std::size_t(bytes));
        else
          std::memset(to, 0, std::size_t(bytes));
      }
    });
    return bad;
  });
}

template <class S, class T = Compute<S>>
CLONES void add_row(const S* from, Index n, T factor, T* to) {
  for (Index i = 0; i < n; ++i) to[i] += load(from + i) * factor;
}

Index backward(const View& grad, const View& indices, Index padding_idx, bool by_frequency,
               const View& grad_weight) {
  const Index rows = grad_weight.sizes[0], size = grad_weight.sizes[1];
  return with_indices(indices, [&](const auto* at) {
    const Index bad = first_bad(at, indices.numel, rows);
    if (bad >= 0) return bad;
    dispatch_floating(grad.dtype, [&]<class S>(Type<S>) {
      using T = Compute<S>;
      constexpr bool kSame = std::is_same_v<S, T>;
      Scratch<T> wide(kSame ? 1 : grad_weight.numel);
      T* sums = wide.data();
      if constexpr (kSame) sums = grad_weight.as<T>();
      std::vector<Index> count(by_frequency ? rows : 0);
      for (Index i = 0; i < indices.numel && by_frequency; ++i)
        if (const Index row = checked_index(at + i, rows); row >= 0) ++count[row];
      const Index parts = std::clamp<Index>(indices.numel * size / 65536, 1, num_threads());
      parallel_for(parts, 1, [&](Index begin, Index end) {
        const Index low = rows * begin / parts, high = rows * end / parts;
        std::fill(sums + low * size, sums + high * size, T(0));
        for (Index i = 0; i < indices.numel; ++i) {
          const Index row = checked_index(at + i, rows);
          if (row < low || row >= high || row == padding_idx) continue;
          add_row(grad.as<const S>() + i * size, size, by_frequency ? T(1) / T(count[row]) : T(1),
                  sums + row * size);
        }
      });
      if constexpr (!kSame)
        for (Index i = 0; i < grad_weight.numel; ++i) store(grad_weight.as<S>() + i, sums[i]);
    });
    return bad;
  });
}

}  // namespace

const EmbeddingKernels cpu_embedding = {forward, backward};

}  // namespace rushlight
