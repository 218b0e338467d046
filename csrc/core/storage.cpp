// Storages allocated, resized and freed.
#include "core/storage.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/backend.h"
#include "core/cuda.h"
#include "core/error.h"

namespace rushlight {
namespace {

void release_device(Storage& s) noexcept {
  if (s.data) static_cast<const Backend*>(s.owner)->release(s.device.index, s.data, s.bytes);
}

// A CPU storage that was resized: `owner` is the size of its first block.
std::size_t first_bytes(const Storage& s) {
  return reinterpret_cast<std::uintptr_t>(s.owner) - Storage::kHeader;
}
void* first_data(Storage& s) { return reinterpret_cast<char*>(&s) + Storage::kHeader; }
void release_resized(Storage& s) noexcept {
  if (s.data && s.data != first_data(s)) BlockCache::give(s.data, s.bytes);
}

void release(Storage* s) noexcept {
  const bool resized = s->release_memory == release_resized;
  const std::size_t block = Storage::kHeader + (resized ? first_bytes(*s) : 0);
  if (s->release_memory) s->release_memory(*s);
  BlockCache::give(s, block);
}

// Memory that a tensor lent is given back by giving that tensor back, whose memory may be lent too:
// t = from_numpy(t.numpy()) in a loop. The stack is not to be as deep as that.
constexpr int kDeepOwners = 50;
constinit thread_local int owners = 0;
constinit thread_local std::vector<Storage*>* waiting = nullptr;

[[noreturn]] void fail_memory(std::size_t bytes) {
  fail<RuntimeError>(
      "[enforce fail at alloc_cpu] DefaultCPUAllocator: can't allocate memory: you tried to "
      "allocate ",
      bytes, " bytes. Error code 12 (Cannot allocate memory)");
}

}  // namespace

Ref<Storage> Storage::make(std::size_t bytes, Device device) {
  if (device.is_cpu()) [[likely]] {
    try {
      void* block = BlockCache::take(kHeader + bytes);
      auto* s = new (block) Storage;
      s->bytes = bytes;
      s->data = static_cast<char*>(block) + kHeader;
      return Ref<Storage>::adopt(s);
    } catch (const std::bad_alloc&) {
      fail_memory(bytes);
    }
  }
  void* block = BlockCache::take(kHeader);
  auto s = Ref<Storage>::adopt(new (block) Storage);
  s->device = device;
  if (device.is_meta()) {
    s->bytes = bytes;
    return s;
  }
  const Backend& b = backend(device);
  s->data = allocate_cuda(device.index, bytes);
  s->bytes = bytes;
  s->generation = b.runtime->generation(device.index);
  s->owner =
      const_cast<Backend*>(&b);  // the backend that frees it, also when the device is gone by then
  s->release_memory = release_device;
  return s;
}

Ref<Storage> Storage::borrow(void* data, std::size_t bytes, void* owner,
                             void (*release)(Storage&) noexcept) {
  auto* s = new (BlockCache::take(kHeader)) Storage;
  s->data = data;
  s->bytes = bytes;
  s->owner = owner;
  s->resizable = false;
  s->release_memory = release;
  return Ref<Storage>::adopt(s);
}

void Storage::resize_cpu(std::size_t wanted) {
  if (wanted == bytes) return;
  const bool again = release_memory == release_resized;
  void* made = nullptr;
  if (wanted <= (again ? first_bytes(*this) : bytes)) {
    made = wanted ? first_data(*this) : nullptr;
  } else {
    try {
      made = BlockCache::take(wanted);
    } catch (const std::bad_alloc&) {
      fail_memory(wanted);
    }
  }
  if (!again) {
    owner = reinterpret_cast<void*>(kHeader + bytes);
    release_memory = release_resized;
  }
  if (made && data && made != data) std::memcpy(made, data, std::min(bytes, wanted));
  if (made != data) release_resized(*this);
  data = made;
  bytes = wanted;
}

void destroy(Storage* s) noexcept {
  if (s->device.is_cpu() && !s->release_memory) [[likely]]
    return BlockCache::give(s, Storage::kHeader + s->bytes);
  if (owners == kDeepOwners) {
    try {
      return waiting->push_back(s);
    } catch (const std::bad_alloc&) {  // then on the stack, after all
    }
  }
  std::vector<Storage*> deeper;
  const bool is_first = !owners;
  if (is_first) waiting = &deeper;
  ++owners;
  release(s);
  while (is_first && !deeper.empty()) {
    Storage* next = deeper.back();
    deeper.pop_back();
    release(next);
  }
  --owners;
}

}  // namespace rushlight
