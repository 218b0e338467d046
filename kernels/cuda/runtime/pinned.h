// Pinned memory of the host: taken from the driver once, and kept for the next that needs as much.
#pragma once
#include "devices.h"

namespace rushlight::gpu {

void* allocate_pinned(std::size_t bytes);
// Used again when the copies that read it are done; the host does not wait for them.
void release_pinned(void* block, std::size_t bytes) noexcept;
// A copy from there has been given to the stream.
void note_reading(const void* from, OnStream stream);
// Also memory that another library has pinned, and a view of ours by another name.
bool is_pinned(const void* host);
// Gives back to the driver what is free and no copy reads.
void release_idle_pinned();

}  // namespace rushlight::gpu
