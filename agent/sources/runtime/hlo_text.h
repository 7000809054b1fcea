// Extracts names from the runtime's text about an instruction.
#ifndef RAPIDEYE_AGENT_SOURCES_RUNTIME_HLO_TEXT_H_
#define RAPIDEYE_AGENT_SOURCES_RUNTIME_HLO_TEXT_H_

#include <optional>
#include <string>

#include "absl/strings/string_view.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

struct HloNames {
  std::optional<std::string> instruction;  // all-reduce.3
  std::optional<std::string> module;       // jit_train_step
  // From the full text of an instruction, if it tells what a core waits for there.
  std::optional<HloWaits> waits;
};

// No sample of these two texts is published, so several forms are understood,
// and whatever is none of them yields nothing:
//   HLO: all-reduce.3; HLO computation: main.12_spmd; HLO module: jit_train_step
//   [ROOT] %all-reduce.3 = f32[8] all-reduce(...)
//   all-reduce.3
// `detailed_info` is a JSON array whose elements are such texts, or objects
// with the names under a usual key. Total: takes any bytes.
HloNames NamesFromHlo(absl::string_view location, absl::string_view detailed_info);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_RUNTIME_HLO_TEXT_H_
