// Declares the readings of XLA's dumps. The core asks for them when programs have diverged, and
// keeps them with the programs (agent/core/module_texts.h).
#ifndef RAPIDEYE_AGENT_SOURCES_HLO_DUMP_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_HLO_DUMP_STATE_H_

#include <string>
#include <vector>

#include "agent/sources/source.h"

namespace rapideye::agent {

// A program that XLA has dumped, with the fingerprint that its own text holds.
struct DumpedProgram {
  std::string module;
  std::string fingerprint;  // lower-case hex
};

struct HloDumpReading {
  std::vector<DumpedProgram> programs;
  // Why nothing can be said, and what would help; empty: nothing is wrong.
  std::string unavailable;
};

struct HloDumpSource : SourceOf<NoState<HloDumpReading>, HloDumpReading> {
  static constexpr char kName[] = "hlo-dump";
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_HLO_DUMP_STATE_H_
