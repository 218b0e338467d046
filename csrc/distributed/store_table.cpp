// The replies of a store, one case for each command.
#include "distributed/store_table.h"

#include <charconv>

namespace rushlight::distributed {

// Keys of values, of queues and the number of clients are different things to wait for.
static std::string value_named(const std::string& key) { return "v" + key; }
static std::string queue_named(const std::string& key) { return "q" + key; }
static const std::string kClients = "c";

std::vector<std::string> StoreTable::awaited(const Request& r) {
  std::vector<std::string> names;
  switch (r.command) {
    case Command::set:
    case Command::add:
    case Command::append:
    case Command::will:
    case Command::compare_set:
      for (const std::string& key : r.keys) names.push_back(value_named(key));
      break;
    case Command::queue_push: names.push_back(queue_named(r.keys[0])); break;
    case Command::join: names.push_back(kClients); break;
    default: break;
  }
  return names;
}

bool StoreTable::changes(Command command) {
  switch (command) {
    case Command::set:
    case Command::add:
    case Command::append:
    case Command::compare_set:
    case Command::remove:
    case Command::queue_push:
    case Command::queue_pop:
    case Command::join: return true;
    default: return false;
  }
}

const std::string* StoreTable::first_missing(const std::vector<std::string>& keys) const {
  for (const std::string& key : keys)
    if (!values_.contains(key)) return &key;
  return nullptr;
}

// A counter is the text of its number, as get() shows it.
Reply StoreTable::add(const std::string& key, std::int64_t number) {
  std::int64_t value = 0;
  if (const auto at = values_.find(key); at != values_.end()) {
    const std::string& text = at->second;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size())
      return {.is = Reply::Is::not_a_number};
  }
  if (__builtin_add_overflow(value, number, &value)) return {.is = Reply::Is::overflow};
  values_[key] = std::to_string(value);
  return {.number = value};
}

std::optional<Reply> StoreTable::apply(const Request& r, std::string* missing) {
  switch (r.command) {
    case Command::set:
      for (std::size_t i = 0; i < r.keys.size(); ++i) values_[r.keys[i]] = r.values[i];
      return Reply{};
    case Command::get:
    case Command::wait: {
      if (const std::string* key = first_missing(r.keys)) {
        *missing = value_named(*key);
        return std::nullopt;
      }
      Reply reply;
      std::size_t size = 0;
      for (const std::string& key : r.keys) {
        if (r.command == Command::wait) break;
        reply.values.push_back(values_.at(key));
        // One key may be asked for a million times.
        if ((size += reply.values.back().size()) > kLongestMessage / 2)
          return Reply{.is = Reply::Is::too_long};
      }
      return reply;
    }
    case Command::add: return add(r.keys[0], r.number);
    case Command::compare_set: {
      const auto at = values_.find(r.keys[0]);
      const std::string &expected = r.values[0], &desired = r.values[1];
      if (at == values_.end()) {
        if (!expected.empty()) return Reply{.values = {expected}};
        values_[r.keys[0]] = desired;
        return Reply{.values = {desired}};
      }
      if (at->second == expected) at->second = desired;
      return Reply{.values = {at->second}};
    }
    case Command::check: return Reply{.number = !first_missing(r.keys)};
    case Command::remove: {
      const auto removed = values_.erase(r.keys[0]) + queues_.erase(r.keys[0]);
      return Reply{.number = removed > 0};
    }
    case Command::num_keys: return Reply{.number = std::int64_t(values_.size())};
    case Command::append: values_[r.keys[0]] += r.values[0]; return Reply{};
    case Command::queue_push: queues_[r.keys[0]].push_back(r.values[0]); return Reply{};
    case Command::queue_pop: {
      const auto at = queues_.find(r.keys[0]);
      if (at == queues_.end()) {
        if (r.number == 0) return Reply{.is = Reply::Is::queue_empty};
        *missing = queue_named(r.keys[0]);
        return std::nullopt;
      }
      Reply reply{.values = {std::move(at->second.front())}};
      at->second.pop_front();
      if (at->second.empty()) queues_.erase(at);
      return reply;
    }
    case Command::queue_len: {
      const auto at = queues_.find(r.keys[0]);
      return Reply{.number = at == queues_.end() ? 0 : std::int64_t(at->second.size())};
    }
    case Command::list_keys: {
      Reply reply;
      for (const auto& [key, value] : values_) reply.values.push_back(key);
      return reply;
    }
    case Command::join: ++clients_; return Reply{.number = clients_};
    case Command::joined:
      if (clients_ >= r.number) return Reply{.number = clients_};
      *missing = kClients;
      return std::nullopt;
    case Command::will:
    case Command::cancel: break;  // of a connection, not of the table
  }
  return Reply{};
}

}  // namespace rushlight::distributed
