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
  switch (r.ask) {
    case Ask::set: return keys == values;
    case Ask::get:
    case Ask::check:
    case Ask::wait: return values == 0;
    case Ask::compare_set: return keys == 1 && values == 2;
    case Ask::append:
    case Ask::queue_push:
    case Ask::will: return keys == 1 && values == 1;
    case Ask::add:
    case Ask::remove:
    case Ask::queue_pop:
    case Ask::queue_len: return keys == 1 && values == 0;
    default: return keys == 0 && values == 0;
  }
}

}  // namespace

std::string encode(const Request& r) {
  return message(std::uint8_t(r.ask), r.number, {&r.keys, &r.values});
}

std::string encode(const Reply& r) { return message(std::uint8_t(r.is), r.number, {&r.values}); }

std::optional<Request> decode_request(std::string_view body) {
  Reader reader{body};
  Request r;
  std::uint8_t ask = 0;
  if (!reader.take(ask) || ask > std::uint8_t(kLastAsk)) return std::nullopt;
  r.ask = Ask(ask);
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
