// Reads XLA's dumps from their directory.
#ifndef RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "agent/sources/hlo_dump/state.h"
#include "agent/sources/runtime/sample.h"
#include "classifier/hlo/fingerprint.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Fingerprints of dumps, so that every text is read once. Not synchronised.
class DumpFingerprints {
 public:
  // File, size in bytes, and when it was written.
  using Key = std::tuple<std::string, int64_t, absl::Time>;

  // Null: not read yet. Without a value: its text has no fingerprint.
  const std::optional<classifier::HloFingerprint>* Find(const Key& key) const {
    const auto found = by_dump_.find(key);
    return found == by_dump_.end() ? nullptr : &found->second;
  }
  void Set(const Key& key, std::optional<classifier::HloFingerprint> fingerprint) {
    by_dump_[key] = std::move(fingerprint);
  }

 private:
  std::map<Key, std::optional<classifier::HloFingerprint>> by_dump_;
};

// Bounds of a look at the dumps.
struct DumpLook {
  bool fingerprints = false;
  // Counts only dumps written since then: by the present training process, not by an earlier one.
  absl::Time since = absl::InfinitePast();
};

// Instructions by the module that holds them.
using InstructionsOfModules = std::map<std::string, std::set<std::string>>;
// The wait of a core that stands at an instruction, as far as the text of its module says it.
struct InstructionWait {
  std::optional<HloWaits> waits;
  std::shared_ptr<const MeetingText> meeting;  // null: not known
};
// By module and instruction.
using WaitsOfInstructions = std::map<std::string, std::map<std::string, InstructionWait>>;

// Tells what a core waits for when it stands at an instruction. Remembers the answer: a hang stands
// still, so a text is read once. Not synchronised.
class InstructionWaits {
 public:
  explicit InstructionWaits(std::string directory) : directory_(std::move(directory)) {}

  // If a module was dumped several times, the text written last counts. Blocks for at most about
  // `patience` and the time that one text takes, unless the disk hangs; modules that are not done
  // by then are left out, and done at the next call.
  WaitsOfInstructions Find(const InstructionsOfModules& wanted, absl::Duration patience);

 private:
  struct Known {
    DumpFingerprints::Key dump;
    std::map<std::string, InstructionWait> waits;
  };

  const std::string directory_;
  std::map<std::string, Known> known_;  // by module
};

// All of these block for at most about `deadline`, unless the disk hangs. Only regular
// files that lie in the directory itself are opened: links are not followed. Errors say
// what to do, for people.

// Names of modules by the fingerprints that the dumps' own attributes hold; looks into the
// beginnings of the latest dumps. For fingerprints of texts it takes kFingerprintDeadline more.
// `known` is updated to the dumps that are there.
HloDumpReading ListHloDumps(const std::string& directory, const DumpLook& look,
                            absl::Duration deadline, DumpFingerprints& known);

// The text of the program with this fingerprint, compressed and bounded. `module` is its
// name, if it is known. Beyond the bounds the text is cut, and the files of the same compilation
// beside it are left out, also if they take long. `known`: from an earlier listing.
absl::StatusOr<wire::ModuleText> ReadModuleText(const std::string& directory,
                                                const std::optional<std::string>& module,
                                                const std::string& fingerprint,
                                                absl::Duration deadline,
                                                const DumpFingerprints& known);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_H_
