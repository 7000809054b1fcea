#include "agent/sources/log/signatures.h"

namespace rapideye::agent {
namespace {

using Words = std::vector<std::string>;

const Words& Nics() {
  static const Words words = {"ionic", "mlx5", "bnxt", "irdma", "idpf", "gve",
                              "eth0",  "eth1", "eth2", "eth3",  "ens",  "enp"};
  return words;
}

const Words& Failing() {
  static const Words words = {"fail", "Fail", "error", "Error", "ERROR", "timed out", "EXCEEDED"};
  return words;
}

const Words& Copying() {
  static const Words words = {"host-to-device", "host to device",   "Host-to-device",
                              "Host to device", "HostToDevice",     "device-to-host",
                              "device to host", "Device-to-host",   "Device to host",
                              "DeviceToHost",   "TransferToDevice", "TransferFromDevice"};
  return words;
}

std::vector<Signature> MakeSignatures() {
  std::vector<Signature> table;
  const auto add = [&table](LogKind kind, std::vector<Words> all_of) {
    table.push_back({kind, std::move(all_of), false});
  };
  const auto add_kernel = [&table](std::vector<Words> all_of) {
    table.push_back({LogKind::kKernelHardware, std::move(all_of), true});
  };

  // In every healthy run.
  add(LogKind::kBenign, {{"failed call to cuInit"}});
  add(LogKind::kBenign, {{"MSCCL++: Feature not enabled"}});
  add(LogKind::kBenign, {{"LL cutoff points not detected"}});
  add(LogKind::kBenign, {{"in a low-power state"}});

  add(LogKind::kHangDetected, {{"Megascale hang detected: Timed out waiting for "}});

  // Halts: what the hardware says of itself, then what is known to be software,
  // then those that say nothing.
  add(LogKind::kHaltHardware, {{"observed errors are: [Hardware]"}});
  add(LogKind::kHaltNetwork, {{"observed errors are: [Network]"}});
  add(LogKind::kHaltPower, {{"observed errors are: [Power]"}});
  add(LogKind::kLaunchGroupMismatch,
      {{"shows up in the launch group with a different launch id than the current group leader"}});
  add(LogKind::kHaltUser, {{"observed errors are: [User]"}});
  add(LogKind::kHaltAssertion,
      {{"BoundsCheck", "scheckne", "scheckeq", "schecklt", "scheckge", "scheckbetween"}});
  add(LogKind::kHaltAssertion, {{"Semaphore ("}, {"has a nonzero value upon exit"}});

  add(LogKind::kOutOfMemory, {{"RESOURCE_EXHAUSTED: Out of memory while trying to allocate",
                               "Ran out of memory in memory space hbm"}});
  add(LogKind::kChipDriverError, {{"Session master detected TPU session error from worker "},
                                  {"The reporting TPU chip locations are:"}});
  add(LogKind::kFatalProgramError,
      {{"A program or fatal error occurred, all pending programs will fail"}});
  add(LogKind::kCoreHalt, {{"Core halted unexpectedly", "Accelerator device halted prematurely"}});

  // An error that names a NIC, or a link of one that went down.
  add(LogKind::kNicFault, {Nics(), {"cqe with error", "CQE with error", "completion with error"}});
  add(LogKind::kNicFault, {Nics(), {"Link is Down", "link is down", "link down", "Link down"}});
  add(LogKind::kCopyFailed, {Copying(), Failing()});

  add(LogKind::kPreempted, {{"maintenance event", "Maintenance event"}});
  add(LogKind::kPreempted, {{"SIGTERM"}, {"eceived", "caught", "Caught", "got ", "Got "}});

  add(LogKind::kMissedHealthChecks, {{"The task with address "}, {" missed "}, {" health checks"}});
  add(LogKind::kMissedHealthChecks, {{"Task /job:"}, {" heartbeat timeout"}});

  // What only follows from something else.
  add(LogKind::kFollowOn,
      {{"The program continuator has halted unexpectedly",
        "tasks are unhealthy (stopped sending heartbeats)",
        "Terminating process because the JAX distributed service detected fatal errors",
        "Aborting the coordinator after collecting errors",
        "Detected failure SLICE_FAILURE_CHIP_DRIVER_ERROR"}});
  add(LogKind::kCoordinationTimeout,
      {{"DEADLINE_EXCEEDED: GetKeyValue() timed out", "Barrier timed out"}});
  add(LogKind::kUnknownFlag, {{"Unknown flag"}, {"parse_flags_from_env"}});

  add_kernel({{"Uncorrected (Fatal)", "Uncorrectable (Fatal)", "device recovery failed"}});
  add_kernel({{"accel", "vfio-pci"}, {"reset"}});
  return table;
}

}  // namespace

absl::Span<const Signature> BuiltInSignatures() {
  static const std::vector<Signature> table = MakeSignatures();
  return table;
}

bool IsToldApartByText(LogKind kind) {
  return kind == LogKind::kNicFault || kind == LogKind::kCopyFailed ||
         kind == LogKind::kKernelHardware;
}

}  // namespace rapideye::agent
