// The file is a list of messages (request.h), behind a greeting. flock() keeps writers apart, also
// on network file systems; a wait looks at the file every few milliseconds, as such file systems
// do not notify of changes.
#include "distributed/file_store.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <new>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "distributed/socket.h"

namespace rushlight::distributed {

constexpr Milliseconds kLock(5000);  // other processes have the file for microseconds

[[noreturn]] static void fail_file(const std::string& path, const char* doing) {
  fail<StoreError>("FileStore: cannot ", doing, " ", path, ": ", std::strerror(errno));
}

FileStore::FileStore(std::string path, std::int64_t world_size)
    : path_(std::move(path)), world_size_(world_size) {
  call({.command = Command::join}, timeout());
}

// Counted by destroyed stores too, so that the last one of all knows.
FileStore::~FileStore() {
  if (world_size_ < 1) return;
  try {
    const std::int64_t ended = add("\nended", 1);
    const std::int64_t began = call({.command = Command::joined}, timeout()).number;
    if (ended >= world_size_ && ended == began) unlink(path_.c_str());
  } catch (const std::exception&) {
    // The file has gone, or cannot be written: nothing to remove.
  }
}

Reply FileStore::call(const Request& request, Milliseconds timeout) {
  const Deadline deadline = after(timeout);
  for (Milliseconds pause(1);; pause = std::min(pause * 2, Milliseconds(20))) {
    if (std::optional<Reply> reply = once(request, std::max(deadline, after(kLock)))) {
      // The count of clients is kept under no key.
      std::erase(reply->values, "\nended");
      return std::move(*reply);
    }
    if (Clock::now() >= deadline) fail_timeout(request, timeout);
    std::this_thread::sleep_until(std::min(deadline, Clock::now() + pause));
    look_at_signals();
  }
}

std::optional<Reply> FileStore::once(const Request& request, Deadline deadline) {
  const InterruptibleMutex::Held lock(mutex_, deadline);
  if (lock.left_by_fork()) {  // read it anew; another thread of the parent may have been writing
    new (&table_) StoreTable;
    position_ = 0;
  }
  const Socket file(open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (!file) fail_file(path_, "open");
  while (flock(file.fd(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) fail_file(path_, "lock");
    if (Clock::now() >= deadline)
      fail<StoreError>("FileStore: another process has locked ", path_, " all the time");
    std::this_thread::sleep_for(Milliseconds(1));
    look_at_signals();
  }
  // A child forked meanwhile has the file open too: closing ours alone would leave it locked.
  const std::unique_ptr<const Socket, void (*)(const Socket*)> unlocks(
      &file, [](const Socket* s) { flock(s->fd(), LOCK_UN); });
  replay(file.fd());
  std::string missing;
  if (!StoreTable::changes(request.command)) return table_.apply(request, &missing);
  const std::string bytes = (position_ ? "" : std::string(kHello)) + encode(request);
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t n =
        pwrite(file.fd(), bytes.data() + done, bytes.size() - done, position_ + std::int64_t(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int error = errno;
      (void)!ftruncate(file.fd(), position_);  // no half message stays
      errno = error;
      fail_file(path_, "write to");
    }
    done += std::size_t(n);
  }
  position_ += std::int64_t(bytes.size());
  return table_.apply(request, &missing);
}

void FileStore::replay(int fd) {
  struct stat status{};
  if (fstat(fd, &status) != 0) fail_file(path_, "read");
  if (!S_ISREG(status.st_mode)) fail<StoreError>("FileStore: ", path_, " is not a file");
  if (status.st_size < position_) {  // another run's: removed and made again
    table_ = StoreTable();
    position_ = 0;
  }
  std::string bytes(std::size_t(status.st_size - position_), '\0');
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n =
        pread(fd, bytes.data() + done, bytes.size() - done, position_ + std::int64_t(done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail_file(path_, "read");
    done += std::size_t(n);
  }
  std::string_view rest = bytes;
  const auto is_ours = [&](bool ok) {
    if (!ok)
      fail<StoreError>("FileStore: ", path_,
                       " is not a store's file, or is damaged: remove it, or name another");
  };
  if (position_ == 0 && !rest.empty()) {
    is_ours(rest.starts_with(kHello));
    rest.remove_prefix(kHello.size());
  }
  std::string missing;
  while (!rest.empty()) {
    is_ours(rest.size() >= 4 && length_at(rest.data()) <= rest.size() - 4);
    const std::size_t length = length_at(rest.data());
    const std::optional<Request> request = decode_request(rest.substr(4, length));
    is_ours(request && StoreTable::changes(request->command));
    table_.apply(*request, &missing);
    rest.remove_prefix(4 + length);
  }
  position_ = status.st_size;
}

}  // namespace rushlight::distributed
