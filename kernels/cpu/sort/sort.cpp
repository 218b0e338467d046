// Sorting of lines, by their keys; and the table.
#include "kernels/sort.h"

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/lines.h"
#include "kernels/cpu/scratch.h"
#include "order.h"
#include "select.h"

namespace rushlight {
namespace {

// Lines so short that their elements are compared in pairs, without a branch or a call.
constexpr Index kShort = 12;
template <class T>
void sort_short(const Lines<3>& lines, const View& values, const View& indices, const View& in,
                bool descending) {
  using Key = SortKey<T>;
  const Key flip = descending ? ~Key(0) : Key(0);
  const Index n = lines.length;
  each_line(lines, [&](const Index(&at)[3]) {
    T held[kShort];
    Key keys[kShort];
    Index ranks[kShort] = {};
    for (Index i = 0; i < n; ++i) {
      held[i] = in.as<const T>()[at[0] + i * lines.step[0]];
      keys[i] = Key(sort_key(held + i)) ^ flip;
    }
    for (Index i = 1; i < n; ++i)
      for (Index j = 0; j < i; ++j) {
        const bool exchanged = keys[i] < keys[j];
        ranks[i] += !exchanged, ranks[j] += exchanged;
      }
    for (Index i = 0; i < n; ++i) {
      values.as<T>()[at[1] + ranks[i] * lines.step[1]] = held[i];
      indices.as<Index>()[at[2] + ranks[i] * lines.step[2]] = i;
    }
  });
}

void sort(const View& values, const View& indices, const View& in, int dim, bool descending) {
  if (in.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const Index n = lines.length;
  if (n <= kShort)
    return dispatch_all(
        in.dtype, [&]<class T>(Type<T>) { sort_short<T>(lines, values, indices, in, descending); });
  with_keys(in.dtype, n, [&]<class Key>(Type<Key>) {
    dispatch_size(in.dtype, [&]<class S>(Type<S>) {
      each_line(lines, [&](const Index(&at)[3]) {
        const S* const x = in.as<const S>() + at[0];
        S* const sorted = values.as<S>() + at[1];
        Index* const written = indices.as<Index>() + at[2];
        const bool in_place = lines.step[2] == 1;
        Scratch<Key> keys(static_cast<std::size_t>(n));
        Scratch<Index> held(static_cast<std::size_t>(in_place ? 0 : n));
        Index* const order = in_place ? written : held.data();
        read_keys(in.dtype, x, lines.step[0], n, descending, keys.data());
        stable_order(keys.data(), n, order);
        serial_for(n, [&](Index i, Index end) {
          if (lines.step[0] == 1 && lines.step[1] == 1)
            for (Index k = i; k < end; ++k) sorted[k] = x[order[k]];
          else
            for (Index k = i; k < end; ++k) sorted[k * lines.step[1]] = x[order[k] * lines.step[0]];
          for (Index k = i; k < end && !in_place; ++k) written[k * lines.step[2]] = order[k];
        });
      });
    });
  });
}

}  // namespace
}  // namespace rushlight

const rushlight::SortKernels rushlight::cpu_sort = {sort,   top,  kth,    median, mode,
                                                    unique, runs, search, count,  histogram};
