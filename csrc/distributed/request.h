// Requests to a store and its replies, in memory and as bytes on a socket or in a file, the same
// for all stores. Note: the bytes are untrusted; decoding checks every length and returns nothing
// where they do not fit.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rushlight::distributed {

enum class Command : std::uint8_t {
  set,          // keys, as many values
  get,          // keys; waits until all are there
  add,          // key, number
  compare_set,  // key; expected and desired value
  check,        // keys: number is 1 if all are there
  wait,         // keys; waits until all are there
  remove,       // key
  num_keys,
  append,      // key, value
  queue_push,  // key, value
  queue_pop,   // key; number 1: waits for a value
  queue_len,   // key
  list_keys,
  join,    // one client more
  joined,  // number: waits for as many clients; 0: how many there are now
  will,    // key, value: set by the server when this connection ends
  cancel,  // gives up the request that waits
};
constexpr auto kLastCommand = Command::cancel;

struct Request {
  Command command = Command::set;
  std::int64_t number = 0;
  std::vector<std::string> keys = {}, values = {};
};

struct Reply {
  enum class Is : std::uint8_t { good, not_a_number, overflow, queue_empty, too_long, cancelled };
  Is is = Is::good;
  std::int64_t number = 0;
  std::vector<std::string> values = {};
};

// A message: its length in four bytes, then so many bytes.
constexpr std::size_t kLongestMessage = std::size_t(64) << 20;
constexpr std::string_view kHello = "rushlight store 1\n";  // both sides begin with it

std::string encode(const Request& request);  // with its length in front
std::string encode(const Reply& reply);
std::optional<Request> decode_request(std::string_view body);
std::optional<Reply> decode_reply(std::string_view body);
std::uint32_t length_at(const char* bytes);

}  // namespace rushlight::distributed
