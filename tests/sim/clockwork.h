// Clockwork keeps virtual time; Trace records the events in it.
#ifndef RAPIDEYE_TESTS_SIM_CLOCKWORK_H_
#define RAPIDEYE_TESTS_SIM_CLOCKWORK_H_

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"

namespace rapideye::sim {

// Actions in the order of their times; those of one time in the order in which
// they were asked for.
class Clockwork {
 public:
  absl::Duration now() const { return now_; }

  void At(absl::Duration time, std::function<void()> action) {
    actions_.emplace(std::make_pair(std::max(time, now_), ++last_), std::move(action));
  }
  void After(absl::Duration delay, std::function<void()> action) {
    At(now_ + delay, std::move(action));
  }

  // False once there is nothing to do up to `end`.
  bool RunNext(absl::Duration end) {
    if (actions_.empty() || actions_.begin()->first.first > end) return false;
    auto next = actions_.extract(actions_.begin());
    now_ = next.key().first;
    next.mapped()();
    return true;
  }

 private:
  std::map<std::pair<absl::Duration, uint64_t>, std::function<void()>> actions_;
  uint64_t last_ = 0;
  absl::Duration now_;
};

// Rings at the last time that was set; earlier settings are forgotten.
class Alarm {
 public:
  Alarm(Clockwork& clockwork, std::function<void()> ring)
      : clockwork_(clockwork), ring_(std::move(ring)) {}

  void Set(absl::Duration time) {
    if (time == time_) return;
    time_ = time;
    const uint64_t setting = ++settings_;
    if (time == absl::InfiniteDuration()) return;
    clockwork_.At(time, [this, setting] {
      if (setting != settings_) return;
      time_ = absl::InfiniteDuration();
      ring_();
    });
  }

 private:
  Clockwork& clockwork_;
  std::function<void()> ring_;
  uint64_t settings_ = 0;
  absl::Duration time_ = absl::InfiniteDuration();
};

// Something said or done: a message, as its bytes; a line of a log; why a stream was closed.
struct Said {
  absl::Duration at;
  std::string what;
  int64_t whom = 0;
  std::string content;
};

// The hash tells two runs apart; the lines, if wanted, tell a person what happened.
class Trace {
 public:
  // Lines kept: 0 for the hash alone. All that is said goes to `said`, unless it is null.
  explicit Trace(size_t lines, std::vector<Said>* said) : limit_(lines), said_(said) {}

  bool wanted() const { return limit_ > 0; }
  void Add(absl::Duration now, std::string_view what, int64_t whom, std::string_view content) {
    Mix(static_cast<uint64_t>(absl::ToInt64Microseconds(now)));
    Mix(static_cast<uint64_t>(whom));
    for (const char c : what) Mix(static_cast<unsigned char>(c));
    for (const char c : content) Mix(static_cast<unsigned char>(c));
    if (said_ != nullptr) said_->push_back({now, std::string(what), whom, std::string(content)});
  }
  void Line(std::string line) {
    if (!wanted()) return;
    lines_.push_back(std::move(line));
    if (lines_.size() > limit_) lines_.pop_front();
  }

  uint64_t hash() const { return hash_; }
  const std::deque<std::string>& lines() const { return lines_; }

 private:
  // FNV-1a.
  void Mix(uint64_t value) { hash_ = (hash_ ^ value) * 1099511628211ULL; }

  size_t limit_;
  std::vector<Said>* said_;
  uint64_t hash_ = 14695981039346656037ULL;
  std::deque<std::string> lines_;
};

}  // namespace rapideye::sim

#endif  // RAPIDEYE_TESTS_SIM_CLOCKWORK_H_
