// uint16, uint32 and uint64 in rows whose kernels take numbers with signs alone.
#pragma once
#include "signature.h"

namespace rushlight::python {

// The call's result, before out= and names of parts; null, without an error, where the row has no
// such numbers.
PyObject* call_of_unsigned(const Signature& s, const Call& call);

}  // namespace rushlight::python
