// Bags of rows of a table, each joined to one row: sums, means or maxima; by a kernel where all are
// of one length, else written from embedding() and index_add(). Note: positions are read before
// anything else, and offsets on the host; for a GPU's sums and means offsets stay on the device,
// unchecked, so that the host does not wait.
#include "ops/embedding.h"
#include "ops/index/checks.h"
#include "ops/pointwise/pointwise.h"
#include "ops/reduce/reduce.h"
#include "ops/sort/sort.h"

namespace rushlight {
namespace {

void check_kind(const Tensor& t) {
  if (t.dtype() != DType::int64 && t.dtype() != DType::int32)
    fail<RuntimeError>(
        "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
        "Long, Int; but got torch.",
        scalar_name(t.dtype()), "Tensor instead (while checking arguments for embedding_bag)\n",
        describe("indices", t), "; convert with .long()");
}

// Where each bag ends; offsets say where it starts, and with `last` also where the last one ends.
std::vector<std::int64_t> ends_of(const Tensor& offsets, std::int64_t total, bool last) {
  const Tensor host = contiguous(to(offsets, DType::int64, kCpu));
  const View v = view_of(host);
  const auto* at = v.as<const std::int64_t>();
  if (v.numel && at[0] != 0)
    fail<RuntimeError>(
        "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from "
        "position 0. However, got ",
        at[0]);
  if (v.numel && at[v.numel - 1] > total)
    fail<RuntimeError>("offsets[-1] can not be greater than input's length ", total,
                       " but got offsets[-1] of ", at[v.numel - 1]);
  std::vector<std::int64_t> ends(at + std::min<std::int64_t>(1, v.numel), at + v.numel);
  if (v.numel && !last) ends.push_back(total);
  for (std::int64_t i = 0; i < std::int64_t(ends.size()); ++i)
    if (ends[std::size_t(i)] < at[i])
      fail<RuntimeError>("offsets must not fall: offsets[", i, "] is ", at[i],
                         " and the bag ends at ", ends[std::size_t(i)]);
  return ends;
}

// The length of each bag, if all have the same; 0 where they have not, or are empty.
std::int64_t length_of_all(const std::vector<std::int64_t>& ends) {
  if (ends.empty()) return 0;
  for (std::size_t bag = 1; bag < ends.size(); ++bag)
    if (ends[bag] - ends[bag - 1] != ends[0]) return 0;
  return ends[0];
}

// The bag of each row, where every bag ends.
Tensor bags_of_rows(const std::vector<std::int64_t>& ends, std::int64_t total, Device device) {
  const Tensor bag_of = empty({ends.empty() ? 0 : total}, DType::int64);
  const View v = view_of(bag_of);
  std::int64_t at = 0;
  for (std::size_t bag = 0; bag < ends.size(); ++bag)
    for (; at < ends[bag]; ++at) v.as<std::int64_t>()[at] = std::int64_t(bag);
  return to(bag_of, device);
}
// The same from where they start, on a GPU: how many bags after the first have begun by then.
Tensor bags_of_rows(const Tensor& offsets, std::int64_t total) {
  const Tensor later = slice(to(offsets, DType::int64), 0, 1, offsets.numel(), 1);
  const Tensor rows = arange(0, total, 1, {DType::int64, offsets.device()});
  return searchsorted(contiguous(later), rows, false, true, Tensor());
}

Tensor largest(const Tensor& rows, const Tensor& kept, const std::vector<std::int64_t>& ends) {
  std::vector<Tensor> bags;
  std::int64_t start = 0;
  for (const std::int64_t end : ends) {
    Tensor part = narrow(rows, 0, start, end - start);
    if (kept) part = index(part, {narrow(kept, 0, start, end - start)});
    // Of equal elements the first is the largest, and has the whole gradient.
    bags.push_back(part->shape[0] ? std::get<0>(max(part, 0, false)) : sum(part, Shape{0}, false));
    start = end;
  }
  return bags.empty() ? narrow(rows, 0, 0, 0) : stack(bags, 0);
}

}  // namespace

Tensor embedding_bag(const Tensor& weight, const Tensor& given, const Tensor& given_offsets,
                     std::string_view mode, std::optional<Tensor> per_sample_weights,
                     std::int64_t padding_idx, bool scale_grad_by_freq, bool sparse,
                     bool include_last_offset) {
  if (weight.dim() != 2) fail<RuntimeError>("'weight' must be 2-D");
  check_kind(given);
  check_kind(given_offsets);
  if (per_sample_weights && per_sample_weights->dtype() != weight.dtype())
    fail<RuntimeError>(
        "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
        "'per_sample_weights'; but type torch.",
        scalar_name(weight.dtype()), "Tensor does not equal torch.",
        scalar_name(per_sample_weights->dtype()),
        "Tensor (while checking arguments for embedding_bag)");
  Tensor indices, kept, bag_of, counts, each, offsets = given_offsets;
  if (include_last_offset) {
    if (offsets.numel() == 0)
      fail<RuntimeError>("include_last_offset: number of offset should be at least 1");
    offsets = narrow(offsets, 0, 0, offsets.numel() - 1);
  }
  {
    const GradMode off(false);
    indices = contiguous(to(given, DType::int64));
    const bool by_kernel = mode != "max" && padding_idx < 0 && weight.dtype() != DType::float64;
    check_indices(indices, 0, weight->shape[0], [&](std::int64_t k, std::int64_t i) {
      if (!by_kernel)  // torch says it in two ways
        fail<RuntimeError>(
            "embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be ", k,
            "\n", describe("weight", weight));
      fail<RuntimeError>("Index ", i, " of input takes value ", k,
                         " which is not in the valid range [0, ", weight->shape[0], ")\n",
                         describe("weight", weight));
    });
  }
  const bool on_meta = offsets.device().is_meta();
  const bool reads = !on_meta && (mode == "max" || !offsets.device().is_cuda());
  const auto ends = reads ? ends_of(given_offsets, indices.numel(), include_last_offset)
                          : std::vector<std::int64_t>();
  if (reads && include_last_offset && (ends.empty() || ends.back() < indices.numel())) {
    const std::int64_t used = ends.empty() ? 0 : ends.back();  // the rest is in no bag
    indices = narrow(indices, 0, 0, used);
    if (per_sample_weights) per_sample_weights = narrow(*per_sample_weights, 0, 0, used);
  }
  const std::int64_t total = indices.numel();
  if (padding_idx >= 0) {
    const GradMode off(false);
    kept = apply<Ne>(indices, Scalar(padding_idx));
  }
  const std::int64_t bags = offsets.numel();
  const std::int64_t length = kept ? 0 : length_of_all(ends);
  // Of more rows totals are wider than an element: reductions have them.
  if (length && length <= 64 && mode != "max" && !per_sample_weights && !sparse &&
      has_embedding_bags(weight))
    return embedding_bags(weight, reshape(indices, Shape{total}), length, mode == "mean",
                          scale_grad_by_freq);
  Tensor rows = embedding(weight, indices, padding_idx, scale_grad_by_freq, sparse);
  if (per_sample_weights) rows = mul(rows, unsqueeze(*per_sample_weights, 1));
  Tensor out;
  if (length && mode != "max") {
    const Tensor each_bag = reshape(rows, Shape{bags, length, weight->shape[1]});
    out = mode == "mean" ? mean(each_bag, Shape{1}, false) : sum(each_bag, Shape{1}, false);
  } else if (mode == "max" && !on_meta) {
    out = largest(rows, kept, ends);
  } else {
    {
      const GradMode off(false);
      if (bags)
        bag_of = reads ? bags_of_rows(ends, total, weight.device()) : bags_of_rows(offsets, total);
      each = kept ? to(kept, weight.dtype()) : full({total}, 1, weight.dtype(), weight.device());
      if (mode == "mean" && bags)
        counts = index_add(zeros({bags}, weight.dtype(), weight.device()), 0, bag_of, each, 1);
    }
    if (kept) rows = mul(rows, unsqueeze(each, 1));
    out = zeros({bags, weight->shape[1]}, weight.dtype(), weight.device());
    if (bags) out = index_add(out, 0, bag_of, rows, 1);
    if (counts) out = div(out, unsqueeze(apply<Maximum>(counts, Scalar(1)), 1));
  }
  if (Node* node = out.requires_grad() ? out->node : nullptr) node->name = "EmbeddingBagBackward0";
  return out;
}

}  // namespace rushlight
