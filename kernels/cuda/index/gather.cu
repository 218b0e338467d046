// gather and scatter along one dimension. An index out of range is noted and taken as 0. What is
// scattered to one element is combined in its order: by a thread for each line where lines are
// short, else after the elements' offsets are sorted (sort/runs.h).
#include "kernels.h"
#include "kernels/cuda/sort/runs.h"

namespace rushlight::gpu {
namespace {

// Lines of the index along `dim`, with offsets in index, self and the other operand.
Lines<3> index_lines(const View& self, int dim, const View& index, const View& other) {
  return Lines<3>(dim, index, self, other);
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

constexpr Index kShortLine = 32;

template <class C>
__global__ void scatter_lines(Lines<3> lines, Writer<C> self, Reader<C> before, Reader<C> src,
                              const Index* index, Index size, ScatterMode mode, bool include_self,
                              Note* note) {
  for (Index line = first_item(); line < lines.starts.numel; line += stride()) {
    Index at[3];
    lines.starts.at(line, at);
    for (Index i = 0; i < lines.length && !include_self; ++i) {
      const Index to = checked_index(note, Noted::index, index[at[0] + i * lines.step[0]], size);
      self.set(at[1] + to * lines.step[1], identity<C>(mode, before.dtype));
    }
    for (Index i = 0; i < lines.length; ++i) {
      const Index to = checked_index(note, Noted::index, index[at[0] + i * lines.step[0]], size);
      const Index element = at[1] + to * lines.step[1];
      const C value = src[at[2] + i * lines.step[2]];
      self.set(element, mode == ScatterMode::assign ? value
                                                    : combined(before[element], value, mode,
                                                               before.dtype == DType::boolean));
    }
  }
}

__global__ void number_elements(Lines<3> lines, const Index* index, Index size, std::uint64_t* keys,
                                Index* order, Note* note) {
  for (Index i = first_item(); i < lines.starts.numel * lines.length; i += stride()) {
    Index at[3];
    lines.starts.at(i / lines.length, at);
    const Index to =
        checked_index(note, Noted::index, index[at[0] + i % lines.length * lines.step[0]], size);
    keys[i] = std::uint64_t(at[1] + to * lines.step[1]);
    order[i] = i;
  }
}

// What meets in one element.
template <class C>
struct Meeting {
  using Value = C;
  Lines<3> lines;
  Writer<C> self;
  Reader<C> before, src;
  ScatterMode mode;
  bool include_self;
  __device__ C start(Index element, Index) const {
    return include_self ? before[element] : identity<C>(mode, before.dtype);
  }
  __device__ C at(Index position, Index) const {
    Index at[3];
    lines.starts.at(position / lines.length, at);
    return src[at[2] + position % lines.length * lines.step[2]];
  }
  __device__ C join(C a, C b) const { return combined(a, b, mode, before.dtype == DType::boolean); }
  __device__ void put(const Runs& runs, Index first, Index, C value) const {
    self.set(Index(runs.keys[first]), value);
  }
};

Index size_along(const View& self, int dim) { return self.rank ? self.sizes[dim] : 1; }

}  // namespace

BadIndex index_gather(const View& out, const View& self, int dim, const View& index) {
  const Lines<3> lines = index_lines(self, dim, index, out);
  const Index size = size_along(self, dim);
  dispatch_size(out.dtype, [&]<class S>(Type<S>) {
    launch_items("gather", gather_items<S>, index.numel, lines, out.as<S>(), self.as<const S>(),
                 index.as<const Index>(), size, current().note);
  });
  return {};
}

BadIndex index_scatter(const View& self, int dim, const View& index, const View& src,
                       ScatterMode mode, bool include_self) {
  if (index.numel == 0) return {};
  const Lines<3> lines = index_lines(self, dim, index, src);
  const Index size = size_along(self, dim);
  const auto* at = index.as<const Index>();
  if (lines.length <= kShortLine) {
    compute_any(self.dtype, [&]<class C>(Type<C>) {
      launch_items("scatter", scatter_lines<C>, lines.starts.numel, lines, Writer<C>(self),
                   Reader<C>(self), Reader<C>(src), at, size, mode, include_self, current().note);
    });
    return {};
  }
  const Index n = index.numel;
  const Scratch<std::uint64_t> keys(n, "scatter");
  const Scratch<Index> order(n, "scatter");
  launch_items("scatter", number_elements, n, lines, at, size, keys.data(), order.data(),
               current().note);
  sort_pairs(keys.data(), order.data(), 1, n);
  compute_any(self.dtype, [&]<class C>(Type<C>) {
    fold_all_runs("scatter", Runs(keys.data(), order.data(), n),
                  Meeting<C>{lines, self, self, src, mode, include_self}, 1,
                  identity<C>(mode, self.dtype));
  });
  return {};
}

}  // namespace rushlight::gpu
