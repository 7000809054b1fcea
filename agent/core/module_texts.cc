#include "agent/core/module_texts.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/core/requests.h"
#include "agent/sources/hlo_dump/limits.h"

namespace rapideye::agent {
namespace {

void Refuse(int64_t collection, std::string why, Effects& effects) {
  effects.push_back(Send{wire::ModuleTextReply{collection, std::nullopt, std::move(why)}});
}

}  // namespace

void ModuleTexts::Request(const wire::ModuleTextRequest& request, const ModuleNames& modules,
                          absl::Duration now, Effects& effects) {
  asked_.reset();
  if (!readable_) {
    return Refuse(request.collection, "its agent was given no --hlo-dump-dir", effects);
  }
  if (now < next_fetch_at_) {
    return Refuse(request.collection, "asked too often: texts are large", effects);
  }
  next_fetch_at_ = now + kModuleTextSpacing;
  const absl::Duration reply_by = ReplyBy(now, request.deadline);
  asked_ = Asked{request.collection, ++last_fetch_, reply_by};
  std::optional<std::string> module = request.module;
  if (!module.has_value()) module = modules.Find(request.fingerprint);
  effects.push_back(
      FetchModuleText{last_fetch_, std::move(module), request.fingerprint, reply_by - now});
}

void ModuleTexts::Fetched(ModuleTextFetched fetched, Effects& effects) {
  if (!asked_.has_value() || asked_->fetch != fetched.fetch) return;
  effects.push_back(Send{wire::ModuleTextReply{asked_->collection, std::move(fetched.text),
                                               std::move(fetched.problem)}});
  asked_.reset();
}

void ModuleTexts::Look(bool silent, std::optional<absl::Duration> started, absl::Duration now,
                       Effects& effects) {
  if (!readable_) return;
  if (started != looked_for_) {
    looked_for_ = started;
    compiled_.clear();
    next_look_at_ = now;
  }
  if (now < next_look_at_) return;
  next_look_at_ = now + kHloDumpSpacing;
  if (silent) looking_ = now;
  ListDumps list{.fingerprints = silent, .process_age = std::nullopt};
  if (started.has_value()) list.process_age = now - *started;
  effects.push_back(list);
}

bool ModuleTexts::WorthWaiting(absl::Duration began, absl::Duration now) const {
  return looking_.has_value() && *looking_ < began && now < *looking_ + kHloDumpPatience;
}

void ModuleTexts::AddTo(Snapshot& snapshot) const {
  if (!snapshot.cores.empty() || !snapshot.programs.empty()) return;
  for (const DumpedProgram& program : compiled_) {
    snapshot.programs.push_back({program.module, program.fingerprint});
  }
}

void ModuleTexts::Listed(const DumpsListed& listed, Effects& effects) {
  looking_.reset();
  compiled_ = listed.reading.compiled;
  const std::string& why = listed.reading.unavailable;
  if (why.empty() || why == unavailable_) return;
  unavailable_ = why;
  effects.push_back(Log{LogLevel::kWarning, absl::StrCat("nothing is known of HLO dumps: ", why)});
}

void ModuleTexts::Cancel(const wire::Cancel& cancel) {
  if (asked_.has_value() && asked_->collection == cancel.collection) asked_.reset();
}

void ModuleTexts::Expire(absl::Duration now, Effects& effects) {
  if (!asked_.has_value() || now < asked_->reply_by) return;
  Refuse(asked_->collection, "its dump was not read in time", effects);
  asked_.reset();
}

absl::Duration ModuleTexts::NextWake() const {
  return asked_.has_value() ? asked_->reply_by : absl::InfiniteDuration();
}

}  // namespace rapideye::agent
