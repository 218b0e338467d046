// What help() prints of a row: its own docstring, completed with what holds of every row.
#pragma once
#include "signature.h"

namespace rushlight::python {

// Adds a line to "Args:" for each parameter that the docstring does not describe and that has one
// meaning everywhere (input, out, keepdim, dtype, ...), in the order of the signatures; "Shape:"
// where keepdim says it; and "Example:" above the example.
std::string help_of(std::string_view doc, const std::vector<const Signature*>& signatures);

}  // namespace rushlight::python
