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

// The rows of a bag, some columns at a time, which stay in registers.
constexpr Index kTogether = 64;
template <class S, class T = Compute<S>>
CLONES void add_bag(const S* const* rows, Index count, Index n, T divisor, S* to) {
  Index first = 0;
  for (; first + kTogether <= n; first += kTogether) {
    T sums[kTogether] = {};
    Index r = 0;
    for (; r + 4 <= count; r += 4) {
      const S *a = rows[r] + first, *b = rows[r + 1] + first, *c = rows[r + 2] + first,
              *d = rows[r + 3] + first;
      for (Index i = 0; i < kTogether; ++i)
        sums[i] = sums[i] + load(a + i) + load(b + i) + load(c + i) + load(d + i);
    }
    for (; r < count; ++r)
      for (Index i = 0; i < kTogether; ++i) sums[i] += load(rows[r] + first + i);
    for (Index i = 0; i < kTogether; ++i) store(to + first + i, sums[i] / divisor);
  }
  for (; first < n; ++first) {
    T sum(0);
    for (Index r = 0; r < count; ++r) sum += load(rows[r] + first);
    store(to + first, sum / divisor);
  }
}

Index bags(const View& weight, const View& indices, Index length, bool means, const View& out) {
  const Index size = out.sizes[1], rows = size ? weight.numel / size : weight.sizes[0];
  return with_indices(indices, [&](const auto* at) {
    const Index bad = first_bad(at, indices.numel, rows);
    if (bad >= 0) return bad;
    dispatch_floating(weight.dtype, [&]<class S>(Type<S>) {
      const auto divisor = static_cast<Compute<S>>(means ? length : 1);
      const Index each = 1 + 32768 / std::max<Index>(length * size, 1);
      parallel_for(out.sizes[0], each, [&](Index begin, Index end) {
        std::vector<const S*> bag(static_cast<std::size_t>(length));
        for (Index b = begin; b < end; ++b) {
          Index count = 0;
          for (Index i = b * length; i < (b + 1) * length; ++i)
            if (const Index row = checked_index(at + i, rows); row >= 0)
              bag[std::size_t(count++)] = weight.as<const S>() + row * size;
          add_bag(bag.data(), count, size, divisor, out.as<S>() + b * size);
        }
      });
    });
    return bad;
  });
}

}  // namespace

const EmbeddingKernels cpu_embedding = {forward, backward, bags};

}  // namespace rushlight
