// ModuleTexts answers the coordinator's requests for the texts of programs.
#ifndef RAPIDEYE_AGENT_CORE_MODULE_TEXTS_H_
#define RAPIDEYE_AGENT_CORE_MODULE_TEXTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "agent/core/effects.h"
#include "agent/core/program_book.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// One request at a time: a new one replaces the old one. Every request is answered,
// at least with the reason why there is no text.
class ModuleTexts {
 public:
  // `readable`: there is a directory of dumps.
  explicit ModuleTexts(bool readable) : readable_(readable) {}

  // `modules` knows the name of a module that the coordinator does not.
  void Request(const wire::ModuleTextRequest& request, const ModuleNames& modules,
               absl::Duration now, Effects& effects);
  void Fetched(ModuleTextFetched fetched, Effects& effects);
  void Cancel(const wire::Cancel& cancel);
  // The stream is over: the next one asks anew.
  void Clear() { asked_.reset(); }
  // Lists the programs that the dumps name; in a hang only.
  void Look(absl::Duration now, Effects& effects);
  // Takes the list; logs once why there is none.
  void Listed(const DumpsListed& listed, Effects& effects);
  // Answers requests that were not read in time.
  void Expire(absl::Duration now, Effects& effects);
  // When Expire has something to do; infinite if never.
  absl::Duration NextWake() const;

 private:
  struct Asked {
    int64_t collection = 0;
    int64_t fetch = 0;
    absl::Duration reply_by;
  };

  const bool readable_;
  std::optional<Asked> asked_;
  int64_t last_fetch_ = 0;
  absl::Duration next_fetch_at_ = -absl::InfiniteDuration();
  absl::Duration next_look_at_ = -absl::InfiniteDuration();
  std::string unavailable_;  // as logged
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_MODULE_TEXTS_H_
