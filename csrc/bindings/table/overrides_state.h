// What overrides.cpp and overrides_python.cpp share: whether calls are dispatched to
// __torch_function__ in this thread, and its modes.
#pragma once
#include <vector>

#include "overrides.h"

namespace rushlight::python {

enum class Disabled : unsigned char { no, subclasses, all };  // "all": modes too

// Of one thread. The list is never freed: a thread may end after the interpreter.
struct OverrideState {
  Disabled disabled = Disabled::no;
  bool skip_next = false;  // the next call that would be dispatched is not
  std::vector<PyObject*>* modes = nullptr;  // owned, the newest last
  std::vector<PyObject*>& list() {
    if (!modes) modes = new std::vector<PyObject*>;
    return *modes;
  }
};
OverrideState& override_state();
bool has_mode();
void count_modes(int more);  // those pushed in all threads, but for the one that is being called
bool has_protocol(PyObject* o);  // Tensor's own counts too

PyObject* override_name();  // "__torch_function__"
inline PyObject *tensors_override, *disabled_override;  // the two functions that Tensor has

}  // namespace rushlight::python
