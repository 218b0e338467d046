// The methods of all stores, as requests; HashStore and PrefixStore.
#include "distributed/store.h"

#include <condition_variable>
#include <mutex>
#include <new>
#include <pthread.h>

namespace rushlight::distributed {

Reply Store::call(const Request& request) {
  Reply reply = call(request, timeout());
  if (reply.is == Reply::Is::too_long)
    fail<ValueError>("a store answers with ", kLongestMessage >> 21, " MiB at most");
  return reply;
}

void Store::set(const std::string& key, const std::string& value) {
  call({.command = Command::set, .keys = {key}, .values = {value}});
}

std::string Store::get(const std::string& key) {
  return call({.command = Command::get, .keys = {key}}).values.at(0);
}

std::int64_t Store::add(const std::string& key, std::int64_t number) {
  const Reply reply = call({.command = Command::add, .number = number, .keys = {key}});
  if (reply.is == Reply::Is::not_a_number)
    fail<ValueError>("stoll\nadd(): what the store has under '", key, "' is not a number");
  if (reply.is == Reply::Is::overflow)
    fail<OverflowError>("add(): the counter '", key, "' has 64 bits: ", number, " is too much");
  return reply.number;
}

std::string Store::compare_set(const std::string& key, const std::string& expected,
                               const std::string& desired) {
  return call({.command = Command::compare_set, .keys = {key}, .values = {expected, desired}})
      .values.at(0);
}

bool Store::check(const Keys& keys) {
  return call({.command = Command::check, .keys = keys}).number != 0;
}

void Store::wait(const Keys& keys, Milliseconds timeout) {
  call({.command = Command::wait, .keys = keys}, timeout);
}

bool Store::delete_key(const std::string& key) {
  return call({.command = Command::remove, .keys = {key}}).number != 0;
}

std::int64_t Store::num_keys() { return call({.command = Command::num_keys}).number; }

void Store::append(const std::string& key, const std::string& value) {
  call({.command = Command::append, .keys = {key}, .values = {value}});
}

Store::Keys Store::multi_get(const Keys& keys) {
  return call({.command = Command::get, .keys = keys}).values;
}

void Store::multi_set(const Keys& keys, const Keys& values) {
  if (keys.size() != values.size())
    fail<StoreError>("multiSet keys and values vectors must be of same size\nmulti_set(): ",
                     keys.size(), " keys, ", values.size(), " values");
  call({.command = Command::set, .keys = keys, .values = values});
}

void Store::queue_push(const std::string& key, const std::string& value) {
  if (!has_extended_api()) fail<NotImplementedError>("queue support is not implemented.");
  call({.command = Command::queue_push, .keys = {key}, .values = {value}});
}

std::string Store::queue_pop(const std::string& key, bool block) {
  if (!has_extended_api()) fail<NotImplementedError>("queue support is not implemented.");
  Reply reply = call({.command = Command::queue_pop, .number = block, .keys = {key}});
  if (reply.is == Reply::Is::queue_empty)
    fail<QueueEmptyError>("queue is empty\nqueue_pop(): nothing is in '", key, "'");
  return std::move(reply.values.at(0));
}

std::int64_t Store::queue_len(const std::string& key) {
  if (!has_extended_api()) fail<NotImplementedError>("queue support is not implemented.");
  return call({.command = Command::queue_len, .keys = {key}}).number;
}

Store::Keys Store::list_keys() { return call({.command = Command::list_keys}).values; }

void Store::barrier(const std::string& key, std::int64_t world_size, Milliseconds timeout) {
  if (world_size < 1) fail<ValueError>("barrier(): world_size must be positive, not ", world_size);
  // The n-th round is the n-th time that the number of members reaches a multiple of world_size.
  const std::int64_t member = add(key + "/num_members", 1);
  const std::string last = key + "/last_member/" + std::to_string((member - 1) / world_size);
  if (member % world_size == 0) set(last, "1");
  wait({last}, timeout);
}

void Store::leave_will(const std::string& key, const std::string& value) {
  call({.command = Command::will, .keys = {key}, .values = {value}});
}

void fail_timeout(const Request& request, Milliseconds timeout) {
  std::ostringstream keys;
  for (const std::string& key : request.keys) keys << (keys.tellp() > 0 ? ", /" : "/") << key;
  fail<StoreError>("wait timeout after ", timeout.count(), "ms, keys: ", keys.str());
}

// Of all HashStores, so that a fork can wait until none is being written: a child gets them whole,
// and none of the parent's threads that wait.
struct Turn {
  std::mutex mutex;
  std::condition_variable changed;
};
static Turn& turn() {
  static Turn* const one = [] {
    pthread_atfork([] { turn().mutex.lock(); }, [] { turn().mutex.unlock(); },
                   [] {
                     turn().mutex.unlock();
                     new (&turn().changed) std::condition_variable;
                   });
    return new Turn;
  }();
  return *one;
}

Reply HashStore::call(const Request& request, Milliseconds timeout) {
  const Deadline deadline = after(timeout);
  std::condition_variable& changed = turn().changed;
  std::unique_lock lock(turn().mutex);
  std::string missing;
  for (;;) {
    if (std::optional<Reply> reply = table_.apply(request, &missing)) {
      if (StoreTable::changes(request.command)) changed.notify_all();
      return std::move(*reply);
    }
    if (Clock::now() >= deadline) fail_timeout(request, timeout);
    changed.wait_until(lock, next_look(deadline));
    lock.unlock();
    look_at_signals();
    lock.lock();
  }
}

PrefixStore::PrefixStore(std::string prefix, std::shared_ptr<Store> store)
    : prefix_(std::move(prefix) + "/"), store_(std::move(store)) {
  if (!store_) fail<ValueError>("PrefixStore(): store must be a Store, not None");
}

std::shared_ptr<Store> PrefixStore::clone() {
  return std::make_shared<PrefixStore>(prefix_.substr(0, prefix_.size() - 1), store_->clone());
}

Reply PrefixStore::call(const Request& request, Milliseconds timeout) {
  Request inner = request;
  for (std::string& key : inner.keys) key.insert(0, prefix_);
  Reply reply = store_->call(inner, timeout);
  if (request.command == Command::list_keys) {
    std::erase_if(reply.values, [&](const std::string& key) { return !key.starts_with(prefix_); });
    for (std::string& key : reply.values) key.erase(0, prefix_.size());
  }
  return reply;
}

}  // namespace rushlight::distributed
