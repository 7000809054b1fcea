#include "tests/testbed/crashpoint/crashpoint.h"

#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <utility>
#include <variant>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace rapideye::testbed {
namespace {

using coordinator::Disk;
using coordinator::RealDisk;

[[noreturn]] void Die() {
  kill(getpid(), SIGKILL);
  while (true) pause();
}

// A coordinator writes what it has learnt of the job at times of its own.
bool IsOfIncident(const std::string& path) { return absl::StrContains(path, "/incidents"); }

// The note of an incident's end has points of its own: when it is written depends on when the job
// goes on, and so would the numbers of all that comes after.
std::string KindOf(const char* kind, const std::string& path) {
  return absl::StrCat(absl::StrContains(path, "ended.json") ? "end" : "", kind);
}

// The machine's disk. Its operations on incidents are points once one is concluded;
// before that a coordinator prepares its directory.
class CrashingDisk final : public Disk {
 public:
  explicit CrashingDisk(CrashPoints& points) : points_(points) {}

  absl::Status MakeDirectory(const std::string& path) override {
    if (IsOfIncident(path)) points_.Pass("disk");
    return RealDisk().MakeDirectory(path);
  }
  absl::Status WriteFile(const std::string& path, const std::string& bytes) override {
    if (!IsOfIncident(path)) return RealDisk().WriteFile(path, bytes);
    points_.Pass(KindOf("disk", path));
    if (points_.Deadly(points_.Pass(KindOf("torn", path)))) {
      RealDisk().WriteFile(path, bytes.substr(0, bytes.size() / 2)).IgnoreError();
      Die();
    }
    return RealDisk().WriteFile(path, bytes);
  }
  absl::Status SyncDirectory(const std::string& path) override {
    if (IsOfIncident(path)) points_.Pass("disk");
    return RealDisk().SyncDirectory(path);
  }
  absl::Status Rename(const std::string& from, const std::string& to) override {
    if (IsOfIncident(to)) points_.Pass(KindOf("disk", to));
    return RealDisk().Rename(from, to);
  }
  absl::Status Replace(const std::string& from, const std::string& to) override {
    if (IsOfIncident(to)) points_.Pass(KindOf("disk", to));
    return RealDisk().Replace(from, to);
  }
  absl::Status Exchange(const std::string& one, const std::string& other) override {
    points_.Pass("disk");
    return RealDisk().Exchange(one, other);
  }
  absl::Status RemoveAll(const std::string& path) override {
    if (IsOfIncident(path)) points_.Pass(KindOf("disk", path));
    return RealDisk().RemoveAll(path);
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
  CrashPoints& points_;
};

}  // namespace

std::string CrashPoints::Pass(const std::string& kind) {
  const std::lock_guard lock(mutex_);
  const bool torn = absl::EndsWith(kind, "torn");
  if (torn || absl::EndsWith(kind, "disk")) {
    if (!passed_.contains("conclude")) return "";
  }
  std::string point = absl::StrCat(kind, "-", ++passed_[kind]);
  if (deadly_.empty()) std::fprintf(stderr, "%s%s\n", kPassed, point.c_str());
  // The disk itself dies in the midst of a write.
  if (Deadly(point) && !torn) Die();
  return point;
}

void CrashPoints::OnEvent(const coordinator::Event& event) {
  const auto* message = std::get_if<coordinator::MessageReceived>(&event);
  if (message == nullptr) return;
  if (std::holds_alternative<wire::SnapshotReply>(message->message)) Pass("snapshot");
}

void CrashPoints::OnEffect(const coordinator::Effect& effect) {
  if (std::holds_alternative<coordinator::Conclude>(effect)) Pass("conclude");
  const auto* send = std::get_if<coordinator::Send>(&effect);
  if (send == nullptr) return;
  if (std::holds_alternative<wire::Collect>(send->message)) Pass("collect");
  if (std::holds_alternative<wire::HloRequest>(send->message)) Pass("hlo");
  if (std::holds_alternative<wire::Concluded>(send->message)) Pass("told");
}

void CrashPoints::Watch(coordinator::CoordinatorSettings& settings) {
  disk_ = std::make_unique<CrashingDisk>(*this);
  settings.disk = disk_.get();
  settings.observer = {[this](const coordinator::Event& event) { OnEvent(event); },
                       [this](const coordinator::Effect& effect) { OnEffect(effect); }};
  settings.log_digest = [this, log = std::move(settings.log_digest)](
                            const std::string& id, const std::string& text, const auto& verdict) {
    Pass("log");
    log(id, text, verdict);
    Pass("log");
  };
}

}  // namespace rapideye::testbed
