// NVIDIA's libraries (cuBLASLt, cuBLAS, cuDNN, cuSOLVER, NCCL) as a provider of GPUs reports them.
// It loads each when it is first needed, and does without where a kernel of its own or the host
// serves.
#pragma once

namespace rushlight {

struct LibraryState {
  const char* name;
  int version;        // 10000 * major + 100 * minor + patch; 0 where it is absent
  const char* words;  // its path, or why it is absent: both stay
};

struct ProviderLibraries {
  int count;
  LibraryState (*state)(int which);  // loads it, if nothing has yet
};

}  // namespace rushlight
