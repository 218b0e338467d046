// The checksum of zip archives, fast enough to be taken while bytes are in the cache on their way
// to a file.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rushlight {

// Continues `crc` (0 at the start) over `length` bytes; the same numbers as zlib's crc32.
std::uint32_t crc32(std::uint32_t crc, const void* data, std::size_t length) noexcept;

}  // namespace rushlight
