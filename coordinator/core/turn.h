// Turn is one Step of the core as its parts see it: the moment, and the effects so far.
#ifndef RAPIDEYE_COORDINATOR_CORE_TURN_H_
#define RAPIDEYE_COORDINATOR_CORE_TURN_H_

#include <string>
#include <utility>

#include "absl/time/time.h"
#include "coordinator/core/events.h"
#include "proto/common/time/instant.h"

namespace rapideye::coordinator {

class Turn {
 public:
  void Begin(const Instant& now) {
    now_ = now;
    effects_.clear();
  }
  // The effects, in the order in which they are to be carried out. Call once, last.
  Effects End() { return std::exchange(effects_, {}); }

  const Instant& now() const { return now_; }
  absl::Duration monotonic() const { return now_.monotonic; }
  // The effects so far, for parts that append to them.
  Effects& effects() { return effects_; }

  void Emit(Effect effect) { effects_.push_back(std::move(effect)); }
  void Info(std::string text) { Emit(Log{LogLevel::kInfo, std::move(text)}); }
  void Warn(std::string text) { Emit(Log{LogLevel::kWarning, std::move(text)}); }

 private:
  Instant now_;
  Effects effects_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_TURN_H_
