// Memory of the devices: a pool for each, in the order of its streams, with exact statistics.
#pragma once
#include "current.h"
#include "kernels/backend.h"

namespace rushlight::gpu {

void* allocate(int index, std::size_t bytes);
void release(int index, void* block, std::size_t bytes) noexcept;
void memory_info(int index, std::int64_t* free, std::int64_t* total);
void memory_stats(int index, MemoryStats* out);
void reset_memory_stats(int index, bool peaks);
void limit_memory(int index, std::int64_t bytes);
void empty_cache();
bool keeps_memory();  // unless RUSHLIGHT_NO_CACHE=1
const char* memory_source(int index);
bool can_access_peer(int from, int to);
void record_stream(int index, void* block, int stream_index, StreamId stream);
void copy_bytes(const ByteCopy& copy);  // transfer.cpp

}  // namespace rushlight::gpu
