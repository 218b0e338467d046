// The types of the words in which a pointwise op is declared (declare.h says what each is for).
#pragma once
#include <type_traits>

namespace rushlight {

namespace Save {
inline constexpr unsigned input = 1, other = 2, third = 4, output = 8;
}
struct Saves {
  unsigned of[3] = {0, 0, 0};
  constexpr unsigned all() const { return of[0] | of[1] | of[2]; }
};

// Which dtypes an op computes in. A result keeps its inputs' common dtype, except that `converted`
// makes integers floating (exp of int64 is float32) and that a forward returning bool gives bool.
// `wide` is `converted` without the 16-bit floats, `shifts` is `integers` without bool.
enum class Takes : unsigned char { floating, wide, converted, numeric, anything, integers, shifts };

// Where Python has a function, as bits.
namespace Visible {
inline constexpr unsigned nowhere = 0, function = 1, method = 2, functional = 4, special = 8;
}

enum class Casts : unsigned char { none, float32_on_gpu };

struct Domain {  // where tests draw samples from; (-3, 3) unless declared
  double low, high;
};

// The ops of a family, each named once.
template <class... Ops>
struct OpList {};
template <class Op, class... Ops>
constexpr bool is_among(OpList<Ops...>) {
  return (std::is_same_v<Op, Ops> || ...);
}

}  // namespace rushlight
