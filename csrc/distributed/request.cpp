// Requests and replies as bytes: a letter, a number, then lists of texts, lengths in front, all in
// the machine's byte order, which is little-endian everywhere we run.
#include "distributed/request.h"

#include <cstring>

#include "core/error.h"

namespace rushlight::distributed {
namespace {

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void put(std::string& out, const std::vector<std::string>& texts) {
  put(out, std::uint32_t(texts.size()));
  for (const std::string& each : texts) {
    put(out, std::uint32_t(each.size()));
    out += each;
  }
}

std::string message(std::uint8_t kind, std::int64_t number,
                    std::initializer_list<const std::vector<std::string>*> lists) {
  std::size_t size = 0;
  for (const auto* texts : lists)
    for (const std::string& each : *texts) size += each.size() + 4;
  if (size + 64 > kLongestMessage)
    fail<ValueError>("a store takes messages of ", kLongestMessage >> 20, " MiB at most, not ",
                     size, " bytes");
  std::string out(4, '\0');
  out.reserve(size + 64);
  put(out, kind);
  put(out, number);
  for (const auto* texts : lists) put(out, *texts);
  const auto length = std::uint32_t(out.size() - 4);
  std::memcpy(out.data(), &length, 4);
  return out;
}

// Takes values off the front; false where there are too few bytes.
struct Reader {
  std::string_view rest;

  template <class T>
  bool take(T& value) {
    if (rest.size() < sizeof value) return false;
    std::memcpy(&value, rest.data(), sizeof value);
    rest.remove_prefix(sizeof value);
    return true;
  }
  bool take(std::vector<std::string>& texts) {
    std::uint32_t count = 0, length = 0;
    if (!take(count) || count > rest.size() / 4) return false;
    texts.reserve(count);
    for (; count; --count) {
      if (!take(length) || length > rest.size()) return false;
      texts.emplace_back(rest.substr(0, length));
      rest.remove_prefix(length);
    }
    return true;
  }
};

// How many keys and values a request must have; the table relies on it.
bool fits(const Request& r) {
  const std::size_t keys = r.keys.size(), values = r.values.size();
  switch (r.command) {
    case Command::set: return keys == values;
    case Command::get:
    case Command::check:
    case Command::wait: return values == 0;
    case Command::compare_set: return keys == 1 && values == 2;
    case Command::append:
    case Command::queue_push:
    case Command::will: return keys == 1 && values == 1;
    case Command::add:
    case Command::remove:
    case Command::queue_pop:
    case Command::queue_len: return keys == 1 && values == 0;
    default: return keys == 0 && values == 0;
  }
}

}  // namespace

std::string encode(const Request& r) {
  return message(std::uint8_t(r.command), r.number, {&r.keys, &r.values});
}

std::string encode(const Reply& r) { return message(std::uint8_t(r.is), r.number, {&r.values}); }

std::optional<Request> decode_request(std::string_view body) {
  Reader reader{body};
  Request r;
  std::uint8_t command = 0;
  if (!reader.take(command) || command > std::uint8_t(kLastCommand)) return std::nullopt;
  r.command = Command(command);
  if (!reader.take(r.number) || !reader.take(r.keys) || !reader.take(r.values)) return std::nullopt;
  if (!reader.rest.empty() || !fits(r)) return std::nullopt;
  return r;
}

std::optional<Reply> decode_reply(std::string_view body) {
  Reader reader{body};
  Reply r;
  std::uint8_t is = 0;
  if (!reader.take(is) || is > std::uint8_t(Reply::Is::cancelled)) return std::nullopt;
  r.is = Reply::Is(is);
  if (!reader.take(r.number) || !reader.take(r.values) || !reader.rest.empty()) return std::nullopt;
  return r;
}

std::uint32_t length_at(const char* bytes) {
  std::uint32_t length;
  std::memcpy(&length, bytes, 4);
  return length;
}

}  // namespace rushlight::distributed
