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
  // Programs with the fingerprints that their own texts hold.
  std::vector<DumpedProgram> programs;
  // Programs with the fingerprints of their texts (classifier/hlo/fingerprint.h), only on request:
  // those with collectives on the largest number of devices. All compilations of a module or none
  // are listed, so that the lists of two hosts can be compared.
  std::vector<DumpedProgram> compiled;
  // Why nothing can be said, and what would help; empty: nothing is wrong.
  std::string unavailable;
};

struct HloDumpSource : SourceOf<NoState<HloDumpReading>, HloDumpReading> {
  static constexpr char kName[] = "hlo-dump";
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_HLO_DUMP_STATE_H_
