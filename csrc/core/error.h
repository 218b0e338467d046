// Exceptions of the library, one class per Python exception, and fail(): the one way to raise.
// Note: csrc/bindings maps each class to its Python type by name; the first line of
// a message carries torch's words, later lines name the culprit and the cure.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <span>
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

// What text() and fail() write: a value, and how. Erased, as messages are many and each would be
// compiled as a function of its own.
class TextPart {
 public:
  TextPart(const char* characters) : value_(characters), write_(write_characters) {}
  template <class T>
  TextPart(const T& value)
      : value_(&value),
        write_([](std::ostream& s, const void* of) { s << *static_cast<const T*>(of); }) {}
  void write(std::ostream& s) const { write_(s, value_); }

 private:
  static void write_characters(std::ostream& s, const void* of);
  const void* value_;
  void (*write_)(std::ostream&, const void*);
};
std::string text_of(std::initializer_list<TextPart> parts);
template <class E>
[[noreturn, gnu::cold, gnu::noinline]] void throw_error(std::initializer_list<TextPart> parts) {
  throw E(text_of(parts));
}

template <class... A>
std::string text(const A&... parts) {
  return text_of({TextPart(parts)...});
}
template <class E, class... A>
[[noreturn, gnu::always_inline]] inline void fail(const A&... parts) {
  throw_error<E>({TextPart(parts)...});
}

}  // namespace rushlight
