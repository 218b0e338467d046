// The memory layout of DLPack, by which libraries lend each other tensors within a process: our own
// declarations of the structs that its specification fixes (dmlc/dlpack, include/dlpack/dlpack.h,
// version 1.1). Note: every offset here is read and written by other libraries.
#pragma once
#include <cstddef>
#include <cstdint>

namespace rushlight::dlpack {

struct Version {
  std::uint32_t major, minor;
};

enum DeviceKind : std::int32_t { kCpu = 1, kCuda = 2, kCudaHost = 3 };
struct DLDevice {
  std::int32_t kind, index;
};

enum Code : std::uint8_t {
  kInt = 0,
  kUInt = 1,
  kFloat = 2,
  kOpaque = 3,
  kBfloat = 4,
  kComplex = 5,
  kBool = 6
};
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};

struct Array {
  void* data;
  DLDevice device;
  std::int32_t rank;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  // in elements; null: row-major
  std::uint64_t byte_offset;
};

// What a capsule named "dltensor" holds.
struct Managed {
  Array array;
  void* owner;
  void (*deleter)(Managed*);
};

// What a capsule named "dltensor_versioned" holds.
enum Flags : std::uint64_t { kReadOnly = 1, kCopied = 2, kPaddedSubBytes = 4 };
struct ManagedVersioned {
  Version version;
  void* owner;
  void (*deleter)(ManagedVersioned*);
  std::uint64_t flags;
  Array array;
};

static_assert(sizeof(Array) == 48 && offsetof(Array, shape) == 24);
static_assert(sizeof(Managed) == 64 && sizeof(ManagedVersioned) == 80);

}  // namespace rushlight::dlpack
