// Selection along lines: top-k, k-th value, median, mode. Ties are resolved by the same standard
// algorithms, in the same cases, as torch's, so the indices are the same with libstdc++.
#include "select.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/cpu/interruptible.h"
#include "kernels/cpu/lines.h"

namespace rushlight {
namespace {

template <class C>
struct Entry {
  C value;
  std::int64_t at;
};
struct Ascending {
  Interruptible* interruptible;
  template <class C>
  bool operator()(const Entry<C>& a, const Entry<C>& b) const {
    interruptible->done(4);
    return (a.value == a.value && b.value != b.value) || a.value < b.value;
  }
};
struct Descending {
  Interruptible* interruptible;
  template <class C>
  bool operator()(const Entry<C>& a, const Entry<C>& b) const {
    interruptible->done(4);
    return (a.value != a.value && b.value == b.value) || a.value > b.value;
  }
};

// Calls select(entries, results): entries in the order of the line, results to be written.
template <class Select>
void lines_of_entries(const View& values, const View& indices, const View& in, int dim,
                      Select&& select) {
  if (values.numel == 0) return;
  const Lines<3> lines(dim, in, values, indices);
  const std::int64_t n = lines.length;
  dispatch_all(in.dtype, [&]<class T>(Type<T>) {
    each_line(lines, [&](const auto& at) {
      std::vector<Entry<Compute<T>>> entries(static_cast<std::size_t>(n));
      const T* const x = in.as<const T>() + at[0];
      serial_for(n, [&](std::int64_t i, std::int64_t end) {
        for (; i < end; ++i)
          entries[static_cast<std::size_t>(i)] = {load(x + i * lines.step[0]), i};
      });
      std::int64_t written = 0;
      select(entries, [&](const Entry<Compute<T>>& e) {
        store(values.as<T>() + at[1] + written * lines.step[1], e.value);
        indices.as<std::int64_t>()[at[2] + written * lines.step[2]] = e.at;
        ++written;
      });
    });
  });
}

template <class Entries, class Before>
void select_top(Entries& entries, std::int64_t k, bool sorted, Before before) {
  const auto begin = entries.begin(), end = entries.end();
  if (k * 64 <= std::int64_t(entries.size())) {
    std::partial_sort(begin, begin + k, end, before);
  } else {
    std::nth_element(begin, begin + k - 1, end, before);
    if (sorted) std::sort(begin, begin + k - 1, before);
  }
}

}  // namespace

void top(const View& values, const View& indices, const View& in, int dim, bool largest,
         bool sorted) {
  const std::int64_t k = in.rank ? values.sizes[dim] : 1;
  lines_of_entries(values, indices, in, dim, [&](auto& entries, auto&& write) {
    Interruptible interruptible;
    largest ? select_top(entries, k, sorted, Descending{&interruptible})
            : select_top(entries, k, sorted, Ascending{&interruptible});
    for (std::int64_t i = 0; i < k; ++i) write(entries[static_cast<std::size_t>(i)]);
  });
}

void kth(const View& values, const View& indices, const View& in, int dim, std::int64_t k) {
  lines_of_entries(values, indices, in, dim, [&](auto& entries, auto&& write) {
    Interruptible interruptible;
    std::nth_element(entries.begin(), entries.begin() + k, entries.end(),
                     Ascending{&interruptible});
    write(entries[static_cast<std::size_t>(k)]);
  });
}

void median(const View& values, const View& indices, const View& in, int dim, bool ignore_nan) {
  lines_of_entries(values, indices, in, dim, [&](auto& entries, auto&& write) {
    const auto is_nan = [](const auto& e) { return e.value != e.value; };
    auto n = static_cast<std::int64_t>(entries.size());
    if (ignore_nan) {
      n -= std::count_if(entries.begin(), entries.end(), is_nan);
    } else if (const auto nan = std::find_if(entries.begin(), entries.end(), is_nan);
               nan != entries.end()) {
      return write(*nan);
    }
    const auto middle = entries.begin() + std::max<std::int64_t>(0, (n - 1) / 2);
    Interruptible interruptible;
    std::nth_element(entries.begin(), middle, entries.end(), Ascending{&interruptible});
    write(*middle);
  });
}

void mode(const View& values, const View& indices, const View& in, int dim) {
  lines_of_entries(values, indices, in, dim, [&](auto& entries, auto&& write) {
    Interruptible interruptible;
    std::stable_sort(entries.begin(), entries.end(), Ascending{&interruptible});
    std::size_t best = 0, longest = 0, run = 0;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      ++run;
      if (i + 1 < entries.size() && entries[i].value == entries[i + 1].value) continue;
      if (run > longest) {
        longest = run;
        best = i;
      }
      run = 0;
    }
    write(entries[best]);
  });
}

}  // namespace rushlight
