// Store: keys and values that processes find each other by, with torch's methods. Each kind of
// store implements call(); everything else is written once, here. Every wait has a deadline and
// looks at signals; no lock of Python is needed.
#pragma once
#include <atomic>
#include <memory>

#include "distributed/errors.h"
#include "distributed/store_table.h"

namespace rushlight::distributed {

class Store : public std::enable_shared_from_this<Store> {
 public:
  using Keys = std::vector<std::string>;
  Store() = default;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  virtual ~Store() = default;

  // The answer; StoreError when the deadline of a request that waits has passed.
  virtual Reply call(const Request& request, Milliseconds timeout) = 0;
  virtual std::shared_ptr<Store> clone() { return shared_from_this(); }
  virtual bool has_extended_api() const { return true; }
  virtual Milliseconds timeout() const { return Milliseconds(timeout_.load()); }
  virtual void set_timeout(Milliseconds timeout) { timeout_ = timeout.count(); }

  void set(const std::string& key, const std::string& value);
  std::string get(const std::string& key);
  std::int64_t add(const std::string& key, std::int64_t number);
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired);
  bool check(const Keys& keys);
  void wait(const Keys& keys, Milliseconds timeout);
  bool delete_key(const std::string& key);
  std::int64_t num_keys();
  void append(const std::string& key, const std::string& value);
  Keys multi_get(const Keys& keys);
  void multi_set(const Keys& keys, const Keys& values);
  void queue_push(const std::string& key, const std::string& value);
  std::string queue_pop(const std::string& key, bool block);
  std::int64_t queue_len(const std::string& key);
  Keys list_keys();
  void barrier(const std::string& key, std::int64_t world_size, Milliseconds timeout);
  // `value` is set by the server when this connection ends; other stores than TCPStore ignore it.
  void leave_will(const std::string& key, const std::string& value);

 private:
  Reply call(const Request& request);
  std::atomic<std::int64_t> timeout_ = 300'000;
};

// The error of a wait that ended without an answer.
[[noreturn]] void fail_timeout(const Request& request, Milliseconds timeout);

// Within one process.
class HashStore : public Store {
 public:
  Reply call(const Request& request, Milliseconds timeout) override;

 private:
  StoreTable table_;
};

// Another store's keys that begin with "prefix/".
class PrefixStore : public Store {
 public:
  PrefixStore(std::string prefix, std::shared_ptr<Store> store);
  Reply call(const Request& request, Milliseconds timeout) override;
  std::shared_ptr<Store> clone() override;
  bool has_extended_api() const override { return store_->has_extended_api(); }
  Milliseconds timeout() const override { return store_->timeout(); }
  void set_timeout(Milliseconds timeout) override { store_->set_timeout(timeout); }
  const std::shared_ptr<Store>& underlying() const { return store_; }

 private:
  std::string prefix_;
  std::shared_ptr<Store> store_;
};

}  // namespace rushlight::distributed
