// Looks up in XLA's dumps what a core waits for that stands at an instruction.
#ifndef RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_WAITS_H_
#define RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_WAITS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "absl/time/time.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Instructions by the module that holds them.
using InstructionsOfModules = std::map<std::string, std::set<std::string>>;
// Without a value: the text does not say, or there is none.
using WaitsOfInstructions = std::map<std::string, std::map<std::string, std::optional<HloWaits>>>;

// Remembers what was looked up: a hang stands still, so a text is read once. Not synchronised.
class InstructionWaits {
 public:
  explicit InstructionWaits(std::string directory) : directory_(std::move(directory)) {}

  // Of a module that was dumped several times the text written last counts. Blocks for at most
  // about `patience`, unless the disk hangs; what was not done by then is done at the next
  // call.
  WaitsOfInstructions Find(const InstructionsOfModules& wanted, absl::Duration patience);

 private:
  // File, size in bytes, and when it was written.
  using Key = std::tuple<std::string, int64_t, absl::Time>;
  struct Known {
    Key dump;
    std::map<std::string, std::optional<HloWaits>> waits;
  };

  const std::string directory_;
  std::map<std::string, Known> known_;  // by module
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_HLO_DUMP_FETCH_WAITS_H_
