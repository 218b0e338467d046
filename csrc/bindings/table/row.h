// The words of a row of the table of operations, beside its signature text: where it is visible,
// its in-place form, what autocast does, what tests and tools read of it.
#pragma once

namespace rushlight::python {

// Where a row is visible. A name with an underscore before it is for the Python layer alone.
enum class As : unsigned char {
  function = 1,
  method = 2,
  both = 3,
  functional = 4,
  special = 8,
  linalg = 16,
  fft = 32
};
constexpr As operator|(As a, As b) { return As(unsigned(a) | unsigned(b)); }
constexpr bool has(As all, As one) { return unsigned(all) & unsigned(one); }

// What programs call each of them, and where C++ puts its functions: torch.nn.functional's lie in
// _C._nn, as some have torch's names with other signatures. special_i0e is torch.special.i0e.
struct Visibility {
  As as;
  const char *name, *path, *submodule, *prefix;
};
inline constexpr Visibility kVisibilities[] = {
    {As::function, "torch", "", "", ""},
    {As::method, "Tensor", "", "", ""},
    {As::functional, "nn.functional", ".nn.functional", "_nn", ""},
    {As::special, "special", ".special", "_special", "special_"},
    {As::linalg, "linalg", ".linalg", "_linalg", "linalg_"},
    {As::fft, "fft", ".fft", "_fft", "fft_"},
};

// What autocast does with a tensor argument on each kind of device (bindings/autocast.h).
enum class Cast : unsigned char { none, lower, full };  // to the region's dtype; to float32
struct Policy {
  Cast cpu = Cast::none, cuda = Cast::none;
  constexpr bool casts() const { return cpu != Cast::none || cuda != Cast::none; }
};
inline constexpr Policy kLower{Cast::lower, Cast::lower};
inline constexpr Policy kLowerOnCuda{Cast::none, Cast::lower};
inline constexpr Policy kFull{Cast::full, Cast::full};
inline constexpr Policy kFullOnCpu{Cast::full, Cast::none};
inline constexpr Policy kFullOnCuda{Cast::none, Cast::full};

struct Row {
  As as = As::both;
  Policy autocast{};
  As in_place = As(0);  // where name_() is visible, which writes the result to its first argument
  bool copy = false;  // torch.name_copy(), with out=: copies of the views that it returns
  bool keeps_input = false;  // its gradient reads the first argument, which name_() overwrites
  bool apart = false;  // out=, and self in place, may share no elements with other arguments
  bool exact = false;  // out= must have the result's dtype; other single results are cast to it
  bool converts = false;  // so are several results; elsewhere each out= must have its result's
  bool in_dtype_of_out = false;  // without dtype=, that of out= is taken for it
  bool differentiable = true;
  bool stored = false;  // takes dtypes that are only stored (stored.cpp); other rows refuse them
  bool complex = false;  // takes complex64 and complex128, but none of the others
  bool by_parts = false;  // and is called with their real and their imaginary parts
  const char* node = nullptr;  // torch's name of the node of a composition in Python
  bool waits = false;  // the host waits for the device, to learn a size or to check a value
};
// Rows that make, copy, cast, view and look at tensors, of any dtype.
constexpr Row stored(Row row) {
  row.stored = true;
  return row;
}
constexpr Row stored(As as) { return stored(Row{.as = as}); }
// Rows that compute with complex numbers too.
constexpr Row with_complex(Row row) {
  row.complex = true;
  return row;
}
constexpr Row with_complex(As as) { return with_complex(Row{.as = as}); }
constexpr Row by_parts(Row row) {
  row.complex = row.by_parts = true;
  return row;
}
constexpr Row by_parts(As as) { return by_parts(Row{.as = as}); }

}  // namespace rushlight::python
