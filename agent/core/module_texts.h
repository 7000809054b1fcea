// ModuleTexts answers the coordinator's requests for the texts of programs, and names the programs
// of a worker whose runtime does not.
#ifndef RAPIDEYE_AGENT_CORE_MODULE_TEXTS_H_
#define RAPIDEYE_AGENT_CORE_MODULE_TEXTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  // The stream is over: drops the request, and the next stream asks anew.
  void Clear() { asked_.reset(); }
  // Lists the programs that the dumps name; in a hang only. `silent`: the runtime names none.
  // `started`: when the training process did, if that is known.
  void Look(bool silent, std::optional<absl::Duration> started, absl::Duration now,
            Effects& effects);
  // Takes the list; logs once why there is none.
  void Listed(const DumpsListed& listed, Effects& effects);
  // True if a snapshot whose look began at `began` should wait for a list requested earlier.
  bool WorthWaiting(absl::Duration began, absl::Duration now) const;
  // Names the compiled programs in the snapshot of a worker whose runtime shows none.
  void AddTo(Snapshot& snapshot) const;
  // Answers requests that were not read in time.
  void Expire(absl::Duration now, Effects& effects);
  // The time at which Expire has work; infinite: never.
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
  std::string unavailable_;                   // the reason that was logged last
  std::optional<absl::Duration> looked_for_;  // the start of the process at the last look
  std::optional<absl::Duration> looking_;     // since when a list with programs is awaited
  std::vector<DumpedProgram> compiled_;       // by the process of the last look
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_MODULE_TEXTS_H_
