// Where new tensors are made if no device is named; the state of a thread.
#pragma once
#include "core/device.h"

namespace rushlight {

Device default_device();  // resolved
// Until the matching leave_device(); the outermost level stands for the whole thread.
void set_default_device(Device d);
void enter_device(Device d);
void leave_device();

}  // namespace rushlight
