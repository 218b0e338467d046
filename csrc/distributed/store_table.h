// StoreTable: the keys, queues and clients of a store, without waiting and without locks.
// HashStore, the server of TCPStore and FileStore hold one each.
#pragma once
#include <deque>
#include <unordered_map>

#include "distributed/request.h"

namespace rushlight::distributed {

class StoreTable {
 public:
  // The answer; nothing where the request has to wait: `missing` is then what it waits for, as
  // awaited() names it.
  std::optional<Reply> apply(const Request& request, std::string* missing);
  // What a request changes that others may wait for; empty strings for those that change nothing.
  static std::vector<std::string> awaited(const Request& request);
  static bool changes(Command command);

 private:
  const std::string* first_missing(const std::vector<std::string>& keys) const;
  Reply add(const std::string& key, std::int64_t number);

  std::unordered_map<std::string, std::string> values_;
  std::unordered_map<std::string, std::deque<std::string>> queues_;
  std::int64_t clients_ = 0;
};

}  // namespace rushlight::distributed
