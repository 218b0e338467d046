// FileStore: a file that all processes append requests to; each replays what the others wrote.
#pragma once
#include "distributed/interruptible_mutex.h"
#include "distributed/store.h"

namespace rushlight::distributed {

class FileStore : public Store {
 public:
  // The last of `world_size` processes removes the file; -1: it stays.
  FileStore(std::string path, std::int64_t world_size);
  ~FileStore() override;
  Reply call(const Request& request, Milliseconds timeout) override;
  bool has_extended_api() const override { return false; }
  const std::string& path() const { return path_; }

 private:
  std::optional<Reply> once(const Request& request, Deadline deadline);
  void replay(int fd);

  std::string path_;
  std::int64_t world_size_;
  InterruptibleMutex mutex_;
  StoreTable table_;
  std::int64_t position_ = 0;  // how much of the file is in the table
};

}  // namespace rushlight::distributed
