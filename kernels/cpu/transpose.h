// Transposing matrices of any element, in registers, a line of the cache at a time.
#pragma once
#include <cstdint>
#include <type_traits>

namespace rushlight {

// Of uint8, uint16, uint32 or uint64.
template <class Word>
void transpose_words(const Word* src, std::int64_t lds, std::int64_t rows, std::int64_t cols,
                     Word* dst, std::int64_t ldd);

// dst[c * ldd + r] = src[r * lds + c], for elements of as many bytes as one of these.
template <class S>
void transpose(const S* src, std::int64_t lds, std::int64_t rows, std::int64_t cols, S* dst,
               std::int64_t ldd) {
  using Word = std::conditional_t<
      sizeof(S) == 1, std::uint8_t,
      std::conditional_t<sizeof(S) == 2, std::uint16_t,
                         std::conditional_t<sizeof(S) == 4, std::uint32_t, std::uint64_t>>>;
  transpose_words(reinterpret_cast<const Word*>(src), lds, rows, cols, reinterpret_cast<Word*>(dst),
                  ldd);
}

}  // namespace rushlight
