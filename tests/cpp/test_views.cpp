// view_of and from_storage: no view of what lies outside the storage, whatever the body says.
#include "check.h"
#include "core/dense_view.h"
#include "core/error.h"
#include "core/tensor.h"

using namespace rushlight;

static Tensor matrix() { return empty({4, 6}, DType::float32); }

static void test_good() {
  const Tensor t = matrix();
  const std::int64_t strides[] = {6, 2};
  const Tensor part = geometry(t, Shape{3, 3}, strides, 1);
  const View v = view_of(part);
  check::that(v.data == static_cast<char*>(t->storage->data) + 4 && v.numel == 9, "a part");
  const View wide = view_of(part, Shape{5, 3, 3});
  check::that(wide.strides[0] == 0 && wide.numel == 45, "broadcast");
  check::throws<RuntimeError>([&] { view_of(part, Shape{3, 4}); }, "no broadcast");
  check::that(dense_view(t, DType::float32, 24).data == t->storage->data, "a dense one");
}

// A body that no operation makes: as if a check had been forgotten.
template <class F>
static void refused(F spoil, const char* claim) {
  const Tensor t = matrix();
  spoil(*t.body());
  check::throws<RuntimeError>([&] { view_of(t); }, claim);
  check::throws<RuntimeError>([&] { view_of(t, t.sizes()); }, claim);
}

static void test_spoiled() {
  refused([](Body& b) { b.offset = 1; }, "one element beyond the end");
  refused([](Body& b) { b.offset = INT64_MAX; }, "an offset that overflows");
  refused([](Body& b) { b.shape[0] = 5, b.numel = 30; }, "a row too many");
  refused([](Body& b) { b.dtype = DType::float64; }, "elements too wide");
  refused([](Body& b) { b.contiguous = false, b.strides[0] = 7; }, "a stride too long");
  refused([](Body& b) { b.contiguous = false, b.strides[1] = -1; }, "elements before the start");
  refused([](Body& b) { b.contiguous = false, b.strides[0] = INT64_MAX; }, "a stride that wraps");
  refused([](Body& b) { b.storage = Storage::make(95, kCpu); }, "a storage that shrank");
}

static void test_changed() {
  const Tensor t = matrix();
  check::throws<RuntimeError>([&] { dense_view(t, DType::float32, 23); }, "another count");
  check::throws<RuntimeError>([&] { dense_view(t, DType::int32, 24); }, "another dtype");
  const std::int64_t strides[] = {1, 4};
  const Tensor turned = geometry(t, Shape{4, 6}, strides, 0);
  check::throws<RuntimeError>([&] { dense_view(turned, DType::float32, 24); }, "another order");
}

static void test_storages() {
  const Ref<Storage> s = Storage::make(32, kCpu);
  const std::int64_t one = 1, back = -1, far = INT64_MAX;
  const auto make = [&](std::int64_t size, const std::int64_t* stride, std::int64_t offset) {
    return from_storage(s, DType::float32, Shape{size}, stride, offset);
  };
  check::that(make(8, &one, 0).numel() == 8 && make(0, &far, 0).numel() == 0, "what fits");
  check::throws<RuntimeError>([&] { make(9, &one, 0); }, "nine of eight");
  check::throws<RuntimeError>([&] { make(8, &one, 1); }, "shifted by one");
  check::throws<RuntimeError>([&] { make(1, &one, -1); }, "before the start");
  check::throws<RuntimeError>([&] { make(2, &back, 0); }, "backwards from the start");
  check::throws<RuntimeError>([&] { make(2, &far, 1); }, "an end that wraps");
  check::throws<RuntimeError>([&] { make(-1, &one, 0); }, "a negative size");
  check::throws<RuntimeError>([&] { make(1, &one, INT64_MAX); }, "an offset that wraps");
}

static void test_nothing() {
  check::throws<RuntimeError>([] { view_of(Tensor()); }, "an undefined tensor");
  const Tensor meta = empty({2}, DType::float32, Device{DeviceType::meta, -1});
  check::throws<NotImplementedError>([&] { view_of(meta); }, "a tensor without data");
  check::that(view_of(empty({0, 3}, DType::int8)).numel == 0, "an empty one");
}

int main() {
  test_good();
  test_spoiled();
  test_changed();
  test_storages();
  test_nothing();
  return check::failures != 0;
}
