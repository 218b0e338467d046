// Work that several devices of a provider do together. Note: each device works on
// the stream that is given for it and nothing waits, so results are good for what follows on it.
#pragma once
#include "runtime.h"
#include "view.h"

namespace rushlight {

struct DeviceGroup {
  int count;
  const int* devices;       // all different
  const StreamId* streams;  // one of each
  int root;                 // an index of `devices`
};

// Views are contiguous and floating, and none is empty. False where the provider cannot do it for
// these devices: then nothing was done.
struct CollectiveKernels {
  // totals[j], on the root, = the sum over i of parts[j * count + i], on device i.
  bool (*reduce)(const DeviceGroup& group, int jobs, const View* parts, const View* totals);
  // targets[j * count + i], on device i, = sources[j], on the root, whose own part is not written.
  bool (*broadcast)(const DeviceGroup& group, int jobs, const View* sources, const View* targets);
};

}  // namespace rushlight
