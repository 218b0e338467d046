// Memory of a device whose driver has no memory pools (some virtual GPUs, old setups): blocks of
// cudaMalloc, which makes the device wait, are kept and used again on the stream where they were
// given back. The caller holds a lock, and has made the device current.
#pragma once
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "current.h"

namespace rushlight::gpu {

class BlockCache {
 public:
  // Null where nothing is kept that fits and cudaMalloc has no memory.
  void* take(std::size_t bytes, cudaStream_t stream) {
    const std::size_t size = rounded(bytes);
    void* block = nullptr;
    if (auto kept = kept_.find({stream, size}); kept != kept_.end() && !kept->second.empty()) {
      block = kept->second.back();
      kept->second.pop_back();
      return block;
    }
    if (cudaMalloc(&block, size) != cudaSuccess) {
      cudaGetLastError();
      return nullptr;
    }
    sizes_[block] = size;
    reserved_ += size;
    return block;
  }
  void give(void* block, cudaStream_t stream) {
    kept_[{stream, sizes_.at(block)}].push_back(block);
  }
  // All that is kept goes back to the driver.
  void release_kept() {
    for (auto& [key, blocks] : kept_)
      for (void* block : blocks) {
        sizes_.erase(block);
        reserved_ -= key.second;
        if (cudaFree(block) != cudaSuccess) cudaGetLastError();
      }
    kept_.clear();
  }
  std::size_t reserved() const { return reserved_; }

 private:
  // 512 bytes, or 2 MiB for the large ones, so that about equal sizes share blocks.
  static std::size_t rounded(std::size_t bytes) {
    const std::size_t step = bytes <= (1 << 20) ? 512 : 2 << 20;
    return (bytes + step - 1) / step * step;
  }
  std::map<std::pair<cudaStream_t, std::size_t>, std::vector<void*>> kept_;
  std::unordered_map<void*, std::size_t> sizes_;
  std::size_t reserved_ = 0;
};

}  // namespace rushlight::gpu
