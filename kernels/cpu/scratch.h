// Working memory of a kernel: each thread keeps a few freed blocks, since fresh pages cost more
// than the arithmetic they serve. Contents are undefined.
#pragma once
#include <cstddef>

#include "kernels/scratch_bytes.h"

namespace rushlight {

void* take_scratch(std::size_t bytes);  // throws std::bad_alloc
void give_scratch(void* block);

template <class T>
class Scratch {
 public:
  explicit Scratch(std::size_t n)
      : data_(static_cast<T*>(take_scratch(scratch_bytes(n, sizeof(T))))), size_(n) {}
  ~Scratch() { give_scratch(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  void zero() {
    for (std::size_t i = 0; i < size_; ++i) data_[i] = T(0);
  }

 private:
  T* data_;
  std::size_t size_;
};

}  // namespace rushlight
