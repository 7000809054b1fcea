// Injects faults into a worker from outside.
//
// One file per fault. Each takes hold of a running worker by its public parts:
// gates at the operations of a core, the host's dispatch, the mesh's sockets. A
// fault is real: it changes what the worker does, never what it reports. One that destroys
// nothing ends when the worker is healed (worker/recovery.h).
#ifndef RAPIDEYE_TESTS_TESTBED_FAULTS_FAULT_H_
#define RAPIDEYE_TESTS_TESTBED_FAULTS_FAULT_H_

#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "tests/testbed/model/control.h"
#include "tests/testbed/worker/worker.h"

namespace rapideye::testbed {

struct Fault {
  absl::string_view name;
  absl::string_view arguments;  // for people: which arguments, what they mean
  // Arranges the fault in a running worker and returns at once; the worker
  // announces "fault-effective" when it takes hold. INVALID_ARGUMENT names the
  // argument that is wrong.
  absl::Status (*apply)(const ControlLine& line, Worker& worker);
};

// Every fault there is. A new one is a file and a line in registry.cc.
const std::vector<Fault>& Faults();

// Applies the fault that the line's subject names; NOT_FOUND lists the names.
absl::Status ApplyFault(const ControlLine& line, Worker& worker);

// The faults, each in the file of its name; how a process ends, in process_end.cc; other flags and
// another source in other_compilation.cc.
extern const Fault kChipStop;
extern const Fault kOtherProgram;
extern const Fault kOtherCompilation;
extern const Fault kOtherFlags;
extern const Fault kOtherSource;
extern const Fault kCoreLoop;
extern const Fault kCoreHalt;
extern const Fault kSparseCoreStop;
extern const Fault kLaunchOrder;
extern const Fault kLinkCut;
extern const Fault kProgramNotQueued;
extern const Fault kInputDry;
extern const Fault kCheckpoint;
extern const Fault kProcessKill;
extern const Fault kProcessStop;
extern const Fault kProcessExit;
extern const Fault kOutOfMemory;

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_FAULTS_FAULT_H_
