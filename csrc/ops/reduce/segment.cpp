// segment_reduce(): rows of different lengths that lie one behind the other in a dimension, each
// reduced to one element. Which element belongs to which is found on the host; the sums, and their
// gradient, are those of scatter_reduce().
#include "ops/index/index.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"

namespace rushlight {
namespace {

// How a reduction begins, under the names of scatter_reduce().
struct SegmentStart {
  std::string_view name;
  double value;
};
SegmentStart segment_start(std::string_view reduce) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (reduce == "sum" || reduce == "mean") return {"sum", 0};
  if (reduce == "prod") return {"prod", 1};
  if (reduce == "amax" || reduce == "max") return {"amax", -infinity};
  if (reduce == "amin" || reduce == "min") return {"amin", infinity};
  fail<RuntimeError>("reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
}

// Lengths or offsets as int64 on the host.
Tensor on_host(const Tensor& bounds, const Tensor& data, int axis, const char* name) {
  if (bounds.dim() > data.dim())
    fail<RuntimeError>("Expected data.dim() >= lengths_value.dim() to be true, but got false.\n",
                       "segment_reduce(): ", describe(name, bounds), "; ", describe("data", data));
  if (axis != bounds.dim() - 1)
    fail<RuntimeError>("segment_reduce(): Expected axis to be the last dimension of ", name,
                       " but got ", axis, ".\n", describe(name, bounds));
  if (bounds.dtype() != DType::int64 && bounds.dtype() != DType::int32)
    fail<NotImplementedError>("\"_segment_reduce_lengths_cpu_kernel1\" not implemented for '",
                              scalar_name(bounds.dtype()), "'\nsegment_reduce(): ", name,
                              " are int64 or int32");
  for (int d = 0; d < axis; ++d)
    if (bounds->shape[d] != data->shape[d])
      fail<RuntimeError>("segment_reduce(): ", name, " and data must have the same sizes before ",
                         "axis\n", describe(name, bounds), "; ", describe("data", data));
  return contiguous(to(detach(bounds), DType::int64, kCpu));
}
const std::int64_t* numbers_of(const Tensor& t) {
  return static_cast<const std::int64_t*>(t->storage->data) + t.offset();
}

// The segment of each element of `data` along axis, `count` where it is in none; and the lengths.
struct Segments {
  Tensor of, lengths;
  std::int64_t count;
  bool stray = false;  // there are elements in none
};
Segments segments_of(const Tensor& bounds, const Tensor& data, int axis, bool by_offset,
                     bool unsafe) {
  const std::int64_t given = bounds->shape[axis], n = data->shape[axis];
  if (by_offset && given == 0)
    fail<RuntimeError>("segment_reduce(): offsets have at least one element along axis");
  Shape whole = bounds.shape(), lengths = bounds.shape();
  whole[axis] = n;
  lengths[axis] = by_offset ? given - 1 : given;
  Segments s{full(whole, Scalar(lengths[axis]), DType::int64), empty(lengths, DType::int64),
             lengths[axis]};
  auto* of = static_cast<std::int64_t*>(s.of->storage->data);
  auto* length = static_cast<std::int64_t*>(s.lengths->storage->data);
  const std::int64_t* bound = numbers_of(bounds);
  const std::int64_t rows = given ? bounds.numel() / given : 0;
  for (std::int64_t r = 0; r < rows; ++r, of += n, length += s.count, bound += given) {
    std::int64_t start = by_offset ? bound[0] : 0, covered = 0;
    for (std::int64_t k = 0; k < s.count; ++k) {
      const std::int64_t end = by_offset ? bound[k + 1] : checked_add(start, bound[k]);
      if (end < start)
        fail<RuntimeError>(by_offset ? "Expected segment_length >= 0 to be true, but got false."
                                     : "lengths contains negative value!",
                           "\nsegment_reduce(): segment ", k, " has length ", end - start);
      if (start < 0 || end > n)
        fail<RuntimeError>(
            "segment_reduce(): Expected all rows of lengths along axis to sum to "
            "data.size(lengths.dim()-1) when !unsafe.\nsegment ",
            k, " is [", start, ", ", end, ") of ", n, " elements");
      std::fill(of + start, of + end, k);
      length[k] = end - start;
      covered += end - start;
      start = end;
    }
    s.stray |= covered < n;
  }
  if (s.stray && !by_offset && !unsafe)
    fail<RuntimeError>(
        "segment_reduce(): Expected all rows of lengths along axis to sum to "
        "data.size(lengths.dim()-1) when !unsafe.\nthere are ",
        n, " elements along axis ", axis);
  return s;
}

}  // namespace

Tensor segment_reduce(const Tensor& data, std::string_view reduce,
                      const std::optional<Tensor>& lengths, const std::optional<Tensor>& indices,
                      const std::optional<Tensor>& offsets, std::int64_t axis, bool unsafe,
                      std::optional<Scalar> initial) {
  const int at = wrap_dim(axis, data.dim());
  const SegmentStart start = segment_start(reduce);
  if (indices)
    fail<RuntimeError>("segment_reduce(): indices based reduction is not supported yet.");
  if (!lengths && !offsets)
    fail<RuntimeError>("segment_reduce(): Either lengths or offsets must be defined.");
  if (data.dim() == 0)
    fail<RuntimeError>(
        "Expected data.dim() >= lengths_value.dim() to be true, but got false.\n"
        "segment_reduce(): data has no dimension");
  if (!is_floating(data.dtype()))
    fail<NotImplementedError>("\"_segment_reduce_cpu\" not implemented for '",
                              scalar_name(data.dtype()),
                              "'\nsegment_reduce(): ", describe("data", data));
  const Tensor bounds =
      on_host(offsets ? *offsets : *lengths, data, at, offsets ? "offsets" : "lengths");
  const Segments s = segments_of(bounds, data, at, bool(offsets), unsafe);

  Shape result = data.shape(), wide = data.shape();
  result[at] = s.count;
  Shape over = s.of.shape(), counts = s.lengths.shape();
  for (int d = at + 1; d < data.dim(); ++d) {
    over.push_back(1);
    counts.push_back(1);
  }
  wide[at] = checked_add(s.count, s.stray ? 1 : 0);
  const Scalar first = initial.value_or(Scalar(start.value));
  const Tensor index = expand(view(to(s.of, data.device()), over), data.shape());
  Tensor out = scatter_reduce(full(wide, first, data.dtype(), data.device()), at, index, data,
                              start.name, true);
  if (s.stray) out = contiguous(narrow(out, at, 0, s.count));
  if (reduce != "mean") return out;
  Tensor size = to(view(s.lengths, counts), data.dtype(), data.device());
  if (initial) size = clamp(size, as_input(Scalar(1)), {});  // an empty one is `initial` itself
  return div(out, size);
}

}  // namespace rushlight
