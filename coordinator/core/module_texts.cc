#include "coordinator/core/module_texts.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

constexpr char kNoReader[] =
    "no connected agent of this side was given an --hlo-dump-dir to read dumps from";

}  // namespace

ModuleTexts::ModuleTexts(std::string incident, std::vector<TextCandidates> candidates,
                         int64_t number, absl::Duration now, Effects& effects)
    : incident_(std::move(incident)), number_(number), deadline_(now + kModuleTextDeadline) {
  for (TextCandidates& one : candidates) {
    Side& side = sides_.emplace_back();
    side.candidates = std::move(one);
    std::vector<Target>& targets = side.candidates.targets;
    if (targets.size() > kMaxTextTries) targets.resize(kMaxTextTries);
    side.result.side = side.candidates.side;
    side.result.problem = kNoReader;
    if (!side.result.side.workers.empty()) side.result.worker = side.result.side.workers.front();
  }
  for (Side& side : sides_) Ask(side, now, effects);
}

// Asks the next candidate; without one the answer of the last candidate stays.
void ModuleTexts::Ask(Side& side, absl::Duration now, Effects& effects) {
  side.asked.reset();
  if (side.next >= side.candidates.targets.size() || now >= deadline_) {
    side.settled = true;
    return;
  }
  side.asked = side.candidates.targets[side.next++];
  side.result.worker = side.asked->worker;
  side.result.problem = "it has not answered in time";
  effects.push_back(
      Send{side.asked->stream, wire::ModuleTextRequest{.collection = number_,
                                                       .module = side.result.side.module,
                                                       .fingerprint = side.result.side.fingerprint,
                                                       .deadline = deadline_ - now}});
}

absl::Status ModuleTexts::OnReply(const WorkerId& worker, wire::ModuleTextReply reply,
                                  absl::Duration now, Effects& effects) {
  const auto asked = [&worker](const Side& side) {
    return side.asked.has_value() && side.asked->worker == worker;
  };
  const auto side = std::find_if(sides_.begin(), sides_.end(), asked);
  if (side == sides_.end()) {
    const char* what = answered_.contains(worker) ? "a second answer for" : "nothing was asked in";
    return absl::InvalidArgumentError(
        absl::StrFormat("moduleText: %s collection %d", what, number_));
  }
  answered_.insert(worker);
  if (!reply.text.has_value()) {
    Ask(*side, now, effects);
    if (side->settled) side->result.problem = std::move(reply.error);
    return absl::OkStatus();
  }
  side->result.text = std::move(reply.text);
  side->result.problem.clear();
  side->asked.reset();
  side->settled = true;
  return absl::OkStatus();
}

void ModuleTexts::OnLeave(const WorkerId& worker, absl::Duration now, Effects& effects) {
  for (Side& side : sides_) {
    // The workers that have not been asked yet: `next` counts the others.
    std::vector<Target>& targets = side.candidates.targets;
    const auto begin = targets.begin() + static_cast<ptrdiff_t>(side.next);
    targets.erase(std::remove_if(begin, targets.end(),
                                 [&](const Target& target) { return target.worker == worker; }),
                  targets.end());
    if (!side.asked.has_value() || side.asked->worker != worker) continue;
    Ask(side, now, effects);
    if (side.settled) side.result.problem = "its agent's connection broke";
  }
}

bool ModuleTexts::Done(absl::Duration now) const {
  return now >= deadline_ ||
         std::all_of(sides_.begin(), sides_.end(), [](const Side& side) { return side.settled; });
}

TextsGathered ModuleTexts::Take(const std::string& why, Effects& effects) {
  TextsGathered gathered{.incident_id = incident_, .sides = {}};
  for (Side& side : sides_) {
    if (side.asked.has_value()) {
      effects.push_back(Send{side.asked->stream, wire::Cancel{number_}});
      if (!why.empty()) side.result.problem = why;
    }
    gathered.sides.push_back(std::move(side.result));
  }
  return gathered;
}

}  // namespace rapideye::coordinator
