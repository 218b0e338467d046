// The loops behind short_rows.h. A call, or a loop whose length is not known, takes longer than the
// few elements of a row.
#include "short_rows.h"

#include <array>
#include <utility>

#include "gaps.h"
#include "kernels/stored.h"
#include "runs.h"

namespace rushlight {
namespace {

constexpr std::int64_t kVector = 64;  // bytes

// Each element, once for all of its row, in vectors: what they write beyond it, the next row
// replaces. The last rows, which nothing follows, end where they should.
template <class S>
CLONES_512 void repeat_each(S* __restrict to, const S* __restrict from, std::int64_t far,
                            std::int64_t rows, std::int64_t row) {
  constexpr std::int64_t kLanes = kVector / std::int64_t(sizeof(S));
  const std::int64_t written = (row + kLanes - 1) / kLanes * kLanes;
  const std::int64_t followed = rows * row < written ? 0 : (rows * row - written) / row + 1;
  for (std::int64_t r = 0; r < followed; ++r) {
    S lanes[kLanes];
    for (int k = 0; k < kLanes; ++k) lanes[k] = from[r * far];
    for (std::int64_t k = 0; k < row; k += kLanes) std::memcpy(to + r * row + k, lanes, kVector);
  }
  for (std::int64_t r = followed; r < rows; ++r)
    for (std::int64_t k = 0; k < row; ++k) to[r * row + k] = from[r * far];
}

// Rows of a size that gcc knows.
template <std::size_t bytes>
void copy_known(char* __restrict to, std::int64_t apart, const char* __restrict from,
                std::int64_t far, std::int64_t rows) {
  for (std::int64_t r = 0; r < rows; ++r) std::memcpy(to + r * apart, from + r * far, bytes);
}
constexpr std::size_t kWord = 4;
constexpr auto kCopies = []<std::size_t... words>(std::index_sequence<words...>) {
  return std::array{copy_known<words * kWord>...};
}(std::make_index_sequence<kVector / kWord + 1>());

// Of kVector bytes and more: the last vector of a row begins so early that it ends with it.
CLONES_512 void copy_vectors_of(char* __restrict to, std::int64_t apart,
                                const char* __restrict from, std::int64_t far, std::int64_t rows,
                                std::int64_t bytes) {
  for (std::int64_t r = 0; r < rows; ++r, to += apart, from += far)
    for (std::int64_t i = 0; i < bytes; i += kVector) {
      const std::int64_t at = std::min(i, bytes - kVector);
      std::memcpy(to + at, from + at, kVector);
    }
}

// Of kLanes elements and more: the last vector of a row begins so early that it ends with it.
template <class S, int kBytes>
CLONES void reverse_vectors(S* __restrict to, std::int64_t apart, const S* __restrict from,
                            std::int64_t far, std::int64_t rows, std::int64_t row) {
  constexpr std::int64_t kLanes = kBytes / std::int64_t(sizeof(S));
  typedef S Vector __attribute__((vector_size(kBytes)));
  for (std::int64_t r = 0; r < rows; ++r, to += apart, from += far)
    for (std::int64_t i = 0; i < row; i += kLanes) {
      const std::int64_t at = std::min(i, row - kLanes);
      Vector v;
      std::memcpy(&v, from - at - (kLanes - 1), kBytes);
      [&]<int... k>(std::integer_sequence<int, k...>) {
        v = __builtin_shufflevector(v, v, (int(kLanes) - 1 - k)...);
      }(std::make_integer_sequence<int, int(kLanes)>());
      std::memcpy(to + at, &v, kBytes);
    }
}
template <class S>
void reverse(S* to, std::int64_t apart, const S* from, std::int64_t far, std::int64_t rows,
             std::int64_t row) {
  const auto bytes = row * std::int64_t(sizeof(S));
  if constexpr (sizeof(S) <= 8) {
    if (bytes >= 32) return reverse_vectors<S, 32>(to, apart, from, far, rows, row);
    if (bytes >= 16) return reverse_vectors<S, 16>(to, apart, from, far, rows, row);
  }
  for (std::int64_t r = 0; r < rows; ++r, to += apart, from += far)
    for (std::int64_t k = 0; k < row; ++k) to[k] = from[-k];
}

template <class S>
void gather(S* to, const S* from, std::int64_t far, std::int64_t near, std::int64_t rows,
            std::int64_t row) {
  constexpr std::int64_t kShort = 16;  // elements that a loop brings sooner than a call begins to
  if (near == 0) return repeat_each(to, from, far, rows, row);
  if (row > kShort) {
    for (std::int64_t r = 0; r < rows; ++r)
      bring_together(to + r * row, from + r * far, sizeof(S), near, row);
    return;
  }
  for (std::int64_t r = 0; r < rows; ++r, from += far)
    for (std::int64_t k = 0; k < row; ++k) *to++ = from[k * near];
}

}  // namespace

void copy_rows(char* to, std::int64_t apart, const char* from, std::int64_t far, std::int64_t rows,
               std::int64_t bytes) {
  if (bytes <= kVector && bytes % kWord == 0)
    return kCopies[std::size_t(bytes) / kWord](to, apart, from, far, rows);
  if (bytes > kVector && bytes <= kShortBytes)
    return copy_vectors_of(to, apart, from, far, rows, bytes);
  for (std::int64_t r = 0; r < rows; ++r, to += apart, from += far) {
    if (bytes <= kShortBytes)
      copy_few(to, from, bytes);
    else
      copy_bytes(to, from, bytes);
  }
}

void reverse_rows(char* to, std::int64_t apart, const char* from, std::int64_t far,
                  std::int64_t rows, std::int64_t row, DType dtype) {
  dispatch_stored_size(dtype, [&]<class S>(Type<S>) {
    reverse(reinterpret_cast<S*>(to), apart, reinterpret_cast<const S*>(from), far, rows, row);
  });
}

void gather_rows(void* to, const void* from, DType dtype, std::int64_t far, std::int64_t near,
                 std::int64_t rows, std::int64_t row) {
  const auto item = std::int64_t(item_size(dtype));
  if (far == 0 && rows > 1) {
    gather_rows(to, from, dtype, 0, near, 1, row);
    return repeat_bytes(static_cast<char*>(to), row * item, rows);
  }
  if (near == 1 && row > 1)
    return copy_rows(static_cast<char*>(to), row * item, static_cast<const char*>(from), far * item,
                     rows, row * item);
  dispatch_stored_size(dtype, [&]<class S>(Type<S>) {
    gather(static_cast<S*>(to), static_cast<const S*>(from), far, near, rows, row);
  });
}

}  // namespace rushlight
