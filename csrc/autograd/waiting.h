// The order in which the pack hooks of a step are called.
#pragma once

namespace rushlight {

// The last two tensors that were saved change places: torch's hooks go by the names of what is
// saved, "other" before "self".
void swap_last_waiting();

}  // namespace rushlight
