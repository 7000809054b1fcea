// ModuleTexts requests the texts of programs that have diverged, one worker of each side at a time.
#ifndef RAPIDEYE_COORDINATOR_CORE_MODULE_TEXTS_H_
#define RAPIDEYE_COORDINATOR_CORE_MODULE_TEXTS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "classifier/verdict/verdict.h"
#include "coordinator/core/collection.h"
#include "coordinator/core/events.h"

namespace rapideye::coordinator {

// One side, and the workers of it that may be asked, in order of preference.
struct TextCandidates {
  ProgramSide side;
  std::vector<Target> targets;
};

// One worker of each side is asked; if it has no text, or leaves, another worker is asked, a few
// times. A text is large: at most one per side is on the way.
class ModuleTexts {
 public:
  // `number` names the questions on the wire, as that of a collection does.
  ModuleTexts(std::string incident, std::vector<TextCandidates> candidates, int64_t number,
              absl::Duration now, Effects& effects);

  int64_t number() const { return number_; }

  // INVALID_ARGUMENT if the worker was not asked, or has answered.
  absl::Status OnReply(const WorkerId& worker, wire::ModuleTextReply reply, absl::Duration now,
                       Effects& effects);
  void OnLeave(const WorkerId& worker, absl::Duration now, Effects& effects);

  // True once there is nothing more to wait for.
  bool Done(absl::Duration now) const;
  absl::Duration NextWake() const { return deadline_; }
  // The texts received, and `why` others are missing. Cancels outstanding requests.
  // Call once, last.
  TextsGathered Take(const std::string& why, Effects& effects);

 private:
  struct Side {
    TextCandidates candidates;
    size_t next = 0;  // of the candidates
    std::optional<Target> asked;
    GatheredText result;
    bool settled = false;
  };

  void Ask(Side& side, absl::Duration now, Effects& effects);

  std::string incident_;
  int64_t number_;
  absl::Duration deadline_;
  std::vector<Side> sides_;
  std::set<WorkerId> answered_;
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_MODULE_TEXTS_H_
