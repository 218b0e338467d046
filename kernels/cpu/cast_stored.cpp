// Casts from and to the types that are only stored, in blocks: the elements are first widened, then
// narrowed, so that there is a loop for each type and none for each pair.
#include "../stored.h"
#include "copy_plan.h"

namespace rushlight {

template <class C>
static void cast_row(const View& out, std::int64_t o, std::int64_t to_step, const View& in,
                     std::int64_t i, std::int64_t from_step, std::int64_t n) {
  constexpr std::int64_t kBlock = 256;
  C block[kBlock];
  for (std::int64_t begin = 0; begin < n; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, n - begin);
    dispatch_stored(in.dtype, [&]<class From>(Type<From>) {
      if constexpr (std::is_same_v<Widest<From>, C>) {
        const From* from = in.as<const From>() + i + begin * from_step;
        for (std::int64_t k = 0; k < count; ++k)
          block[k] = convert_any<C>(load(from + k * from_step));
      }
    });
    dispatch_stored(out.dtype, [&]<class To>(Type<To>) {
      To* to = out.as<To>() + o + begin * to_step;
      for (std::int64_t k = 0; k < count; ++k)
        store(to + k * to_step, convert_any<Compute<To>>(block[k]));
    });
  }
}

void cast_stored(const CopyPlan& p, const View& out, const View& in) {
  dispatch_widest(in.dtype, [&]<class C>(Type<C>) {
    for_each_row(p, [&](std::int64_t o, std::int64_t i, std::int64_t n) {
      cast_row<C>(out, o, p.out[0], in, i, p.in[0], n);
    });
  });
}

}  // namespace rushlight
