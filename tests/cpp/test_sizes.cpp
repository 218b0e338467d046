// Size arithmetic at the edge of 64 bits: nothing wraps, and what cannot be said is refused.
#include <cstdint>

#include "check.h"
#include "core/shape.h"

using namespace rushlight;

constexpr std::int64_t kBig = INT64_MAX, kSmall = INT64_MIN;

static void test_arithmetic() {
  check::that(checked_mul(1LL << 31, 1LL << 31) == 1LL << 62, "a product that fits");
  check::that(checked_add(kBig - 1, 1) == kBig, "a sum that fits");
  check::throws<RuntimeError>([] { checked_mul(1LL << 32, 1LL << 31); }, "2^63 does not fit");
  check::throws<RuntimeError>([] { checked_mul(kSmall, -1); }, "nor does -INT64_MIN");
  check::throws<RuntimeError>([] { checked_add(kBig, 1); }, "sums overflow upwards");
  check::throws<RuntimeError>([] { checked_add(kSmall, -1); }, "and downwards");
}

static void test_counts() {
  check::that(numel_of(Shape{}) == 1, "a 0-d tensor has one element");
  check::that(numel_of(Shape{0, kBig}) == 0, "0 times much is 0");
  check::throws<RuntimeError>([] { numel_of(Shape{kBig, 2}); }, "too many elements");
  check::throws<RuntimeError>([] { numel_of(Shape{2, -1}); }, "a negative size");
  check::throws<RuntimeError>([] { bytes_of(Shape{1LL << 61}, DType::float64); },
                              "elements that fit, bytes that do not");
  Strides strides;
  check::throws<RuntimeError>([&] { contiguous_strides(Shape{kBig, 0, kBig}, strides); },
                              "strides beside a size of 0 are not let wrap");
  check::throws<RuntimeError>([&] { contiguous_strides(Shape{3, kSmall}, strides); },
                              "a negative size has no strides");
  check::that(contiguous_strides(Shape{2, 0, 3}, strides) == 0 && strides[0] == 3, "0 counts as 1");
}

static void test_extents() {
  const std::int64_t steps[] = {-2, 5}, far[] = {kBig, kBig}, zeros[] = {0, 0};
  const Extent e = extent_of(Shape{3, 4}, steps);
  check::that(e.low == -4 && e.high == 15, "an extent to both sides");
  check::that(extent_of(Shape{kBig, kBig}, zeros).high == 0, "an expanded tensor is one element");
  check::that(extent_of(Shape{0, 4}, far).high == -1, "an empty one is none");
  check::throws<RuntimeError>([&] { extent_of(Shape{2, 2}, far); }, "the farthest element");
  check::throws<RuntimeError>([&] { extent_of(Shape{3}, far); }, "a single stride too far");
}

static void test_dimensions() {
  check::that(wrap_dim(-1, 3) == 2 && wrap_dim(0, 0) == 0 && wrap_dim(-1, 0) == 0, "wrapping");
  for (const std::int64_t dim : {kBig, kSmall, std::int64_t(3), std::int64_t(-4)})
    check::throws<IndexError>([&] { wrap_dim(dim, 3); }, "a dimension that is not there");
  const std::int64_t twice[] = {0, -2};
  check::throws<RuntimeError>([&] { dim_mask(twice, 2); }, "a dimension named twice");
  Shape full{1, 1, 1, 1, 1, 1, 1, 1};
  check::throws<RuntimeError>([&] { full.push_back(1); }, "a ninth dimension");
  check::throws<RuntimeError>([] { Shape(std::vector<std::int64_t>(9, 1)); }, "nine at once");
}

static void test_shapes() {
  check::throws<RuntimeError>([] { infer_shape(Shape{-1, -1}, 6); }, "two unknown sizes");
  check::throws<RuntimeError>([] { infer_shape(Shape{-1, 0}, 0); }, "anything times 0 is 0");
  check::throws<RuntimeError>([] { infer_shape(Shape{kBig, kBig}, 6); }, "sizes that overflow");
  check::throws<RuntimeError>([] { infer_shape(Shape{-2, 3}, 6); }, "a negative size");
  check::that(infer_shape(Shape{-1, 3}, 6) == Shape{2, 3}, "what is left");
  check::throws<RuntimeError>([] { broadcast(Shape{2, 3}, Shape{2, 4}); }, "3 beside 4");
  check::that(broadcast(Shape{kBig, 1}, Shape{1, kBig}) == Shape{kBig, kBig}, "a shape, no tensor");
  const std::int64_t strides[] = {4, 1};
  Strides out;
  check::that(!view_strides(Shape{3, 2}, strides, Shape{6}, out), "rows apart are no vector");
  check::that(view_strides(Shape{3, 4}, strides, Shape{12}, out) && out[0] == 1, "dense ones are");
}

int main() {
  test_arithmetic();
  test_counts();
  test_extents();
  test_dimensions();
  test_shapes();
  return check::failures != 0;
}
