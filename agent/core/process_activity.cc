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

// A quarter of the values are less. Low ones count: the first window without steps passes for one
// with steps, and evaluations may be frequent.
double LowerQuarter(std::vector<double> values) {
  const auto quarter = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::nth_element(values.begin(), quarter, values.end());
  return *quarter;
}

// Keeps the last kActivityWindows of them.
void Remember(double value, std::vector<double>& values) {
  values.push_back(value);
  if (values.size() > kActivityWindows) values.erase(values.begin());
}

double PerTime(const ActivityWindow& window) {
  return absl::FDivDuration(absl::Milliseconds(window.growth), window.ended - window.begun);
}

}  // namespace

void LatestGrowth::Observe(int64_t counter, absl::Duration now) {
  if (!looks_.empty() && counter < looks_.back().counter) looks_.clear();
  if (!looks_.empty() && now <= looks_.back().at) return;
  looks_.push_back({now, counter});
  while (looks_.size() > 2 && now - looks_[1].at >= kActivityWindow) looks_.pop_front();
}

std::optional<ActivityWindow> LatestGrowth::Window() const {
  if (looks_.empty() || looks_.back().at - looks_.front().at < kActivityWindow) return std::nullopt;
  return ActivityWindow{.begun = looks_.front().at,
                        .ended = looks_.back().at,
                        .growth = looks_.back().counter - looks_.front().counter};
}

bool LatestGrowth::GrewBy(int64_t least) const {
  const std::optional<ActivityWindow> window = Window();
  if (!window.has_value() || window->growth < least) return false;
  const Look& before = looks_[looks_.size() - 2];
  const double part =
      std::min(1.0, absl::FDivDuration(looks_.back().at - before.at, kActivityWindow));
  return static_cast<double>(looks_.back().counter - before.counter) >=
         part * static_cast<double>(least);
}

bool ActivityRhythm::Observe(int64_t counter, absl::Duration now) {
  latest_.Observe(counter, now);
  if (latest_.GrewBy(least_)) grew_at_ = now;
  if (!counter_.has_value() || counter < *counter_) {
    counter_ = counter;
    begun_ = now;
    return false;
  }
  if (now - begun_ < kActivityWindow) return false;
  const int64_t growth = counter - *counter_;
  last_ = ActivityWindow{.begun = begun_, .ended = now, .growth = growth};
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
  if (process.has_value() && process != process_) {
    *this = ProcessActivity();
    seen_since_ = now;
  }
  process_ = process;
  if (!reading.work.has_value()) return;
  const bool reads =
      reading.work->io_bytes.has_value() && io_.Observe(*reading.work->io_bytes, now);
  const bool runs = cpu_.Observe(reading.work->cpu_ms, now);
  if (reading.work->wanted_ms.has_value()) wanted_.Observe(*reading.work->wanted_ms, now);
  ObserveFirstThread(now);
  ObserveCpu(reads, now);
  const bool alone = !traffic_.Learnt() && !io_.Learnt();
  if ((reads && io_.Learnt()) || (runs && cpu_.Learnt() && alone)) ++advances_;
}

void ProcessActivity::ObserveCpu(bool reads, absl::Duration now) {
  const std::optional<ActivityWindow>& window = cpu_.last();
  if (!window.has_value() || window->ended != now) return;
  const double used = PerTime(*window);
  const bool sends = traffic_.Learnt() && *traffic_.advanced_at() >= window->begun;
  if (sends || (reads && io_.Learnt())) {
    Remember(used, cpu_of_steps_);
    if (const auto wanted = wanted_.Window()) Remember(PerTime(*wanted), wanted_in_steps_);
    return;
  }
  const bool known = cpu_of_steps_.size() == kActivityWindows && StepsAreKnown(now);
  const double least = known ? kBusyFactor * Median(cpu_of_steps_) : 0;
  if (window->growth >= kLeastCpuMs && used >= least) busy_at_ = now;
}

void ProcessActivity::ObserveFirstThread(absl::Duration now) {
  const std::optional<ActivityWindow> window = wanted_.Window();
  if (!window.has_value() || window->ended != now) return;
  const bool known = wanted_in_steps_.size() == kActivityWindows && StepsAreKnown(now);
  const double least = known ? kWorksFactor * LowerQuarter(wanted_in_steps_) : 0;
  if (PerTime(*window) >= std::max(least, kWorksPart)) busy_at_ = now;
}

std::optional<absl::Duration> ProcessActivity::SinceAnyWork(absl::Duration now) const {
  const std::optional<absl::Duration> last =
      std::max({traffic_.grew_at(), io_.grew_at(), busy_at_});
  if (!process_.has_value() || !last.has_value()) return std::nullopt;
  return std::max(now - *last, absl::ZeroDuration());
}

bool ProcessActivity::StepsAreKnown(absl::Duration now) const {
  return traffic_.Learnt() || now - seen_since_ >= kStartLasts;
}

void ProcessActivity::ObserveTraffic(int64_t bytes_moved, absl::Duration now) {
  const bool learnt = traffic_.Learnt();
  const bool sends = traffic_.Observe(bytes_moved, now);
  if (!learnt && traffic_.Learnt()) {
    cpu_of_steps_.clear();
    wanted_in_steps_.clear();
  }
  if (sends && traffic_.Learnt()) ++advances_;
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
