// A plain sum, until the reductions stand here.
#include "core/backend.h"
#include "ops/ops.h"

namespace rushlight {

Tensor sum(const Tensor& input, Sizes dims, bool keepdim, std::optional<DType> dtype) {
  const unsigned mask = dim_mask(dims, input.dim());
  Shape kept = input.shape(), shape;
  for (int d = 0; d < input.dim(); ++d) {
    if (mask >> d & 1)
      kept[d] = 1;
    else
      shape.push_back(input->shape[d]);
  }
  const DType to_dtype = dtype ? *dtype : is_integral(input.dtype()) ? DType::int64 : input.dtype();
  Tensor out;
  {
    const GradMode off(false);
    const Tensor x = contiguous(to(input, to_dtype));
    out = zeros(kept, to_dtype, input.device());
    const View v = view_of(out, input.sizes()), w = view_of(x);
    dispatch_all(to_dtype, [&]<class S>(Type<S>) {
      std::int64_t index[kMaxRank] = {}, at = 0;
      for (std::int64_t i = 0; i < w.numel; ++i) {
        store(v.as<S>() + at,
              static_cast<Compute<S>>(load(v.as<const S>() + at) + load(w.as<const S>() + i)));
        for (int d = w.rank - 1; d >= 0; --d) {
          at += v.strides[d];
          if (++index[d] < w.sizes[d]) break;
          at -= index[d] * v.strides[d];
          index[d] = 0;
        }
      }
    });
    if (!keepdim) out = view(out, shape);
  }
  return record(
      dims.empty() ? "SumBackward0" : "SumBackward1", out,
      [kept, whole = input.shape(), d = input.dtype()](Tensor g) {
        return Gradients(to(expand(view(g, kept), whole), d));
      },
      input);
}

}  // namespace rushlight
