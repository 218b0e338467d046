// Sorting of lines, by their keys; and the table.
#include "kernels/sort.h"

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/lines.h"
#include "kernels/cpu/scratch.h"
#include "order.h"
#include "select.h"

namespace rushlight {
namespace {

void sort(const View& values, const View& indices, const View& in, int dim, bool descending) {
  if (in.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const Index n = lines.length;
  with_keys(in.dtype, n, [&]<class Key>(Type<Key>) {
    dispatch_size(in.dtype, [&]<class S>(Type<S>) {
      each_line(lines, [&](const Index(&at)[3]) {
        const S* const x = in.as<const S>() + at[0];
        Scratch<Key> keys(static_cast<std::size_t>(n));
        Scratch<Index> order(static_cast<std::size_t>(n));
        read_keys(in.dtype, x, lines.step[0], n, descending, keys.data());
        stable_order(keys.data(), n, order.data());
        serial_for(n, [&](Index i, Index end) {
          for (; i < end; ++i) {
            const Index from = order[static_cast<std::size_t>(i)];
            values.as<S>()[at[1] + i * lines.step[1]] = x[from * lines.step[0]];
            indices.as<Index>()[at[2] + i * lines.step[2]] = from;
          }
        });
      });
    });
  });
}

}  // namespace
}  // namespace rushlight

const rushlight::SortKernels rushlight::cpu_sort = {sort,   top,    kth,   median,   mode,
                                                    unique, search, count, histogram};
