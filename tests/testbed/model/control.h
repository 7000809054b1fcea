// Parses and formats the lines that a launcher and a worker exchange over the worker's standard
// input and output.
//
//   worker:   ready runtime=127.77.0.1:40001 mesh=127.77.0.1:40002 pid=4711
//   launcher: peers 0.0=127.77.0.0:40000 0.1=127.77.0.1:40002 ...
//   worker:   connected
//   launcher: start
//   worker:   step 12                            (now and then)
//   launcher: fault chip-stop chip=2 where=before
//   worker:   fault-set chip-stop                (arranged; or "error ...")
//   worker:   fault-effective chip-stop ...      (it has happened)
//   launcher: heal
//   worker:   healed                             (faults that destroyed nothing are over)
//   launcher: progress
//   worker:   progress step=41 launches=82 idle-ms=5012
//   launcher: cores
//   worker:   core 0 type=1 pc=4096 launch=77 queued=2 fingerprint=9f… (each, by global core id)
//   launcher: stop
#ifndef RAPIDEYE_TESTS_TESTBED_MODEL_CONTROL_H_
#define RAPIDEYE_TESTS_TESTBED_MODEL_CONTROL_H_

#include <map>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/v1/evidence.h"

namespace rapideye::testbed {

// One line: a word, for some words a subject, then key=value arguments.
struct ControlLine {
  std::string verb;
  std::string subject;  // the second word, if it is no key=value
  std::map<std::string, std::string> arguments;
};

// INVALID_ARGUMENT names the word that breaks the form, or a repeated key.
absl::StatusOr<ControlLine> ParseControlLine(absl::string_view line);

// The inverse; values must hold neither space nor newline.
std::string FormatControlLine(const ControlLine& line);

// Typed arguments. INVALID_ARGUMENT names a key that is missing or malformed.
absl::StatusOr<int> IntegerArgument(const ControlLine& line, const std::string& key);
absl::StatusOr<int> IntegerArgument(const ControlLine& line, const std::string& key, int fallback);
absl::StatusOr<std::string> StringArgument(const ControlLine& line, const std::string& key);

// The form of a worker in "peers": slice.task.
std::string FormatWorker(WorkerId worker);
absl::StatusOr<WorkerId> ParseWorker(absl::string_view text);

// Where every worker's mesh listens, from and to a "peers" line.
using MeshAddresses = std::map<WorkerId, std::string>;
absl::StatusOr<MeshAddresses> ParsePeers(const ControlLine& line);
ControlLine MakePeers(const MeshAddresses& addresses);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_MODEL_CONTROL_H_
