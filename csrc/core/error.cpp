// How messages are put together.
#include "core/error.h"

#include <sstream>

namespace rushlight {

void TextPart::write_characters(std::ostream& s, const void* of) {
  s << static_cast<const char*>(of);
}

std::string text_of(std::initializer_list<TextPart> parts) {
  std::ostringstream s;
  s << std::boolalpha;
  for (const TextPart& part : parts) part.write(s);
  return s.str();
}

}  // namespace rushlight
