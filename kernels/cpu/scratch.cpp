// Scratch blocks. Note: a block begins with its size, 64 bytes before the memory
// handed out, and goes back to the thread that frees it.
#include "scratch.h"

#include <cstdlib>
#include <new>

namespace rushlight {
namespace {

constexpr std::size_t kHeader = 64, kKept = 8, kLargestKept = std::size_t(32) << 20;

struct Freed {
  char* blocks[kKept] = {};
  ~Freed() {
    for (char* b : blocks) std::free(b);
  }
};
thread_local Freed freed;

std::size_t& size_of(char* block) { return *reinterpret_cast<std::size_t*>(block); }

}  // namespace

void* take_scratch(std::size_t bytes) {
  char** best = nullptr;
  for (char*& b : freed.blocks)
    if (b && size_of(b) >= bytes && (!best || size_of(b) < size_of(*best))) best = &b;
  // A block many times too large is left for larger requests.
  if (best && size_of(*best) / 8 <= bytes + 4096) {
    char* block = *best;
    *best = nullptr;
    return block + kHeader;
  }
  const std::size_t rounded = (bytes + kHeader + 4095) & ~std::size_t(4095);
  char* block = rounded > bytes ? static_cast<char*>(std::aligned_alloc(64, rounded)) : nullptr;
  if (!block) throw std::bad_alloc();
  size_of(block) = rounded - kHeader;
  return block + kHeader;
}

void give_scratch(void* memory) {
  char* block = static_cast<char*>(memory) - kHeader;
  if (size_of(block) > kLargestKept) return std::free(block);
  char** smallest = &freed.blocks[0];
  for (char*& b : freed.blocks) {
    if (!b) {
      b = block;
      return;
    }
    if (size_of(b) < size_of(*smallest)) smallest = &b;
  }
  if (size_of(*smallest) < size_of(block)) {
    char* other = *smallest;
    *smallest = block;
    block = other;
  }
  std::free(block);
}

}  // namespace rushlight
