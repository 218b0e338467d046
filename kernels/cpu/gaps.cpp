// The loops behind gaps.h. Every second element is read in vectors; the processor has nothing that
// is quicker than one element after the other for wider gaps, and for writing.
#include "gaps.h"

#include "kernels/stored.h"

namespace rushlight {
namespace {

// Whole vectors are read and their elements picked, which a known step allows.
template <int kStep, class S>
CLONES void pick(S* __restrict to, const S* __restrict from, std::int64_t n) {
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[kStep * i];
}
template <class S>
void gather(S* __restrict to, const S* __restrict from, std::int64_t step, std::int64_t n) {
  if constexpr (sizeof(S) <= 8) {
    if (step == 2) return pick<2>(to, from, n);
    if (step == 3) return pick<3>(to, from, n);
    if (step == 4) return pick<4>(to, from, n);
  }
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < n; ++i) to[i] = from[i * step];
}
template <class S>
void scatter(S* __restrict to, std::int64_t step, const S* __restrict from, std::int64_t n) {
#pragma GCC unroll 4
  for (std::int64_t i = 0; i < n; ++i) to[i * step] = from[i];
}

template <class F>
void with_size(std::size_t item, F&& f) {
  switch (item) {
    case 1: return f(Type<std::uint8_t>{});
    case 2: return f(Type<std::uint16_t>{});
    case 4: return f(Type<std::uint32_t>{});
    case 16: return f(Type<Bytes16>{});
    default: return f(Type<std::uint64_t>{});
  }
}

}  // namespace

void bring_together(void* to, const void* from, std::size_t item, std::int64_t step,
                    std::int64_t n) {
  with_size(item, [&]<class S>(Type<S>) {
    gather(static_cast<S*>(to), static_cast<const S*>(from), step, n);
  });
}

void take_apart(void* to, std::size_t item, std::int64_t step, const void* from, std::int64_t n) {
  with_size(item, [&]<class S>(Type<S>) {
    scatter(static_cast<S*>(to), step, static_cast<const S*>(from), n);
  });
}

}  // namespace rushlight
