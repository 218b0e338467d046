// Where new tensors are made if no device is named; the state of a thread.
#pragma once
#include "core/device.h"

namespace rushlight {

Device default_device();  // resolved
// As it was set, if with an index: also that of a GPU that does not exist.
Device named_default_device();
// Until the matching leave_device(); the outermost level is that of the whole thread.
void set_default_device(Device d);
void enter_device(Device d);
void leave_device();

}  // namespace rushlight
