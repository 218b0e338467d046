// gather and scatter along one dimension. An index out of range is noted and taken as 0.
#include "index_kernels.h"

namespace rushlight::gpu {
namespace {

// Lines of the index along `dim`, with offsets in index, self and the other operand.
Lines<3> index_lines(const View& self, int dim, const View& index, const View& other) {
  return Lines<3>(dim, index, self, other);
}

__global__ void find_bad_place(Lines<3> lines, const Index* index, Index size,
                               unsigned long long* first) {
  for (Index i = first_item(); i < lines.starts.numel * lines.length; i += stride()) {
    Index at[3];
    lines.starts.at(i / lines.length, at);
    const Index value = index[at[0] + i % lines.length * lines.step[0]];
    if (value < 0 || value >= size) atomicMin(first, (unsigned long long)(i));
  }
}

BadIndex check_places(const Lines<3>& lines, const Index* index, Index size) {
  if (!blocking() || lines.starts.numel * lines.length == 0) return {};
  const Scratch<unsigned long long> first(1, "gather");
  check(cudaMemsetAsync(first.data(), 0xff, sizeof(unsigned long long), current().stream),
        "gather");
  launch_items("gather", find_bad_place, lines.starts.numel * lines.length, lines, index, size,
               first.data());
  const auto found = static_cast<Index>(fetch(first.data(), "gather"));
  if (found < 0) return {};
  Index at[3];
  lines.starts.at(found / lines.length, at);
  return {0, fetch(index + at[0] + found % lines.length * lines.step[0], "gather"), size};
}

template <class S>
__global__ void gather_items(Lines<3> lines, S* out, const S* self, const Index* index, Index size,
                             Note* note) {
  for (Index i = first_item(); i < lines.starts.numel * lines.length; i += stride()) {
    Index at[3];
    const Index along = i % lines.length;
    lines.starts.at(i / lines.length, at);
    const Index from =
        checked_index(note, Noted::index, index[at[0] + along * lines.step[0]], size);
    out[at[2] + along * lines.step[2]] = self[at[1] + from * lines.step[1]];
  }
}

// One thread a line: what meets in one place is combined in order.
template <class C>
__global__ void scatter_lines(Lines<3> lines, Writer<C> self, Reader<C> before, Reader<C> src,
                              const Index* index, Index size, ScatterMode mode, Note* note) {
  for (Index line = first_item(); line < lines.starts.numel; line += stride()) {
    Index at[3];
    lines.starts.at(line, at);
    for (Index i = 0; i < lines.length; ++i) {
      const Index to = checked_index(note, Noted::index, index[at[0] + i * lines.step[0]], size);
      const Index place = at[1] + to * lines.step[1];
      const C value = src[at[2] + i * lines.step[2]];
      self.set(place, mode == ScatterMode::assign
                          ? value
                          : combined(before[place], value, mode, before.dtype == DType::boolean));
    }
  }
}

Index size_along(const View& self, int dim) { return self.rank ? self.sizes[dim] : 1; }

}  // namespace

BadIndex index_gather(const View& out, const View& self, int dim, const View& index) {
  const Lines<3> lines = index_lines(self, dim, index, out);
  const Index size = size_along(self, dim);
  if (const BadIndex bad = check_places(lines, index.as<Index>(), size); bad.which >= 0) return bad;
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    launch_items("gather", gather_items<S>, index.numel, lines, out.as<S>(), self.as<const S>(),
                 index.as<const Index>(), size, current().note);
  });
  return {};
}

BadIndex index_scatter(const View& self, int dim, const View& index, const View& src,
                       ScatterMode mode) {
  if (index.numel == 0) return {};
  const Lines<3> lines = index_lines(self, dim, index, src);
  const Index size = size_along(self, dim);
  if (const BadIndex bad = check_places(lines, index.as<Index>(), size); bad.which >= 0) return bad;
  compute_any(self.dtype, [&]<class C>(Type<C>) {
    launch_items("scatter", scatter_lines<C>, lines.starts.numel, lines, Writer<C>(self),
                 Reader<C>(self), Reader<C>(src), index.as<const Index>(), size, mode,
                 current().note);
  });
  return {};
}

}  // namespace rushlight::gpu
