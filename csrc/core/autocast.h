// Autocast: in its regions, listed ops compute in another dtype than that of their operands. The
// state of a thread; the bindings read it, and torch.amp sets it.
#pragma once
#include "core/device.h"

namespace rushlight {

struct Autocast {
  bool on = false;  // for some kind of device: what every listed op tests
  bool cpu = false, cuda = false;
  DType cpu_dtype = DType::bfloat16, cuda_dtype = DType::float16;
  bool cache = true;  // what a program asked for; casts of weights are not kept
};
// initial-exec: a read is one instruction.
[[gnu::tls_model("initial-exec")]] inline thread_local Autocast autocast;

}  // namespace rushlight
