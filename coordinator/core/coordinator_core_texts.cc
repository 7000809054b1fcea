// The texts of programs that have diverged, which workers are asked for during an incident.
#include <string>
#include <utility>
#include <vector>

#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/module_texts.h"

namespace rapideye::coordinator {

void CoordinatorCore::On(TextsWanted& event) {
  const bool wanted = !stopping_ && state_ == State::kConcluding &&
                      event.incident_id == incident_id_ && !texts_.has_value();
  std::vector<TextCandidates> candidates;
  for (ProgramSide& side : event.sides) {
    TextCandidates& one = candidates.emplace_back();
    for (const WorkerId& worker : side.workers) {
      const Member* member = job_.membership.Find(worker);
      if (!wanted || member == nullptr || !member->stream.has_value() || !member->hello.hlo_dumps) {
        continue;
      }
      one.targets.push_back({worker, *member->stream});
    }
    one.side = std::move(side);
  }
  ModuleTexts texts(event.incident_id, std::move(candidates), job_.collections.TakePair(),
                    now_.monotonic, effects_);
  if (wanted) {
    texts_.emplace(std::move(texts));
    FollowTexts();
  } else {
    Emit(texts.Take("", effects_));
  }
}

void CoordinatorCore::FollowTexts() {
  if (texts_.has_value() && texts_->Done(now_.monotonic)) EndTexts("");
}

void CoordinatorCore::EndTexts(const std::string& why) {
  if (!texts_.has_value()) return;
  TextsGathered gathered = texts_->Take(why, effects_);
  texts_.reset();
  Emit(std::move(gathered));
}

}  // namespace rapideye::coordinator
