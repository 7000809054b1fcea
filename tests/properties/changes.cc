#include "tests/properties/changes.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"

namespace rapideye::properties {
namespace {

Snapshot* Find(Capture& capture, const WorkerId& worker) {
  for (Snapshot& snapshot : capture.snapshots) {
    if (snapshot.worker == worker) return &snapshot;
  }
  return nullptr;
}

void ShufflePrograms(Snapshot& snapshot, Random& random) {
  std::vector<int32_t> order(snapshot.programs.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int32_t>(i);
  random.Shuffle(order);  // order[new] = old
  std::vector<Program> programs;
  std::vector<int32_t> number(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    programs.push_back(snapshot.programs[static_cast<size_t>(order[i])]);
    number[static_cast<size_t>(order[i])] = static_cast<int32_t>(i);
  }
  snapshot.programs = std::move(programs);
  const auto renumber = [&](int32_t& program) { program = number[static_cast<size_t>(program)]; };
  for (Core& core : snapshot.cores) {
    if (core.program) renumber(*core.program);
    for (QueuedProgram& queued : core.queued) renumber(queued.program);
    for (Transition& transition : core.transitions) {
      if (transition.program) renumber(*transition.program);
    }
  }
}

template <typename T>
void Append(std::vector<T>& to, std::vector<T> from) {
  std::move(from.begin(), from.end(), std::back_inserter(to));
}

// A place in a program: fingerprint, pc.
using Site = std::pair<std::string, int64_t>;

std::optional<Site> SiteOf(const Snapshot& snapshot, const Core& core) {
  if (!core.program || core.sequencers.empty() || !core.sequencers[0].pc) return std::nullopt;
  return Site{snapshot.programs[static_cast<size_t>(*core.program)].fingerprint,
              *core.sequencers[0].pc};
}

// Names the instruction at the first core that stands there, unless a core there names it already.
void NameAt(Capture& capture, const Site& site, const std::string& name) {
  Sequencer* first = nullptr;
  for (Snapshot& snapshot : capture.snapshots) {
    for (Core& core : snapshot.cores) {
      if (SiteOf(snapshot, core) != site) continue;
      if (core.sequencers[0].hlo) return;
      if (first == nullptr) first = &core.sequencers[0];
    }
  }
  if (first != nullptr) first->hlo = name;
}

}  // namespace

Capture Shuffled(Capture capture, Random random) {
  random.Shuffle(capture.header.expected_workers);
  random.Shuffle(capture.header.cohorts);
  for (Cohort& cohort : capture.header.cohorts) random.Shuffle(cohort.workers);
  random.Shuffle(capture.snapshots);
  for (Snapshot& snapshot : capture.snapshots) {
    ShufflePrograms(snapshot, random);
    random.Shuffle(snapshot.cores);
    for (Core& core : snapshot.cores) random.Shuffle(core.sequencers);
    random.Shuffle(snapshot.processes);
    random.Shuffle(snapshot.transfers);
    random.Shuffle(snapshot.sockets);
    random.Shuffle(snapshot.probes);
    random.Shuffle(snapshot.nics);
    random.Shuffle(snapshot.ici_links);
    random.Shuffle(snapshot.pcie);
    random.Shuffle(snapshot.log_events);
    random.Shuffle(snapshot.stacks);
  }
  return capture;
}

Capture Without(Capture capture, const WorkerId& worker) {
  std::vector<std::pair<Site, std::string>> names;
  if (const Snapshot* const snapshot = Find(capture, worker)) {
    for (const Core& core : snapshot->cores) {
      const std::optional<Site> site = SiteOf(*snapshot, core);
      if (site && core.sequencers[0].hlo) names.emplace_back(*site, *core.sequencers[0].hlo);
    }
  }
  std::erase_if(capture.snapshots,
                [&](const Snapshot& snapshot) { return snapshot.worker == worker; });
  for (const auto& [site, name] : names) NameAt(capture, site, name);
  return capture;
}

Capture WithNoiseAt(Capture capture, const WorkerId& worker, Random random) {
  Snapshot* const snapshot = Find(capture, worker);
  if (snapshot == nullptr) return capture;
  const std::array lines = {
      std::pair{LogKind::kFollowOn, "The program continuator has halted unexpectedly."},
      std::pair{LogKind::kCoordinationTimeout, "Barrier timed out: some tasks did not arrive"},
      std::pair{LogKind::kMissedHealthChecks, "missed health checks"},
      std::pair{LogKind::kNicFault, "NETDEV WATCHDOG: eth0: transmit queue 3 timed out"},
      std::pair{LogKind::kUnknownFlag, "Unknown flag in XLA_FLAGS"},
      std::pair{LogKind::kBenign, "E0000 end of sequence"},
  };
  for (const auto& [kind, text] : lines) {
    if (!random.Chance(0.5)) continue;
    LogEvent event;
    event.kind = kind;
    event.text = text;
    event.source = LogSource::kJobLog;
    event.age_ms = random.Between(0, 20'000);
    snapshot->log_events.push_back(std::move(event));
  }
  for (Socket& socket : snapshot->sockets) {
    if (random.Chance(0.3)) socket.retransmits += random.Between(1, 9);
  }
  for (Nic& nic : snapshot->nics) {
    if (random.Chance(0.3)) nic.rx_errors = nic.rx_errors.value_or(0) + random.Between(1, 99);
    if (random.Chance(0.3)) nic.carrier_changes = nic.carrier_changes.value_or(0) + 2;
  }
  if (random.Chance(0.5)) snapshot->pcie.push_back({0, 0, 0, random.Between(1, 200)});
  if (random.Chance(0.3)) {
    Process helper;
    helper.pid = 900'000;
    helper.state = ProcessState::kExited;
    helper.exit_code = 0;
    helper.exited_ms_ago = random.Between(1000, 900'000);
    const bool lives =
        std::any_of(snapshot->processes.begin(), snapshot->processes.end(), [](const Process& p) {
          return p.state == ProcessState::kRunning || p.state == ProcessState::kSleeping;
        });
    if (lives) snapshot->processes.push_back(std::move(helper));
  }
  if (snapshot->progress && !snapshot->progress->input_wait_ms && random.Chance(0.5)) {
    snapshot->progress->input_wait_ms = random.Between(0, 400);
  }
  // The process began with the job, hours before anything happened.
  const int64_t started_ms_ago = random.Between(3'600'000, 86'400'000);
  for (Process& process : snapshot->processes) {
    if (!process.started_ms_ago) process.started_ms_ago = started_ms_ago;
  }
  return capture;
}

std::string Renaming::Apply(std::string text) const {
  std::string out;
  for (size_t i = 0; i < text.size();) {
    const auto it = std::find_if(names.begin(), names.end(), [&](const auto& name) {
      return text.compare(i, name.first.size(), name.first) == 0;
    });
    if (it == names.end()) {
      out += text[i++];
    } else {
      out += it->second;
      i += it->first.size();
    }
  }
  return out;
}

Renaming MakeRenaming(const Capture& capture, Random random) {
  Renaming renaming;
  std::set<std::string> taken;
  for (const ExpectedWorker& worker : capture.header.expected_workers) {
    if (worker.host.empty() || renaming.names.contains(worker.host)) continue;
    std::string name;
    do {
      name.clear();
      for (const char c : worker.host) {
        const bool joint = c == '-' || c == '.';
        name += joint ? c : static_cast<char>('a' + random.Between(0, 25));
      }
    } while (!taken.insert(name).second);
    renaming.names[worker.host] = name;
  }
  return renaming;
}

Capture Renamed(Capture capture, const Renaming& renaming) {
  const auto rename = [&](std::string& text) { text = renaming.Apply(std::move(text)); };
  for (ExpectedWorker& worker : capture.header.expected_workers) rename(worker.host);
  for (Snapshot& snapshot : capture.snapshots) {
    rename(snapshot.host);
    for (LogEvent& event : snapshot.log_events) {
      rename(event.text);
      if (event.peer_host) rename(*event.peer_host);
    }
    for (Probe& probe : snapshot.probes) {
      if (probe.error) rename(*probe.error);
    }
  }
  return capture;
}

Capture WithSliceTwice(Capture capture, int32_t slice, int32_t as) {
  const auto host_of_copy = [&](const std::string& host) { return absl::StrCat(host, "-copy"); };
  std::vector<ExpectedWorker> expected;
  for (ExpectedWorker worker : capture.header.expected_workers) {
    if (worker.id.slice != slice) continue;
    worker.id.slice = as;
    worker.host = host_of_copy(worker.host);
    expected.push_back(std::move(worker));
  }
  Append(capture.header.expected_workers, std::move(expected));
  for (Cohort& cohort : capture.header.cohorts) {
    std::vector<WorkerId> copies;
    for (const WorkerId& worker : cohort.workers) {
      if (worker.slice == slice) copies.push_back({as, worker.task});
    }
    Append(cohort.workers, std::move(copies));
  }
  std::vector<Snapshot> copies;
  for (Snapshot snapshot : capture.snapshots) {
    if (snapshot.worker.slice != slice) continue;
    snapshot.worker.slice = as;
    snapshot.host = host_of_copy(snapshot.host);
    if (snapshot.hardware) snapshot.hardware = host_of_copy(*snapshot.hardware);
    // The original line names the peer; a copy must not accuse that host once more.
    for (LogEvent& event : snapshot.log_events) event.peer_host.reset();
    copies.push_back(std::move(snapshot));
  }
  Append(capture.snapshots, std::move(copies));
  return capture;
}

}  // namespace rapideye::properties
