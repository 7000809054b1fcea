// FaultyDisk is a disk for tests: the real one, until a test makes it fail or hang.
#ifndef RAPIDEYE_TESTS_SUPPORT_FAULTY_DISK_H_
#define RAPIDEYE_TESTS_SUPPORT_FAULTY_DISK_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "coordinator/store/disk.h"

namespace rapideye::coordinator {

// Thread-safe.
class FaultyDisk final : public Disk {
 public:
  // Every change fails with this error from now on, until OK.
  void Refuse(absl::Status why) {
    const std::lock_guard lock(mutex_);
    refusal_ = std::move(why);
  }
  // So many changes succeed, then every one fails, as if the process had died.
  void RefuseAfter(int changes, absl::Status why) {
    const std::lock_guard lock(mutex_);
    left_ = changes;
    later_ = std::move(why);
  }
  // True once a change failed for that reason.
  bool Refused() {
    const std::lock_guard lock(mutex_);
    return left_ < 0;
  }
  // Every change waits from now on, until Release.
  void Hang() {
    const std::lock_guard lock(mutex_);
    hanging_ = true;
  }
  void Release() {
    const std::lock_guard lock(mutex_);
    hanging_ = false;
    changed_.notify_all();
  }
  // Returns once a thread hangs in a change.
  void AwaitHanging() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return hanging_ && waiting_ > 0; });
  }
  // Returns once no thread hangs in a change any more.
  void AwaitReleased() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return waiting_ == 0; });
  }

  absl::Status MakeDirectory(const std::string& path) override {
    const absl::Status status = Admit();
    return status.ok() ? RealDisk().MakeDirectory(path) : status;
  }
  absl::Status WriteFile(const std::string& path, const std::string& bytes) override {
    const absl::Status status = Admit();
    return status.ok() ? RealDisk().WriteFile(path, bytes) : status;
  }
  absl::Status SyncDirectory(const std::string& path) override {
    const absl::Status status = Admit();
    return status.ok() ? RealDisk().SyncDirectory(path) : status;
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    const absl::Status status = Admit();
    return status.ok() ? RealDisk().Rename(from, to) : status;
  }
  absl::Status Replace(const std::string& from, const std::string& to) override {
    const absl::Status status = Admit();
    return status.ok() ? RealDisk().Replace(from, to) : status;
  }
  absl::Status Exchange(const std::string& one, const std::string& other) override {
    const absl::Status status = Admit();
    return status.ok() ? RealDisk().Exchange(one, other) : status;
  }
  absl::Status RemoveAll(const std::string& path) override {
    const absl::Status status = Admit();
    return status.ok() ? RealDisk().RemoveAll(path) : status;
  }
  absl::StatusOr<std::vector<std::string>> List(const std::string& path) override {
    return RealDisk().List(path);
  }
  absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) override {
    return RealDisk().ReadFile(path, max_bytes);
  }
  absl::StatusOr<int64_t> BytesIn(const std::string& path) override {
    return RealDisk().BytesIn(path);
  }

 private:
  absl::Status Admit() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !hanging_; });
    --waiting_;
    changed_.notify_all();
    if (!later_.ok() && left_-- <= 0) return later_;
    return refusal_;
  }

  std::mutex mutex_;  // guards all below
  std::condition_variable changed_;
  absl::Status refusal_;
  absl::Status later_;  // once `left_` changes are done
  int left_ = 0;
  bool hanging_ = false;
  int waiting_ = 0;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_TESTS_SUPPORT_FAULTY_DISK_H_
