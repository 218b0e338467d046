// A file as a storage: its pages are read where they are looked at, and written back if shared.
#pragma once
#include <string>

#include "core/storage.h"

namespace rushlight {

// The first `bytes` bytes of a file. `shared`: what is written goes to the file, which is made if
// it is not there and grows if it is shorter; else the file is only read, and must be long enough.
// Note: a page that is gone because the file was truncated reads as zeros from then on.
Ref<Storage> map_file(const std::string& path, bool shared, std::int64_t bytes);

// Whether a storage is a file of map_file, and whether what is written goes to that file.
enum class Mapping { none, read, shared };
Mapping mapping_of(const Storage& storage);

}  // namespace rushlight
