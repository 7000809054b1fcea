#include "agent/daemon/dump_reader.h"

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "absl/time/time.h"
#include "agent/sources/hlo_dump/fetch.h"
#include "agent/sources/hlo_dump/limits.h"

namespace rapideye::agent {
namespace {

ModuleTextFetched Read(const std::string& directory, const FetchModuleText& fetch) {
  absl::StatusOr<wire::ModuleText> text =
      ReadModuleText(directory, fetch.module, fetch.fingerprint, fetch.deadline);
  if (!text.ok()) return {fetch.fetch, std::nullopt, std::string(text.status().message())};
  return {fetch.fetch, *std::move(text), ""};
}

}  // namespace

struct DumpReader::Shared {
  const std::string directory;
  const Sink sink;
  std::mutex mutex;  // guards all below, and calls of the sink
  std::condition_variable changed;
  std::optional<FetchModuleText> fetch;
  bool list = false;
  bool stopping = false;

  Shared(std::string d, Sink s) : directory(std::move(d)), sink(std::move(s)) {}

  void Run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      if (fetch.has_value()) {
        const FetchModuleText one = *std::exchange(fetch, std::nullopt);
        lock.unlock();
        Tell(lock, Read(directory, one));
      } else if (std::exchange(list, false)) {
        lock.unlock();
        Tell(lock, DumpsListed{ListHloDumps(directory, kHloDumpDeadline)});
      } else {
        changed.wait(lock);
      }
    }
  }

  // Whoever listens may be gone.
  void Tell(std::unique_lock<std::mutex>& lock, Event event) {
    lock.lock();
    if (!stopping) sink(std::move(event));
  }
};

DumpReader::DumpReader(std::string directory, Sink sink)
    : shared_(std::make_shared<Shared>(std::move(directory), std::move(sink))) {
  std::thread([shared = shared_] { shared->Run(); }).detach();
}

DumpReader::~DumpReader() {
  const std::lock_guard lock(shared_->mutex);
  shared_->stopping = true;
  shared_->changed.notify_all();
}

void DumpReader::Start(const FetchModuleText& fetch) {
  const std::lock_guard lock(shared_->mutex);
  shared_->fetch = fetch;
  shared_->changed.notify_all();
}

void DumpReader::Start(const ListDumps&) {
  const std::lock_guard lock(shared_->mutex);
  shared_->list = true;
  shared_->changed.notify_all();
}

}  // namespace rapideye::agent
