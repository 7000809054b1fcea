// Parses the names and first lines of XLA's dumps.
//
// XLA (--xla_dump_to=DIR) writes one file per module and stage, which it names
//   [<timestamp>.]module_<id>.<module name>.<stage>.txt
// e.g. module_0023.jit_train_step.after_optimizations.txt, beside
// ….after_optimizations-buffer-assignment.txt, ….before_optimizations.txt and others. In a
// name, slashes, brackets and spaces of the module's become underscores; a name that
// would be too long for a file is left out.
//
// How the runtime computes a program's fingerprint from its module is not published. So a
// dump is taken for the text of a program by, in this order: its
// fingerprint, if the module's own attributes (the first line of the text) hold it; the
// module's name, if there is one dump of it; the latest of several dumps of that name.
// The text states which of these applied.
#ifndef RAPIDEYE_AGENT_SOURCES_HLO_DUMP_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_HLO_DUMP_PARSE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace rapideye::agent {

struct DumpName {
  int64_t id = 0;         // of the module, in its process
  std::string module;     // as the file's name has it; may be empty
  bool for_host = false;  // compiled for the cores of the host, not for a chip
};

// Parses the name of a module's text after all optimisations; absent for other files.
std::optional<DumpName> ParseDumpName(absl::string_view file);

// True if a file of that name in its name holds this module.
bool IsDumpOf(const DumpName& dump, absl::string_view module);

// The name of another file of the same compilation, by its kind: of
// "module_0001.jit_f.cl_1.after_optimizations.txt" and "flagfile" it is
// "module_0001.jit_f.cl_1.flagfile". `dump`: a name that ParseDumpName takes.
std::string BesideDump(absl::string_view dump, absl::string_view kind);

// Fingerprints in the beginning of a module's text: what its own attributes call so, in
// lower-case hex, and long enough to be no coincidence. At most a few.
std::vector<std::string> FingerprintsIn(absl::string_view beginning);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_HLO_DUMP_PARSE_H_
