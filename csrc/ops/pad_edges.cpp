// Padding by what a tensor holds itself: reflections, edges and periods. The elements are copied
// once, and then each edge from inside the result, dimension after dimension, the last one first:
// so the edges of a dimension take along those of the ones before.
#include <algorithm>

#include "autograd/showing.h"
#include "ops/memory_format.h"
#include "ops/pad.h"

namespace rushlight {
namespace {

using Amounts = std::vector<std::int64_t>;

struct Edge {  // of a padded dimension; none of them is negative
  int dim;
  std::int64_t left, right, size;  // size: without them
};
// Of the dimensions of a padded tensor, in the order of `pad`.
std::vector<Edge> edges_of(const Shape& padded, const Amounts& pad) {
  std::vector<Edge> edges;
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    const int dim = padded.rank - 1 - int(i);
    const std::int64_t left = pad[2 * i], right = pad[2 * i + 1];
    edges.push_back({dim, left, right, padded[dim] - left - right});
  }
  return edges;
}
Tensor center_of(Tensor t, const std::vector<Edge>& edges, std::size_t from) {
  for (std::size_t i = from; i < edges.size(); ++i)
    t = narrow(t, edges[i].dim, edges[i].left, edges[i].size);
  return t;
}

// Calls f(edge, where in t its elements come from) for both ends of a dimension.
template <class F>
void each_end(const Tensor& t, const Edge& e, PadMode mode, F f) {
  const std::int64_t end = e.left + e.size;
  if (e.left) {
    const std::int64_t from = mode == PadMode::circular    ? e.size
                              : mode == PadMode::replicate ? e.left
                                                           : e.left + 1;
    const std::int64_t count = mode == PadMode::replicate ? 1 : e.left;
    f(narrow(t, e.dim, 0, e.left), narrow(t, e.dim, from, count));
  }
  if (e.right) {
    const std::int64_t from = mode == PadMode::circular    ? e.left
                              : mode == PadMode::replicate ? end - 1
                                                           : end - 1 - e.right;
    const std::int64_t count = mode == PadMode::replicate ? 1 : e.right;
    f(narrow(t, e.dim, end, e.right), narrow(t, e.dim, from, count));
  }
}

const char* node_of(PadMode mode, std::size_t dims) {
  static constexpr const char* names[][4] = {
      {"PadBackward0", "ReflectionPad1DBackward0", "ReflectionPad2DBackward0",
       "ReflectionPad3DBackward0"},
      {"PadBackward0", "ReplicationPad1DBackward0", "ReplicationPad2DBackward0",
       "ReplicationPad3DBackward0"}};
  if (mode == PadMode::circular) return "CopySlices";
  return names[mode == PadMode::replicate][dims <= 3 ? dims : 0];
}
// In opposite order; a single one has none.
Tensor reversed(const Tensor& t, std::int64_t dim) {
  return t.size(dim) == 1 ? t : flip(t, Sizes(&dim, 1));
}

Tensor pad_with_edges(const Tensor& input, const Amounts& pad, PadMode mode);

// The gradient: each edge is added to where it came from, the first dimension first.
Tensor add_edges(const Tensor& grad, const Amounts& pad, PadMode mode, MemoryFormat format) {
  Tensor out;
  {
    const GradMode off(false);
    Tensor work = clone(grad);
    const std::vector<Edge> edges = edges_of(grad.shape(), pad);
    for (std::size_t i = edges.size(); i-- > 0;) {
      const std::int64_t dim = edges[i].dim;
      each_end(work, edges[i], mode, [&](const Tensor& edge, const Tensor& source) {
        add_into(source, mode == PadMode::circular    ? edge
                         : mode == PadMode::replicate ? sum(edge, Sizes(&dim, 1), true)
                                                      : reversed(edge, dim));
      });
      work = narrow(work, edges[i].dim, edges[i].left, edges[i].size);
    }
    out = empty_in_format(work.sizes(), work.dtype(), work.device(), format);
    copy_bits(out, work);
  }
  return record(
      "PadEdgesBackward0", out,
      [pad, mode](Tensor g, Node&) { return Gradients(pad_with_edges(g, pad, mode)); }, grad);
}

Tensor pad_with_edges(const Tensor& input, const Amounts& pad, PadMode mode) {
  Shape shape = input.shape();
  for (std::size_t i = 0; i < pad.size(); ++i) {
    std::int64_t& size = shape[shape.rank - 1 - int(i / 2)];
    size = checked_add(size, pad[i]);
  }
  const MemoryFormat format = format_of(input);
  Tensor out;
  {
    const GradMode off(false);
    out = empty_in_format(shape.view(), input.dtype(), input.device(), format);
    const std::vector<Edge> edges = edges_of(shape, pad);
    copy_bits(center_of(out, edges, 0), input);
    for (std::size_t i = 0; i < edges.size(); ++i) {
      const std::int64_t dim = edges[i].dim;
      each_end(center_of(out, edges, i + 1), edges[i], mode,
               [&](const Tensor& edge, const Tensor& source) {
                 copy_bits(edge, mode == PadMode::circular    ? source
                                 : mode == PadMode::replicate ? expand(source, edge.shape())
                                                              : reversed(source, dim));
               });
    }
  }
  return record(node_of(mode, pad.size() / 2), out,
                showing(
                    "padding",
                    [mode, format](Tensor g, Node&, const Amounts& pad) {
                      return Gradients(add_edges(g, pad, mode, format));
                    },
                    pad),
                input);
}

// Reflecting and replicating, torch refuses a result that has no elements in any padded dimension.
void check_some_left(const Tensor& input, const Amounts& pad) {
  std::string before, after;
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    const char* const letter = i == 0 ? "W: " : i == 1 ? "H: " : "D: ";
    const std::int64_t size = input.size(input.dim() - 1 - int(i));
    const std::int64_t all = checked_add(checked_add(size, pad[2 * i]), pad[2 * i + 1]);
    if (all > 0 || size == 0) return;
    before = text(letter, size, i ? ", " : "", before);
    after = text(letter, all, i ? " " : "", after);
  }
  fail<RuntimeError>("input (", before, ") is too small. Calculated output ", after,
                     "\npad(): the amounts take all of ", describe("input", input));
}

// torch's words where a dimension has too few elements, or the elements are truths.
void check_edges(const Tensor& input, const Amounts& pad, PadMode mode) {
  if (mode != PadMode::circular && input.dtype() == DType::boolean)
    fail<NotImplementedError>("\"", mode == PadMode::reflect ? "reflection" : "replication", "_pad",
                              pad.size() / 2, "d\" not implemented for 'Bool'\n",
                              describe("input", input), "; convert with .byte() and back");
  if (mode != PadMode::circular) check_some_left(input, pad);
  for (std::size_t i = 0; i < pad.size() / 2; ++i) {
    const int dim = input.dim() - 1 - int(i);
    const std::int64_t left = pad[2 * i], right = pad[2 * i + 1], size = input.size(dim);
    if (mode == PadMode::circular) {
      const std::int64_t kept = checked_add(checked_add(size, std::min<std::int64_t>(left, 0)),
                                            std::min<std::int64_t>(right, 0));
      if (kept < 0)
        fail<RuntimeError>("Negative padding value is resulting in an empty dimension: padding (",
                           left, ", ", right, ") at dimension ", dim, "\n",
                           describe("input", input));
      if (std::max(left, right) > kept)
        fail<RuntimeError>("Padding value causes wrapping around more than once.\npadding (", left,
                           ", ", right, ") at dimension ", dim, "; ", describe("input", input));
    } else if (mode == PadMode::reflect && std::max(left, right) >= size && (left || right)) {
      fail<RuntimeError>(
          "Argument #4: Padding size should be less than the corresponding input dimension, but "
          "got: padding (",
          left, ", ", right, ") at dimension ", dim, " of input ", input.sizes());
    } else if (const std::int64_t all = checked_add(checked_add(size, left), right);
               all < 0 || (size == 0 && (left || right))) {
      Shape shape = input.shape();
      shape[dim] = all;
      if (size == 0)
        fail<RuntimeError>(
            "Expected a tensor with possibly 0 batch size and other non-zero dimensions for "
            "input, but got: ",
            input.sizes());
      fail<RuntimeError>("Trying to create tensor with negative dimension ", all, ": ", shape,
                         "\npad(): padding (", left, ", ", right, ") takes more than ",
                         describe("input", input), " has");
    }
  }
}

}  // namespace

Tensor pad_edges(const Tensor& input, const std::vector<std::int64_t>& pad, PadMode mode) {
  check_edges(input, pad, mode);
  Amounts more = pad, less = pad;  // what is added, and what is cut away
  for (std::int64_t& n : more) n = std::max<std::int64_t>(n, 0);
  for (std::int64_t& n : less) n = std::min<std::int64_t>(n, 0);
  const bool cuts = std::ranges::any_of(less, [](std::int64_t n) { return n < 0; });
  if (!cuts) return pad_with_edges(input, more, mode);
  // What is cut away does not come around, but is reflected.
  if (mode == PadMode::circular) return pad_with_edges(constant_pad_nd(input, less, 0), more, mode);
  return constant_pad_nd(pad_with_edges(input, more, mode), less, 0);
}

}  // namespace rushlight
