#include "classifier/errors/coordination.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "classifier/verdict/thresholds.h"
#include "proto/common/text/search.h"

namespace rapideye::classifier {
namespace {

// The text behind the marker; absent if the marker is not there.
std::optional<std::string_view> Behind(std::string_view text, std::string_view marker) {
  const size_t at = text.find(marker);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + marker.size());
}

// The text between `beginning` and the marker; absent if either is not there.
std::optional<std::string_view> Between(std::string_view text, std::string_view beginning,
                                        std::string_view marker) {
  const size_t end = text.find(marker);
  const size_t begin = end == std::string_view::npos ? end : text.rfind(beginning, end);
  if (begin == std::string_view::npos) return std::nullopt;
  return text.substr(begin + beginning.size(), end - begin - beginning.size());
}

// Takes a number off the beginning of the text.
std::optional<int> TakeNumber(std::string_view& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<size_t>(end - text.data()));
  return number;
}

// Reads "1, 3" or names such as "/job:jax_worker/replica:0/task:3"; stops at any other word.
std::vector<int> Numbers(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.starts_with("/job:")) {
      constexpr std::string_view kTask = "/task:";
      const size_t task = text.substr(0, text.find_first_of(" ,")).rfind(kTask);
      if (task == std::string_view::npos) break;
      text.remove_prefix(task + kTask.size());
    }
    const std::optional<int> number = TakeNumber(text);
    if (!number.has_value()) break;
    numbers.push_back(*number);
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

// The service numbers a task by its worker in the whole job, workers of slice 0 first.
std::optional<FailedBarrier> Parse(std::string_view text, int workers) {
  FailedBarrier barrier;
  const auto id = Behind(text, "Barrier timed out. Id: ");
  auto reached = Behind(text, "# of tasks that reached the barrier: ");
  auto first = Behind(text, "The first task at the barrier: ");
  const auto names = Behind(text, "Some timed out task names:");
  if (!id) return std::nullopt;
  barrier.id = std::string(id->substr(0, id->find(". ")));
  barrier.of_start_up =
      barrier.id.starts_with("[Init]") || barrier.id.starts_with("PjRT_Client_Connect");
  barrier.of_shutdown =
      barrier.id.starts_with("Shutdown::") || barrier.id.starts_with("PjRT_Client_Shutdown");
  // Older releases of the service name all missing tasks, and give no count.
  if (const auto all = Behind(text, "Timed out task names:")) {
    barrier.absent = Numbers(*all);
    if (barrier.absent.empty() || barrier.absent.back() >= workers) return std::nullopt;
    barrier.came = workers - static_cast<int>(barrier.absent.size());
    barrier.all_named = true;
    return barrier;
  }
  if (!reached || !names) return std::nullopt;
  const std::optional<int> came = TakeNumber(*reached);
  if (!came || !reached->starts_with("/")) return std::nullopt;
  reached->remove_prefix(1);
  if (TakeNumber(*reached) != workers || *came > workers) return std::nullopt;
  barrier.came = *came;
  if (first) barrier.first = TakeNumber(*first);
  barrier.absent = Numbers(*names);
  if (barrier.first.value_or(0) >= workers) return std::nullopt;
  if (barrier.absent.empty() || barrier.absent.back() >= workers) return std::nullopt;
  // A report that names more than it counts is none.
  const int missing = workers - barrier.came;
  const int named = static_cast<int>(barrier.absent.size());
  if (named > missing) return std::nullopt;
  barrier.all_named = named == missing;
  return barrier;
}

// True if the worker made a step, or began another phase, when no victim of the failure lived any
// more.
bool WentOnAfter(const Snapshot& snapshot, int64_t failed_ms) {
  if (!snapshot.progress.has_value()) return false;
  const auto is_later = [failed_ms](const std::optional<int64_t>& since_ms) {
    return since_ms.has_value() && *since_ms + kVictimEndsWithinMs < failed_ms;
  };
  return is_later(snapshot.progress->step_ms) || is_later(snapshot.progress->phase_ms);
}

// Drops barriers whose failure the job survived.
void DropSurvived(const Topology& topology, std::vector<FailedBarrier>& barriers) {
  std::optional<int64_t> last_ms;
  for (const FailedBarrier& barrier : barriers) {
    if (barrier.age_ms && (!last_ms || *barrier.age_ms < *last_ms)) last_ms = barrier.age_ms;
  }
  std::erase_if(barriers, [&](const FailedBarrier& barrier) {
    return barrier.age_ms &&
           (*last_ms + kVictimEndsWithinMs < *barrier.age_ms ||
            WentOnAfter(*topology.worker(barrier.reporter).snapshot, *barrier.age_ms));
  });
}

}  // namespace

std::vector<FailedBarrier> FailedBarriers(const Topology& topology) {
  const int workers = static_cast<int>(topology.workers().size());
  std::vector<FailedBarrier> barriers;
  for (int i = 0; i < workers; ++i) {
    const Snapshot* snapshot = topology.worker(i).snapshot;
    if (snapshot == nullptr) continue;
    for (const LogEvent& log : snapshot->log_events) {
      if (log.kind != LogKind::kCoordinationTimeout) continue;
      std::optional<FailedBarrier> barrier = Parse(log.text, workers);
      if (!barrier.has_value()) continue;
      barrier->reporter = i;
      barrier->age_ms = log.age_ms;
      const auto known =
          std::find_if(barriers.begin(), barriers.end(),
                       [&](const FailedBarrier& other) { return other.id == barrier->id; });
      if (known == barriers.end()) {
        barriers.push_back(*std::move(barrier));
      } else if (log.age_ms && known->age_ms) {
        known->age_ms = std::min(*known->age_ms, *log.age_ms);
      }
    }
  }
  DropSurvived(topology, barriers);
  return barriers;
}

namespace {

// Sorts the numbers and drops duplicates and numbers that are not of this job.
void Tidy(const Topology& topology, std::vector<int>& named) {
  const int workers = static_cast<int>(topology.workers().size());
  std::erase_if(named, [workers](int number) { return number < 0 || number >= workers; });
  std::sort(named.begin(), named.end());
  named.erase(std::unique(named.begin(), named.end()), named.end());
}

}  // namespace

std::vector<int> NotConnected(const Topology& topology) {
  std::vector<int> named;
  for (const WorkerInfo& worker : topology.workers()) {
    if (worker.snapshot == nullptr) continue;
    for (const LogEvent& log : worker.snapshot->log_events) {
      if (log.kind != LogKind::kCoordinationTimeout) continue;
      if (!text::Contains(log.text, " Not connected: ") &&
          !text::Contains(log.text, "in store based barrier")) {
        continue;
      }
      named.insert(named.end(), log.peer_tasks.begin(), log.peer_tasks.end());
    }
  }
  Tidy(topology, named);
  return named;
}

std::vector<int> RestartedTasks(const Topology& topology) {
  std::vector<int> named;
  for (const WorkerInfo& worker : topology.workers()) {
    if (worker.snapshot == nullptr) continue;
    for (const LogEvent& log : worker.snapshot->log_events) {
      if (log.kind != LogKind::kRestartedPeer) continue;
      named.insert(named.end(), log.peer_tasks.begin(), log.peer_tasks.end());
    }
  }
  Tidy(topology, named);
  return named;
}

std::vector<int> WithoutHeartbeats(const Topology& topology) {
  std::vector<int> named = RestartedTasks(topology);
  for (const WorkerInfo& worker : topology.workers()) {
    if (worker.snapshot == nullptr) continue;
    for (const LogEvent& log : worker.snapshot->log_events) {
      if (log.kind != LogKind::kMissedHealthChecks) continue;
      // Names alone, of a list whose beginning is lost, do not tell what the list is about.
      if (text::Contains(log.text, "heartbeat")) {
        named.insert(named.end(), log.peer_tasks.begin(), log.peer_tasks.end());
      }
      const auto list = Behind(log.text, "unhealthy (stopped sending heartbeats):");
      const auto one = Between(log.text, "Task ", " heartbeat timeout");
      for (const auto& found : {list, one}) {
        if (!found.has_value()) continue;
        const std::vector<int> numbers = Numbers(*found);
        named.insert(named.end(), numbers.begin(), numbers.end());
      }
    }
  }
  Tidy(topology, named);
  return named;
}

bool SendsNoHeartbeats(const Topology& topology, int worker) {
  const std::vector<int> named = WithoutHeartbeats(topology);
  return std::binary_search(named.begin(), named.end(), worker);
}

std::vector<int> MissedByServices(const Topology& topology) {
  std::vector<int> missed = WithoutHeartbeats(topology);
  for (const WorkerInfo& worker : topology.workers()) {
    if (worker.snapshot == nullptr) continue;
    for (const LogEvent& log : worker.snapshot->log_events) {
      if (log.kind != LogKind::kMissedHealthChecks || !log.peer_host.has_value()) continue;
      const std::vector<int> found = topology.FindHost(*log.peer_host);
      missed.insert(missed.end(), found.begin(), found.end());
    }
  }
  Tidy(topology, missed);
  return missed;
}

bool NamesAwaited(const LogEvent& log) {
  return (log.kind == LogKind::kCollectiveStuck &&
          (text::Contains(log.text, "[missing ranks: ") ||
           text::Contains(log.text, "[ready ranks: ") ||
           text::Contains(log.text, ", but didn't join collective #") ||
           text::Contains(log.text, " failed to pass monitoredBarrier"))) ||
         (log.kind == LogKind::kCoordinationTimeout &&
          text::Contains(log.text, "retrieving ncclUniqueId from ["));
}

bool SaysAnotherFailed(const LogEvent& log) {
  // Words of a signal handler, the heap, an assertion, a shell or a launcher; and of the machine.
  static constexpr std::array<std::string_view, 47> kFalls = {
      "*** SIG",
      "Raising signal",
      "egmentation fault",
      "segfault at",
      "Fatal Python error",
      "terminate called",
      "(core dumped)",
      " Killed ",
      "free(): ",
      "double free or corruption",
      "munmap_chunk()",
      "malloc(): ",
      "malloc_consolidate()",
      "corrupted size vs.",
      "corrupted double-linked",
      "stack smashing",
      "free invalid pointer",
      "] Check failed: ",
      "Signal: ",
      "Caught signal",
      "crash gathering disabled",
      "death signal",
      "closing signal",
      "srun: ",
      "ephemeral",
      "EmptyDir",
      "NVRM: ",
      "exit code",
      "exited with code",
      "exit status",
      "exitcode",
      "signal SIG",
      "Execution of replica",
      "LLVM ERROR: ",
      "Non-OK-status: ",
      "RAW: ",
      "traps: ",
      "general protection",
      "slurmstepd: ",
      "exits with return code",
      "Killing subprocess",
      "SYSTEM_ERROR",
      "FailedMount",
      "FailedCreatePodSandBox",
      "ImagePull",
      "ackoff",
      "MPI_Abort",
  };
  return log.kind == LogKind::kFollowOn &&
         std::none_of(kFalls.begin(), kFalls.end(),
                      [&](std::string_view fall) { return text::Contains(log.text, fall); });
}

}  // namespace rapideye::classifier
