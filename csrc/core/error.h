// Exceptions of the library, one class per Python exception, and fail(): the one way to raise.
// Note: csrc/bindings maps each class to its Python type by name; the first line of
// a message carries torch's words, later lines name the culprit and the cure.
#pragma once
#include <cstdint>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>

namespace rushlight {

// [2, 3]. Here, as a span belongs to std and would not be found from text() otherwise.
std::ostream& operator<<(std::ostream& s, std::span<const std::int64_t> sizes);

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
struct RuntimeError : Error {
  using Error::Error;
};
struct IndexError : Error {
  using Error::Error;
};
struct TypeError : Error {
  using Error::Error;
};
struct ValueError : Error {
  using Error::Error;
};
struct OverflowError : Error {
  using Error::Error;
};
struct AttributeError : Error {
  using Error::Error;
};
struct AssertionError : Error {
  using Error::Error;
};
struct NotImplementedError : Error {
  using Error::Error;
};
struct OutOfMemoryError : RuntimeError {
  using RuntimeError::RuntimeError;
};
struct AcceleratorError : RuntimeError {
  using RuntimeError::RuntimeError;
};

template <class... A>
[[gnu::cold]] std::string text(const A&... parts) {
  std::ostringstream s;
  s << std::boolalpha;
  (void)(s << ... << parts);
  return s.str();
}

template <class E, class... A>
[[noreturn, gnu::cold, gnu::noinline]] void fail(const A&... parts) {
  throw E(text(parts...));
}

}  // namespace rushlight
