#include "agent/core/process_activity.h"

#include <algorithm>
#include <utility>

#include "agent/core/limits.h"

namespace rapideye::agent {
namespace {

template <typename Value>
Value Median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

bool ActivityRhythm::Observe(int64_t counter, absl::Duration now) {
  if (!counter_.has_value() || counter < *counter_) {
    counter_ = counter;
    begun_ = now;
    return false;
  }
  if (now - begun_ < kActivityWindow) return false;
  const int64_t growth = counter - *counter_;
  last_ = ActivityWindow{.begun = begun_, .ended = now, .growth = growth};
  if (growth >= floor_) grew_at_ = now;
  counter_ = counter;
  begun_ = now;
  if (!ShowsWork(growth)) return false;
  if (advanced_at_.has_value() && std::exchange(healthy_since_advance_, true)) {
    longest_ = std::max(longest_.value_or(absl::ZeroDuration()), now - *advanced_at_);
  }
  advanced_at_ = now;
  return true;
}

bool ActivityRhythm::ShowsWork(int64_t growth) {
  if (growth < floor_) return false;
  if (usual_.has_value() && growth < *usual_ / kActivityPart) {
    smaller_.push_back(growth);
    // The job has gone over to other work: it did more while it started.
    if (smaller_.size() < kSmallerWindows) return false;
    recent_ = std::exchange(smaller_, {});
  } else {
    smaller_.clear();
    recent_.push_back(growth);
  }
  if (recent_.size() > kActivityWindows) {
    recent_.erase(recent_.begin(), recent_.end() - std::ptrdiff_t{kActivityWindows});
  }
  if (recent_.size() == kActivityWindows) usual_ = Median(recent_);
  return true;
}

void ProcessActivity::Observe(const ProcessReading& reading, absl::Duration now) {
  const bool lives = reading.process.has_value() && !reading.process->Ended();
  const std::optional<ProcessId> process =
      lives ? std::optional(reading.process->id) : std::nullopt;
  if (process.has_value() && process != process_) *this = ProcessActivity();
  process_ = process;
  if (!reading.work.has_value()) return;
  const bool reads =
      reading.work->io_bytes.has_value() && io_.Observe(*reading.work->io_bytes, now);
  const bool runs = cpu_.Observe(reading.work->cpu_ms, now);
  ObserveCpu(reads, now);
  const bool alone = !traffic_.Learnt() && !io_.Learnt();
  if ((reads && io_.Learnt()) || (runs && cpu_.Learnt() && alone)) ++advances_;
}

void ProcessActivity::ObserveCpu(bool reads, absl::Duration now) {
  const std::optional<ActivityWindow>& window = cpu_.last();
  if (!window.has_value() || window->ended != now) return;
  const double used = absl::FDivDuration(absl::Milliseconds(window->growth), now - window->begun);
  const bool sends = traffic_.Learnt() && *traffic_.advanced_at() >= window->begun;
  if (sends || (reads && io_.Learnt())) {
    cpu_of_steps_.push_back(used);
    if (cpu_of_steps_.size() > kActivityWindows) cpu_of_steps_.erase(cpu_of_steps_.begin());
    return;
  }
  const bool known = cpu_of_steps_.size() == kActivityWindows;
  const double least = known ? kBusyFactor * Median(cpu_of_steps_) : 0;
  if (window->growth >= kLeastCpuMs && used >= least) busy_at_ = now;
}

std::optional<absl::Duration> ProcessActivity::SinceAnyWork(absl::Duration now) const {
  const std::optional<absl::Duration> last =
      std::max({traffic_.grew_at(), io_.grew_at(), busy_at_});
  if (!process_.has_value() || !last.has_value()) return std::nullopt;
  return std::max(now - *last, absl::ZeroDuration());
}

void ProcessActivity::ObserveTraffic(int64_t bytes_moved, absl::Duration now) {
  if (traffic_.Observe(bytes_moved, now) && traffic_.Learnt()) ++advances_;
}

void ProcessActivity::MeasureAnew() {
  traffic_.MeasureAnew();
  io_.MeasureAnew();
  cpu_.MeasureAnew();
}

std::optional<wire::ProcessActivity> ProcessActivity::Now(absl::Duration now) const {
  using Signal = wire::ProcessActivitySignal;
  if (!process_.has_value()) return std::nullopt;
  const ActivityRhythm* last = nullptr;
  Signal signal = Signal::kUnspecified;
  const auto consider = [&](const ActivityRhythm& one, Signal of) {
    if (!one.Learnt()) return;
    if (last != nullptr && *last->advanced_at() >= *one.advanced_at()) return;
    last = &one;
    signal = of;
  };
  consider(traffic_, Signal::kTraffic);
  consider(io_, Signal::kInputOutput);
  if (last == nullptr) consider(cpu_, Signal::kCpuTime);
  if (last == nullptr) return std::nullopt;
  return wire::ProcessActivity{
      .signal = signal,
      .advances = advances_,
      .since_advance = std::max(now - *last->advanced_at(), absl::ZeroDuration()),
      .longest = last->longest()};
}

}  // namespace rapideye::agent
