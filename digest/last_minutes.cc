#include "digest/last_minutes.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "classifier/job/positions.h"
#include "digest/tpu_states.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::digest {
namespace {

// Times that lie closer than this are taken for one event.
constexpr int64_t kSameTimeMs = 250;
// A traceback and the words of libraries follow an error within this time.
constexpr int64_t kSameEndMs = 5000;
// Up to this many lanes are drawn singly; of more, lanes that end within kAlikeMs become one.
constexpr size_t kFewLanes = 8;
constexpr int64_t kAlikeMs = 1000;
// A coordinate of the largest torus has three digits.
constexpr int32_t kMaxCoordinate = 9999;
constexpr size_t kMaxObstacles = 8;

constexpr std::array<const char*, kStartUpStages + 1> kStageNames = {"not started",
                                                                     "process started",
                                                                     "chips opened",
                                                                     "joined the others",
                                                                     "compiled its first program",
                                                                     "launched"};

using Accused = std::map<WorkerId, std::vector<const Culprit*>>;

bool IsSparse(const Core& core) {
  return core.type == CoreType::kSparseCore || core.type == CoreType::kSparseCoreV0;
}

std::string CoreText(const Core& core) {
  std::string text;
  if (core.chip) absl::StrAppend(&text, " chip ", *core.chip);
  absl::StrAppend(&text, IsSparse(core) ? " SparseCore " : " TensorCore ", core.index);
  return text;
}

// True if the pc moves, although no launch completes.
bool Loops(const Core& core) {
  const Sequencer* sequencer = MainSequencer(core);
  return sequencer != nullptr && classifier::IsMoving(sequencer->frozen_ms, core.stuck_ms);
}

// The last time at which the core was seen to get on. A pc that moves in a loop gets nowhere.
std::optional<int64_t> StopAge(const Core& core) {
  if (!core.transitions.empty()) return core.transitions.back().age_ms;
  const Sequencer* sequencer = MainSequencer(core);
  if (sequencer != nullptr && sequencer->frozen_ms && !Loops(core)) return sequencer->frozen_ms;
  return core.stuck_ms;
}

// Whether the core's standstill means anything: an unused SparseCore stands still for days.
bool Tells(const Core& core) {
  if (!IsSparse(core)) return true;
  const Sequencer* sequencer = MainSequencer(core);
  const bool idle = sequencer == nullptr || sequencer->pc.value_or(0) == 0;
  return !idle || !core.queued.empty();
}

struct StopSeen {
  int64_t age_ms;
  bool culprit;
  std::string core;  // but for cores: the host
  StopKind kind = StopKind::kCore;
};

// A lane as it is gathered from its workers.
struct Gathered {
  Lane lane;
  std::vector<StopSeen> stops;
  std::set<int64_t> completions;
  std::set<std::string> phases;
  std::optional<int64_t> end_ms;
  size_t lanes = 1;
};

bool IsMinor(LogKind kind) {
  return kind == LogKind::kUnspecified || kind == LogKind::kBenign ||
         kind == LogKind::kUnknownFlag || kind == LogKind::kFollowOn ||
         kind == LogKind::kHangDetected;
}

void Narrow(std::optional<int64_t>& smallest, std::optional<int64_t> age) {
  if (age) smallest = std::min(smallest.value_or(*age), *age);
}

std::optional<std::string> PhaseName(Phase phase) {
  switch (phase) {
    case Phase::kUnspecified:
      return std::nullopt;
    case Phase::kCompile:
      return "compile";
    case Phase::kInput:
      return "input";
    case Phase::kStep:
      return "step";
    case Phase::kCheckpoint:
      return "checkpoint";
    case Phase::kEval:
      return "eval";
  }
  return std::nullopt;
}

// A launch has completed when the next launch takes its place.
void AddCompletions(const Core& core, Gathered& lane) {
  for (size_t i = 1; i < core.transitions.size(); ++i) {
    const Transition& before = core.transitions[i - 1];
    const Transition& after = core.transitions[i];
    if (before.launch_id != after.launch_id || before.program != after.program) {
      lane.completions.insert(after.age_ms);
    }
  }
  if (core.stuck_ms) lane.completions.insert(*core.stuck_ms);
}

void AddSnapshot(const Snapshot& snapshot, const ReportWorker& worker, const Accused& accused,
                 Gathered& lane) {
  const auto suspects = accused.find(snapshot.worker);
  if (suspects != accused.end()) lane.lane.culprit = true;
  for (const Core& core : snapshot.cores) {
    if (!Tells(core)) continue;
    AddCompletions(core, lane);
    const std::optional<int64_t> age = StopAge(core);
    if (!age) continue;
    const bool culprit =
        suspects != accused.end() &&
        std::any_of(suspects->second.begin(), suspects->second.end(),
                    [&core](const Culprit* suspect) { return Means(*suspect, core); });
    lane.stops.push_back({*age, culprit, absl::StrCat(worker.host, CoreText(core)),
                          Loops(core) ? StopKind::kLoop : StopKind::kCore});
    Narrow(lane.end_ms, age);
  }
  if (const auto& progress = snapshot.progress) {
    if (progress->step_ms) lane.completions.insert(*progress->step_ms);
    if (snapshot.cores.empty()) {
      Narrow(lane.end_ms, progress->step_ms ? progress->step_ms : progress->phase_ms);
    }
    if (auto phase = PhaseName(progress->phase)) lane.phases.insert(*std::move(phase));
  }
  for (const Process& process : snapshot.processes) {
    if (!process.exited_ms_ago) continue;
    lane.stops.push_back(
        {*process.exited_ms_ago, suspects != accused.end(), worker.host, StopKind::kProcess});
  }
}

// The age of the oldest line that tells of an error of the worker's own.
std::optional<int64_t> FirstErrorAge(const Snapshot& snapshot) {
  std::optional<int64_t> oldest;
  for (const LogEvent& event : snapshot.log_events) {
    if (IsMinor(event.kind) || !event.age_ms) continue;
    oldest = std::max(oldest.value_or(0), *event.age_ms);
  }
  return oldest;
}

// Steps, first error and last line. `snapshot`: nullptr if the worker has none.
void AddLog(const WorkerLog& log, const Snapshot* snapshot, const ReportWorker& worker,
            bool culprit, Gathered& lane) {
  lane.completions.insert(log.step_ages_ms.begin(), log.step_ages_ms.end());
  Narrow(lane.end_ms, log.last_line_ms);
  std::optional<int64_t> end;
  if (snapshot != nullptr) {
    end = FirstErrorAge(*snapshot);
    if (end) lane.stops.push_back({*end, culprit, worker.host, StopKind::kError});
    for (const Process& process : snapshot->processes) {
      if (process.exited_ms_ago) end = process.exited_ms_ago;
    }
  }
  // A log that never told steps may be silent by habit, and what follows an error says no more.
  const bool told = end && log.last_line_ms && *end - *log.last_line_ms <= kSameEndMs;
  if (!log.last_line_ms || told || (!culprit && !log.step)) return;
  lane.stops.push_back({*log.last_line_ms, culprit, worker.host, StopKind::kSilence});
}

// Stops within kSameTimeMs are one stop.
std::vector<Stop> FoldStops(std::vector<StopSeen> seen) {
  std::sort(seen.begin(), seen.end(), [](const StopSeen& a, const StopSeen& b) {
    return std::tie(b.age_ms, b.culprit, a.core) < std::tie(a.age_ms, a.culprit, b.core);
  });
  std::vector<Stop> stops;
  for (StopSeen& stop : seen) {
    if (stops.empty() || stops.back().age_ms - stop.age_ms > kSameTimeMs) {
      if (stops.size() == kMaxStops) break;
      stops.push_back({.age_ms = stop.age_ms, .first_core = {}});
    }
    Stop& last = stops.back();
    if (stop.kind == StopKind::kCore || stop.kind == StopKind::kLoop) ++last.cores;
    if (stop.kind == StopKind::kError || stop.kind == StopKind::kSilence) ++last.logs;
    if (last.first_core.empty() || (stop.culprit && !last.culprit)) {
      last.first_core = std::move(stop.core);
      last.kind = stop.kind;
    }
    last.culprit = last.culprit || stop.culprit;
  }
  return stops;
}

Lane Finish(Gathered gathered) {
  Lane lane = std::move(gathered.lane);
  // The ages ascend: the limit keeps the newest completions.
  for (const int64_t age : gathered.completions) {
    if (lane.completions.size() == kMaxCompletions) break;
    if (lane.completions.empty() || age - lane.completions.back() > kSameTimeMs) {
      lane.completions.push_back(age);
    }
  }
  std::reverse(lane.completions.begin(), lane.completions.end());
  lane.stops = FoldStops(std::move(gathered.stops));
  lane.end_age_ms = gathered.end_ms;
  if (!lane.end_age_ms && !lane.completions.empty()) lane.end_age_ms = lane.completions.back();
  if (!lane.end_age_ms && !lane.stops.empty()) lane.end_age_ms = lane.stops.back().age_ms;
  if (!gathered.phases.empty()) lane.phase = absl::StrJoin(gathered.phases, ", ");
  return lane;
}

void Merge(Gathered from, Gathered& into) {
  std::move(from.stops.begin(), from.stops.end(), std::back_inserter(into.stops));
  into.completions.merge(from.completions);
  into.phases.merge(from.phases);
  Narrow(into.end_ms, from.end_ms);
  into.lanes += from.lanes;
}

// The stop that a lane is known by: the oldest of its culprit, else its oldest.
int64_t FirstStop(const Gathered& lane) {
  int64_t oldest = -1;
  for (const StopSeen& stop : lane.stops) {
    if (!lane.lane.culprit || stop.culprit) oldest = std::max(oldest, stop.age_ms);
  }
  return oldest;
}

// Lanes that end at the same time, and hold no culprit, become one, where the first of them stood.
void FoldLanes(const char* what, std::vector<Gathered>& lanes) {
  std::map<std::pair<int64_t, int64_t>, size_t> first;
  std::vector<Gathered> folded;
  for (Gathered& lane : lanes) {
    const auto alike =
        std::make_pair(lane.end_ms.value_or(-1) / kAlikeMs, FirstStop(lane) / kAlikeMs);
    const auto [it, inserted] = first.try_emplace(alike, folded.size());
    if (inserted || lane.lane.culprit || folded[it->second].lane.culprit) {
      it->second = folded.size();
      folded.push_back(std::move(lane));
      continue;
    }
    Gathered& into = folded[it->second];
    Merge(std::move(lane), into);
    into.lane.name = absl::StrCat(into.lanes, " ", what);
  }
  lanes = std::move(folded);
}

const WorkerLog* FindLogOf(const LogEvidence* logs, WorkerId id) {
  if (logs == nullptr) return nullptr;
  const auto log =
      std::lower_bound(logs->workers.begin(), logs->workers.end(), id,
                       [](const WorkerLog& one, WorkerId want) { return one.worker < want; });
  return log == logs->workers.end() || log->worker != id ? nullptr : &*log;
}

std::vector<Lane> FindLanes(const Capture& capture, const std::vector<ReportWorker>& workers,
                            const Accused& accused, const LogEvidence* logs) {
  std::map<WorkerId, const Snapshot*> snapshots;
  bool cores = false;
  for (const Snapshot& snapshot : capture.snapshots) {
    snapshots[snapshot.worker] = &snapshot;
    cores = cores || !snapshot.cores.empty();
  }
  const bool by_slice =
      cores && !workers.empty() && workers.front().id.slice != workers.back().id.slice;

  std::vector<Gathered> gathered;
  for (size_t i = 0; i < workers.size(); ++i) {
    const ReportWorker& worker = workers[i];
    if (i == 0 || !by_slice || worker.id.slice != workers[i - 1].id.slice) {
      Gathered& lane = gathered.emplace_back();
      lane.lane.name = by_slice ? absl::StrCat("slice ", worker.id.slice) : worker.host;
      if (lane.lane.name.empty()) lane.lane.name = absl::StrCat("task ", i);
    }
    Gathered& lane = gathered.back();
    if (accused.count(worker.id) > 0) lane.lane.culprit = true;
    const auto it = snapshots.find(worker.id);
    const Snapshot* snapshot = it == snapshots.end() ? nullptr : it->second;
    if (snapshot != nullptr) AddSnapshot(*snapshot, worker, accused, lane);
    if (const WorkerLog* log = FindLogOf(logs, worker.id)) {
      AddLog(*log, snapshot, worker, accused.count(worker.id) > 0, lane);
    }
  }
  std::stable_sort(gathered.begin(), gathered.end(), [](const Gathered& a, const Gathered& b) {
    if (a.lane.culprit != b.lane.culprit) return a.lane.culprit;
    return FirstStop(a) > FirstStop(b);
  });
  if (gathered.size() > kFewLanes) FoldLanes(by_slice ? "slices" : "workers", gathered);
  if (gathered.size() > kMaxLanes) {
    Gathered rest;
    size_t more = 0;
    for (size_t i = kMaxLanes - 1; i < gathered.size(); ++i) {
      more += gathered[i].lanes;
      Merge(std::move(gathered[i]), rest);
    }
    rest.lane.name = absl::StrCat(more, by_slice ? " more slices" : " more workers");
    gathered.resize(kMaxLanes - 1);
    gathered.push_back(std::move(rest));
  }
  std::vector<Lane> lanes;
  for (Gathered& lane : gathered) lanes.push_back(Finish(std::move(lane)));
  const bool empty =
      std::all_of(lanes.begin(), lanes.end(), [](const Lane& lane) { return !lane.end_age_ms; });
  if (empty) lanes.clear();
  return lanes;
}

std::string SourceText(LogSource source) {
  if (source == LogSource::kKernelLog) return "kernel log";
  return source == LogSource::kPlatform ? "platform" : "";
}

size_t IndexOf(const std::vector<ReportWorker>& workers, WorkerId id) {
  auto it = std::lower_bound(workers.begin(), workers.end(), id,
                             [](const ReportWorker& w, WorkerId want) { return w.id < want; });
  return static_cast<size_t>(it - workers.begin());
}

// Minor log lines that differ in numbers alone are shown as one line.
std::string WithoutNumbers(const std::string& text) {
  std::string plain;
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) plain += c;
    if (digit && !plain.ends_with('#')) plain += '#';
  }
  return plain;
}

// True if an event of the worker is that line.
bool IsRecognised(const Snapshot& snapshot, const std::string& line) {
  return std::any_of(
      snapshot.log_events.begin(), snapshot.log_events.end(), [&line](const LogEvent& event) {
        return absl::StrContains(line, event.text) || absl::StrContains(event.text, line);
      });
}

// The last lines of the logs, which tell how far each worker came. Lines of others that differ in
// numbers alone are one.
void AddLastLines(const Capture& capture, const std::vector<ReportWorker>& workers,
                  const Accused& accused, const LogEvidence& logs, LastMinutes& minutes) {
  std::map<WorkerId, const Snapshot*> snapshots;
  for (const Snapshot& snapshot : capture.snapshots) snapshots[snapshot.worker] = &snapshot;
  std::map<std::string, LoggedLine> lines;
  for (const WorkerLog& log : logs.workers) {
    const size_t worker = IndexOf(workers, log.worker);
    if (worker == workers.size() || workers[worker].id != log.worker) continue;
    const auto snapshot = snapshots.find(log.worker);
    const bool told = snapshot != snapshots.end() && IsRecognised(*snapshot->second, log.last_line);
    if (log.last_line.empty() || told) continue;
    const std::string text = text::ValidUtf8(log.last_line, text::kMaxSentenceBytes);
    const bool culprit = accused.count(log.worker) > 0;
    auto [it, inserted] = lines.try_emplace(culprit ? text : WithoutNumbers(text));
    LoggedLine& line = it->second;
    if (inserted) {
      line.text = text;
      line.minor = line.last = true;
    }
    line.alike = line.alike || line.text != text;
    line.text = std::min(line.text, text);
    if (log.last_line_ms) line.age_ms = std::max(line.age_ms.value_or(0), *log.last_line_ms);
    line.workers.push_back(worker);
    line.count = static_cast<int64_t>(line.workers.size());
    line.culprit = line.culprit || culprit;
  }
  for (auto& [key, line] : lines) minutes.log.push_back(std::move(line));
}

void FindLog(const Capture& capture, const std::vector<ReportWorker>& workers,
             const Accused& accused, const LogEvidence* logs, LastMinutes& minutes) {
  std::map<std::tuple<std::string, LogKind, std::string>, LoggedLine> lines;
  for (const Snapshot& snapshot : capture.snapshots) {
    const size_t worker = IndexOf(workers, snapshot.worker);
    if (worker == workers.size() || workers[worker].id != snapshot.worker) continue;
    for (const LogEvent& event : snapshot.log_events) {
      const std::string text = text::ValidUtf8(event.text, text::kMaxSentenceBytes);
      const std::string source = SourceText(event.source);
      auto [it, inserted] = lines.try_emplace(
          {source, event.kind, IsMinor(event.kind) ? WithoutNumbers(text) : text});
      LoggedLine& line = it->second;
      if (inserted) {
        line.text = text;
        line.source = source;
        line.count = 0;
        line.minor = IsMinor(event.kind);
      }
      // The text must not depend on the order of the snapshots.
      line.alike = line.alike || line.text != text;
      line.text = std::min(line.text, text);
      if (event.age_ms) line.age_ms = std::max(line.age_ms.value_or(0), *event.age_ms);
      line.count += std::max<int64_t>(1, event.count.value_or(1));
      line.workers.push_back(worker);
      line.culprit = line.culprit || accused.count(snapshot.worker) > 0;
    }
  }
  for (auto& [key, line] : lines) {
    std::sort(line.workers.begin(), line.workers.end());
    line.workers.erase(std::unique(line.workers.begin(), line.workers.end()), line.workers.end());
    minutes.log.push_back(std::move(line));
  }
  if (logs != nullptr) AddLastLines(capture, workers, accused, *logs, minutes);
  if (minutes.log.size() > kMaxLogLines) {
    minutes.more_log = minutes.log.size() - kMaxLogLines;
    std::stable_sort(
        minutes.log.begin(), minutes.log.end(), [](const LoggedLine& a, const LoggedLine& b) {
          return std::make_tuple(!a.culprit, a.minor) < std::make_tuple(!b.culprit, b.minor);
        });
    minutes.log.resize(kMaxLogLines);
  }
  std::stable_sort(minutes.log.begin(), minutes.log.end(),
                   [](const LoggedLine& a, const LoggedLine& b) {
                     return a.age_ms.value_or(-1) > b.age_ms.value_or(-1);
                   });
}

size_t StagesReached(const Snapshot* snapshot) {
  if (snapshot == nullptr || !snapshot->start_up) return 0;
  const StartUp& start = *snapshot->start_up;
  if (start.launch_ms) return 5;
  if (start.compilation_ms) return 4;
  if (start.coordination_ms) return 3;
  if (start.device_ms) return 2;
  return start.process_ms ? 1 : 0;
}

std::vector<StartUpGroup> FindStartUp(const Capture& capture,
                                      const std::vector<ReportWorker>& workers,
                                      const Accused& accused) {
  std::map<WorkerId, const Snapshot*> snapshots;
  bool starting = capture.header.starting_ms.has_value();
  for (const Snapshot& snapshot : capture.snapshots) {
    snapshots[snapshot.worker] = &snapshot;
    starting = starting || snapshot.start_up.has_value();
  }
  if (!starting) return {};
  std::map<size_t, StartUpGroup> groups;
  for (size_t i = 0; i < workers.size(); ++i) {
    const auto it = snapshots.find(workers[i].id);
    const Snapshot* snapshot = it == snapshots.end() ? nullptr : it->second;
    // The start-up of a worker that has launched is no longer watched.
    const bool started = snapshot != nullptr && !snapshot->start_up;
    const size_t reached = started ? kStartUpStages : StagesReached(snapshot);
    StartUpGroup& group = groups[reached];
    group.workers.push_back(i);
    group.culprit = group.culprit || accused.count(workers[i].id) > 0;
    if (snapshot == nullptr || !snapshot->start_up) continue;
    for (const Obstacle& obstacle : snapshot->start_up->obstacles) {
      if (group.obstacles.size() == kMaxObstacles) break;
      group.obstacles.push_back(absl::StrCat(
          workers[i].host, ": ",
          text::ValidUtf8(obstacle.detail.value_or(obstacle.subject), text::kMaxSentenceBytes)));
    }
  }
  std::vector<StartUpGroup> list;
  for (auto& [reached, group] : groups) {
    group.reached = reached;
    group.stage = kStageNames.at(reached);
    list.push_back(std::move(group));
  }
  return list;
}

// The median over cores that run something: the job's standstill.
std::optional<int64_t> StandStill(const Capture& capture) {
  std::vector<int64_t> ages;
  for (const Snapshot& snapshot : capture.snapshots) {
    for (const Core& core : snapshot.cores) {
      if (IsSparse(core)) continue;
      if (const auto age = StopAge(core)) ages.push_back(*age);
    }
  }
  if (ages.empty()) return std::nullopt;
  const auto middle = ages.begin() + static_cast<std::ptrdiff_t>(ages.size() / 2);
  std::nth_element(ages.begin(), middle, ages.end());
  return *middle;
}

std::optional<TorusPlace> ParsePlace(const std::string& text) {
  TorusPlace place{};
  size_t count = 0;
  for (size_t i = 0; i < text.size();) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) {
      ++i;
      continue;
    }
    if (count == place.size()) return std::nullopt;
    int32_t number = 0;
    for (; i < text.size() && std::isdigit(static_cast<unsigned char>(text[i])) != 0; ++i) {
      number = number * 10 + (text[i] - '0');
      if (number > kMaxCoordinate) return std::nullopt;
    }
    place[count++] = number;
  }
  return count >= 2 ? std::optional(place) : std::nullopt;
}

}  // namespace

LastMinutes DescribeLastMinutes(const Capture& capture, const std::vector<ReportWorker>& workers,
                                const std::vector<Culprit>& culprits, const LogEvidence* logs) {
  Accused accused;
  for (const Culprit& culprit : culprits) accused[culprit.worker].push_back(&culprit);
  LastMinutes minutes;
  minutes.lanes = FindLanes(capture, workers, accused, logs);
  FindLog(capture, workers, accused, logs, minutes);
  minutes.start_up = FindStartUp(capture, workers, accused);
  minutes.still_ms = StandStill(capture);
  for (const bool of_culprits : {true, false}) {
    for (const Snapshot& snapshot : capture.snapshots) {
      if (of_culprits && accused.count(snapshot.worker) == 0) continue;
      if (!snapshot.progress || !snapshot.progress->step) continue;
      minutes.step = std::max(minutes.step.value_or(0), *snapshot.progress->step);
    }
    if (minutes.step) break;
  }
  return minutes;
}

std::vector<std::optional<TorusPlace>> FindTorusPlaces(const Capture& capture,
                                                       const std::vector<ReportWorker>& workers) {
  std::vector<std::optional<TorusPlace>> places;
  for (const Snapshot& snapshot : capture.snapshots) {
    const size_t worker = IndexOf(workers, snapshot.worker);
    if (worker == workers.size() || workers[worker].id != snapshot.worker) continue;
    for (const Core& core : snapshot.cores) {
      if (!core.coords) continue;
      const std::optional<TorusPlace> place = ParsePlace(*core.coords);
      if (!place) continue;
      places.resize(workers.size());
      std::optional<TorusPlace>& smallest = places[worker];
      smallest = smallest ? std::min(*smallest, *place) : *place;
    }
  }
  return places;
}

}  // namespace rapideye::digest
