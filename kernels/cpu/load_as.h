// Reading an element as another type in loops that gcc is to vectorise.
#pragma once
#include "../dtype.h"

namespace rushlight {

// Of a bool by a choice of two numbers, as the conversion of the bool itself is left scalar.
template <class To, class S>
[[gnu::always_inline]] inline To load_as(const S* p) {
  if constexpr (std::is_same_v<S, bool> && !std::is_same_v<To, bool>) {
    std::uint8_t byte;
    std::memcpy(&byte, p, 1);
    return byte != 0 ? To(1) : To(0);
  } else {
    return convert<To>(load(p));
  }
}

}  // namespace rushlight
