// Storage: the bytes behind one or more tensors. Note: small CPU storages lie in one
// block with their header; all others own memory that `release_memory` gives back. The version
// counter sits here, as every view of the bytes shares it.
#pragma once
#include "core/device.h"
#include "core/memory.h"

namespace rushlight {

struct Storage : Shared {
  std::uint32_t version = 0;  // bumped by every in-place op on any view
  Device device;
  bool pinned = false;
  bool resizable = true;  // false where the bytes are not ours, or their address was given away
  // How many kernels of threads without the interpreter's lock, and memoryviews, have the address.
  std::atomic<std::uint16_t> in_use = 0;
  std::uint32_t generation = 0;  // of its device; a device that is gone leaves the old number here
  std::size_t bytes = 0;
  void* data = nullptr;
  void (*release_memory)(Storage&) noexcept = nullptr;
  void* owner = nullptr;  // for release_memory: the object that lent the bytes
  static constexpr std::size_t kHeader = 64;  // the data stays 64-byte aligned

  // Uninitialised memory on `device`, whose index must be resolved.
  static Ref<Storage> make(std::size_t bytes, Device device);
  // Borrowed CPU bytes; release(owner) when the last tensor is gone.
  static Ref<Storage> borrow(void* data, std::size_t bytes, void* owner,
                             void (*release)(Storage&) noexcept);
  // Another number of bytes of a CPU storage: as many as there were are kept, others are not set.
  void resize_cpu(std::size_t bytes);
};
static_assert(sizeof(Storage) <= Storage::kHeader);
void destroy(Storage* s) noexcept;

// Holds a storage whose address is used elsewhere: it is not let go, and cannot be resized.
class StorageInUse {
 public:
  explicit StorageInUse(Ref<Storage> s) : storage_(std::move(s)) { ++storage_->in_use; }
  StorageInUse(const StorageInUse& o) : StorageInUse(o.storage_) {}
  StorageInUse(StorageInUse&&) = default;
  StorageInUse& operator=(const StorageInUse&) = delete;
  ~StorageInUse() {
    if (storage_) --storage_->in_use;
  }
  Storage& operator*() const { return *storage_; }

 private:
  Ref<Storage> storage_;
};

}  // namespace rushlight
