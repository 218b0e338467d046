// The bytes of working memory: as many as no memory has where a product of sizes is beyond them, so
// that taking them fails. An expanded tensor has up to 2**63 elements over one of memory.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rushlight {

constexpr std::size_t scratch_bytes(std::size_t count, std::size_t size) {
  return count > std::size_t(PTRDIFF_MAX) / size ? std::size_t(-1) : count * size;
}

}  // namespace rushlight
