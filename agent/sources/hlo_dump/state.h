// Declares the readings of XLA's dumps. The core asks for them in a hang, and keeps them with the
// programs (agent/core/module_texts.h).
#ifndef RAPIDEYE_AGENT_SOURCES_HLO_DUMP_STATE_H_
#define RAPIDEYE_AGENT_SOURCES_HLO_DUMP_STATE_H_

#include <string>
#include <vector>

#include "agent/sources/source.h"

namespace rapideye::agent {

// A program that XLA has dumped, with a fingerprint.
struct DumpedProgram {
  std::string module;
  std::string fingerprint;  // lower-case hex
};

struct HloDumpReading {
  // With the fingerprints that their own texts hold.
  std::vector<DumpedProgram> programs;
  // With the fingerprints of their texts (classifier/hlo/fingerprint.h), only if they were asked
  // for: programs with collectives, of as many devices as any. Of a module all compilations
  // or none, so that what two hosts name can be compared.
  std::vector<DumpedProgram> compiled;
  // Why nothing can be said, and what would help; empty: nothing is wrong.
  std::string unavailable;
};

struct HloDumpSource : SourceOf<NoState<HloDumpReading>, HloDumpReading> {
  static constexpr char kName[] = "hlo-dump";
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_HLO_DUMP_STATE_H_
