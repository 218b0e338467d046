// A dimension split into views: parts of one size, of given sizes, or between given indices.
#include <algorithm>

#include "autograd/repeatable.h"
#include "kernels/parallel.h"
#include "ops/join.h"
#include "ops/view.h"

namespace rushlight {

// The parts are outputs of one node, so that backward joins once.
// `names`: of the dimension, the input's sizes and `how` it was cut, as far as torch shows them.
template <class How>
static void record_parts(const char* name, const char* names, const Tensor& input,
                         std::vector<Tensor>& parts, int at, const How& how) {
  constexpr bool unbound = std::is_same_v<How, std::nullopt_t>;
  std::vector<Shape> shapes;
  if (needs_grad(input))
    for (const Tensor& p : parts) shapes.push_back(p.shape());
  const auto joined = repeatable([shapes](std::span<Tensor> grads, Node&, std::int64_t at) {
    std::vector<Tensor> all(grads.begin(), grads.end());
    const auto known = std::ranges::find_if(all, [](const Tensor& g) { return bool(g); });
    const DType dtype = known->dtype();
    const Device device = known->device();
    for (std::size_t i = 0; i < all.size(); ++i)
      if (!all[i]) all[i] = zeros(shapes[i], dtype, device);
    return Gradients(unbound ? stack(all, int(at)) : cat(all, int(at)));
  });
  if constexpr (unbound)
    record_many(name, parts, showing(names, joined, std::int64_t(at)), input);
  else
    record_many(name, parts, showing(names, joined, std::int64_t(at), input.shape(), how), input);
}

// One of very many small pieces of work is done.
static void answer_interrupts(std::size_t done) {
  if (done % 1024 == 0) check_interrupt();
}

static void link_parts(const std::vector<Tensor>& parts, const Tensor& input) {
  for (const Tensor& p : parts) {
    link_to_base(p, input);
    if (p->base && p->unrecorded == Unrecorded::none) p->unrecorded = Unrecorded::part;
  }
}

// An expanded dimension costs no memory, its parts do.
static std::vector<Tensor> room_for(std::int64_t count) {
  constexpr std::int64_t kMostParts = std::int64_t(1) << 26;
  if (count > kMostParts)
    fail<RuntimeError>("a tensor can be cut into at most ", kMostParts, " parts, not ", count);
  std::vector<Tensor> parts;
  parts.reserve(std::size_t(count));
  return parts;
}

std::vector<Tensor> unbind(const Tensor& input, std::int64_t dim) {
  if (input.dim() == 0)
    fail<IndexError>("Dimension specified as ", dim, " but tensor has no dimensions");
  const int at = wrap_dim(dim, input.dim());
  std::vector<Tensor> parts = room_for(input->shape[at]);
  {
    const GradMode off(false);
    for (std::int64_t i = 0; i < input->shape[at]; ++i) {
      parts.push_back(select(input, at, i));
      answer_interrupts(parts.size());
    }
  }
  link_parts(parts, input);
  if (!parts.empty()) record_parts("UnbindBackward0", "dim", input, parts, at, std::nullopt);
  return parts;
}

// How a dimension is split: the size of each part.
struct Parts {
  const char* node;
  int at;
  std::vector<std::int64_t> sizes;
  std::optional<std::int64_t> size;  // of all but the last one, where it was given
};

static void record_parts(const char* name, const Tensor& input, std::vector<Tensor>& parts,
                         const Parts& p) {
  if (p.size)
    record_parts(name, "dim self_sym_sizes split_size", input, parts, p.at, *p.size);
  else
    record_parts(name, "dim self_sym_sizes split_sizes", input, parts, p.at, p.sizes);
}

static std::vector<Tensor> narrowed(const Tensor& input, const Parts& p) {
  const GradMode off(false);
  std::vector<Tensor> out;
  std::int64_t start = 0;
  for (std::int64_t n : p.sizes) {
    out.push_back(narrow(input, p.at, start, n));
    start += n;
    answer_interrupts(out.size());
  }
  return out;
}
static std::vector<Tensor> views(const Tensor& input, const Parts& p) {
  std::vector<Tensor> out = narrowed(input, p);
  link_parts(out, input);
  record_parts(p.node, input, out, p);
  return out;
}
static std::vector<Tensor> unsafe(const Tensor& input, Parts p) {
  std::vector<Tensor> out = narrowed(input, p);
  record_parts(p.sizes.empty() || std::string_view(p.node) == "SplitBackward0"
                   ? "UnsafeSplitBackward0"
                   : "UnsafeSplitWithSizesBackward0",
               input, out, p);
  return out;
}

static Parts equal_parts(const Tensor& input, std::int64_t size, std::int64_t dim) {
  if (input.dim() == 0) fail<RuntimeError>("split expects at least a 1-dimensional tensor");
  if (size < 0)
    fail<RuntimeError>("split expects split_size be non-negative, but got split_size=", size);
  const int at = wrap_dim(dim, input.dim());
  const std::int64_t n = input->shape[at];
  if (size == 0 && n != 0)
    fail<RuntimeError>(
        "split_size can only be 0 if dimension size is 0, but got dimension size of ", n);
  std::vector<std::int64_t> sizes;
  if (size) room_for(n / size);
  for (std::int64_t rest = n; rest > 0; rest -= size) sizes.push_back(std::min(size, rest));
  if (sizes.empty()) sizes.push_back(0);
  return {"SplitBackward0", at, std::move(sizes), size};
}

static Parts parts_of(const Tensor& input, Sizes sizes, std::int64_t dim) {
  if (input.dim() == 0) fail<RuntimeError>("split expects at least a 1-dimensional tensor");
  const int at = wrap_dim(dim, input.dim());
  std::int64_t total = 0;
  for (std::int64_t n : sizes) {
    if (n < 0)
      fail<RuntimeError>(
          "split_with_sizes expects split_sizes have only non-negative entries, but got "
          "split_sizes=",
          sizes);
    total = checked_add(total, n);
  }
  if (total != input->shape[at])
    fail<RuntimeError>("split_with_sizes expects split_sizes to sum exactly to ", input->shape[at],
                       " (input tensor's size at dimension ", dim,
                       "), but got split_sizes=", sizes);
  return {"SplitWithSizesBackward0", at, {sizes.begin(), sizes.end()}, {}};
}

static Parts chunks_of(const Tensor& input, std::int64_t chunks, std::int64_t dim) {
  if (input.dim() == 0) fail<RuntimeError>("chunk expects at least a 1-dimensional tensor");
  if (chunks <= 0) fail<RuntimeError>("chunk expects `chunks` to be greater than 0, got: ", chunks);
  const int at = wrap_dim(dim, input.dim());
  const std::int64_t n = input->shape[at];
  if (n == 0)
    return {"SplitWithSizesBackward0",
            at,
            std::vector<std::int64_t>(std::size_t(std::min<std::int64_t>(chunks, 65535)), 0),
            {}};
  return equal_parts(input, n / chunks + (n % chunks != 0), at);
}

std::vector<Tensor> split(const Tensor& input, std::int64_t size, std::int64_t dim) {
  return views(input, equal_parts(input, size, dim));
}
std::vector<Tensor> split_sizes(const Tensor& input, Sizes sizes, std::int64_t dim) {
  return views(input, parts_of(input, sizes, dim));
}
std::vector<Tensor> chunk(const Tensor& input, std::int64_t chunks, std::int64_t dim) {
  return views(input, chunks_of(input, chunks, dim));
}
std::vector<Tensor> unsafe_split(const Tensor& input, std::int64_t size, std::int64_t dim) {
  return unsafe(input, equal_parts(input, size, dim));
}
std::vector<Tensor> unsafe_split_sizes(const Tensor& input, Sizes sizes, std::int64_t dim) {
  return unsafe(input, parts_of(input, sizes, dim));
}
std::vector<Tensor> unsafe_chunk(const Tensor& input, std::int64_t chunks, std::int64_t dim) {
  return unsafe(input, chunks_of(input, chunks, dim));
}

std::vector<Tensor> tensor_split(const Tensor& input, const Indices& at, std::int64_t dim) {
  if (input.dim() == 0)
    fail<RuntimeError>(
        "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  const int d = wrap_dim(dim, input.dim());
  std::vector<Tensor> parts;
  std::int64_t start = 0;
  for (std::int64_t end : at) {
    parts.push_back(slice(input, d, start, end, 1));
    start = end;
  }
  parts.push_back(slice(input, d, start, {}, 1));
  return parts;
}

std::vector<Tensor> tensor_split(const Tensor& input, std::int64_t sections, std::int64_t dim) {
  if (sections <= 0) fail<RuntimeError>("number of sections must be larger than 0, got ", sections);
  if (sections > 1 << 20)
    fail<RuntimeError>("number of sections must be at most ", 1 << 20, ", got ", sections);
  const int d = wrap_dim(dim, input.dim());
  const std::int64_t n = input.dim() ? input->shape[d] : 1;
  Indices at;
  std::int64_t end = 0;
  for (std::int64_t i = 0; i + 1 < sections; ++i)
    at.push_back(end += n / sections + (i < n % sections));
  return tensor_split(input, at, dim);
}

// The parts are named by a tensor: a number of them, or where to cut.
std::vector<Tensor> tensor_split(const Tensor& input, const Tensor& parts, std::int64_t dim) {
  if (!parts.device().is_cpu())
    fail<RuntimeError>(
        "tensor_split expected tensor_indices_or_sections to be on cpu, but it's on ",
        parts.device());
  if (parts.dtype() != DType::int64)
    fail<RuntimeError>(
        "tensor_split expected tensor_indices_or_sections to have dtype of long, but got ",
        scalar_name(parts.dtype()));
  if (parts.dim() > 1)
    fail<RuntimeError>(
        "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
        "one-dimensional tensor, but got a tensor with ",
        parts.dim(), " dims");
  if (parts.dim() == 0) return tensor_split(input, item(parts).as_int(), dim);
  const Tensor dense = contiguous(parts);
  const View v = view_of(dense);
  return tensor_split(input, Indices(v.as<std::int64_t>(), v.as<std::int64_t>() + v.numel), dim);
}

static int dim_of(const Tensor& input, SplitAxis axis) {
  static constexpr const char* kNames[] = {"hsplit", "vsplit", "dsplit"};
  const int least = int(axis) + 1;
  if (input.dim() < least)
    fail<RuntimeError>("torch.", kNames[int(axis)], " requires a tensor with at least ", least,
                       " dimension, but got a tensor with ", input.dim(), " dimensions!");
  if (axis == SplitAxis::horizontal) return input.dim() == 1 ? 0 : 1;
  return axis == SplitAxis::vertical ? 0 : 2;
}

std::vector<Tensor> split_axis(const Tensor& input, std::int64_t sections, SplitAxis axis) {
  static constexpr const char* kNames[] = {"hsplit", "vsplit", "dsplit"};
  const int dim = dim_of(input, axis);
  if (sections == 0 || input->shape[dim] % sections)
    fail<RuntimeError>("torch.", kNames[int(axis)], " attempted to split along dimension ", dim,
                       ", but the size of the dimension ", input->shape[dim],
                       " is not divisible by the split_size ", sections, "!");
  return tensor_split(input, sections, dim);
}

std::vector<Tensor> split_axis(const Tensor& input, const Indices& indices, SplitAxis axis) {
  return tensor_split(input, indices, dim_of(input, axis));
}

}  // namespace rushlight
