// ProgramBook collects the names of this worker's programs and their longest launches.
#ifndef RAPIDEYE_AGENT_CORE_PROGRAM_BOOK_H_
#define RAPIDEYE_AGENT_CORE_PROGRAM_BOOK_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "agent/core/launches.h"
#include "agent/sources/hlo_dump/state.h"
#include "agent/sources/runtime/sample.h"
#include "proto/wire/messages.h"

namespace rapideye::agent {

// Names of modules by fingerprint. They are true of the program itself, and
// therefore outlive the process. The least recently confirmed make room.
class ModuleNames {
 public:
  void Learn(const RuntimeSample& sample);
  // Adds names from dumps; names from a runtime, and known ones, take precedence.
  void Learn(const std::vector<DumpedProgram>& dumps);
  std::optional<std::string> Find(const std::string& fingerprint) const;

 private:
  struct Entry {
    std::string fingerprint;
    std::string module;
  };
  std::vector<Entry> entries_;  // most recent last
};

// Programs of the present process incarnation, most recently completed last.
class ProgramBook {
 public:
  // A program's launches on a worker are those of the core that has completed most.
  void Record(const Completion& completion);
  void Clear() { programs_.clear(); }

  // The longest launch of any program; absent while none was seen running.
  std::optional<absl::Duration> LongestLaunch() const;
  // The statistics of the most recent programs, most recent last.
  std::vector<wire::ProgramStatistics> Statistics(const ModuleNames& modules) const;

 private:
  struct Program {
    std::string fingerprint;
    int64_t completed = 0;
    std::optional<absl::Duration> longest;
  };
  std::vector<Program> programs_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_CORE_PROGRAM_BOOK_H_
