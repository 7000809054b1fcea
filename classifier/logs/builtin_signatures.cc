#include "classifier/logs/signatures.h"

namespace rapideye::logs {

// signatures.h explains the form. The order of the kinds is that of their being
// specific: where a line fits several, the first of them here wins.
const char kBuiltInSignatures[] = R"table(
# In every healthy run.
BENIGN                 "failed call to cuInit"
BENIGN                 "MSCCL++: Feature not enabled"
BENIGN                 "LL cutoff points not detected"
BENIGN                 "in a low-power state"

HANG_DETECTED          "Megascale hang detected: Timed out waiting for "

# Halts: what the hardware says of itself, then what is known to be software.
HALT_HARDWARE          "observed errors are: [Hardware]"
HALT_NETWORK           "observed errors are: [Network]"
HALT_POWER             "observed errors are: [Power]"
LAUNCH_GROUP_MISMATCH  "shows up in the launch group with a different launch id than the current group leader"
# Whoever finds that a message is too long need not be the one whose program differs.
COLLECTIVE_MISMATCH    "Is there a distributed collective mismatch in your code"
HALT_USER              "observed errors are: [User]"
HALT_ASSERTION         "BoundsCheck"|"scheckne"|"scheckeq"|"schecklt"|"scheckge"|"scheckbetween"
HALT_ASSERTION         "Semaphore ("  "has a nonzero value upon exit"

OUT_OF_MEMORY          "RESOURCE_EXHAUSTED: Out of memory while trying to allocate"
OUT_OF_MEMORY          "Ran out of memory in memory space hbm"
CHIP_DRIVER_ERROR      "Session master detected TPU session error from worker "  "The reporting TPU chip locations are:"
FATAL_PROGRAM_ERROR    "A program or fatal error occurred, all pending programs will fail"

# A halt that says nothing of its cause.
CORE_HALT              "Core halted unexpectedly"|"Accelerator device halted prematurely"

# An error that names a NIC, or a link of one that went down.
NIC_FAULT              "ionic"|"mlx5"|"bnxt"|"irdma"|"idpf"|"gve"|"eth0"|"eth1"|"eth2"|"eth3"|"ens"|"enp"  "cqe with error"|"CQE with error"|"completion with error"
NIC_FAULT              "ionic"|"mlx5"|"bnxt"|"irdma"|"idpf"|"gve"|"eth0"|"eth1"|"eth2"|"eth3"|"ens"|"enp"  "Link is Down"|"link is down"|"link down"|"Link down"
COPY_FAILED            "host-to-device"|"host to device"|"Host-to-device"|"Host to device"|"HostToDevice"|"device-to-host"|"device to host"|"Device-to-host"|"Device to host"|"DeviceToHost"|"TransferToDevice"|"TransferFromDevice"  "fail"|"Fail"|"error"|"Error"|"ERROR"|"timed out"|"EXCEEDED"

PREEMPTED              "maintenance event"|"Maintenance event"
PREEMPTED              "SIGTERM"  "eceived"|"caught"|"Caught"|"got "|"Got "

# These name a peer.
MISSED_HEALTH_CHECKS   "The task with address "  " missed "  " health checks"
MISSED_HEALTH_CHECKS   "Task /job:"  " heartbeat timeout"
MISSED_HEALTH_CHECKS   "task is set to ERROR: "|"Barrier failed because: "|"has been set to ERROR in coordination service"  "Task "  " heartbeat timeout"
MISSED_HEALTH_CHECKS   "unexpectedly tried to connect with a different incarnation"

# What only follows from something else.
FOLLOW_ON              "The program continuator has halted unexpectedly"
FOLLOW_ON              "tasks are unhealthy (stopped sending heartbeats)"
# A peer is gone, or its service says that one is: 0.1 s after the death, too.
FOLLOW_ON              "onnection closed by peer"|"onnection reset by peer"
FOLLOW_ON              "Gloo "  " failed: "
FOLLOW_ON              "Failed to send RPC to coordination service"
FOLLOW_ON              "olled an error from coordination service"|"olled error from coordination service"
FOLLOW_ON              "Use error polling to propagate the following error to all tasks"
FOLLOW_ON              "CoordinationService/PollForError"
FOLLOW_ON              "Failed to retrieve preemption notice from coordination service"
FOLLOW_ON              "Shutdown barrier has failed"|"Shutdown barrier in coordination service has failed"
FOLLOW_ON              "Terminating process because the JAX distributed service detected fatal errors"
FOLLOW_ON              "Aborting the coordinator after collecting errors"
FOLLOW_ON              "Detected failure SLICE_FAILURE_CHIP_DRIVER_ERROR"
COORDINATION_TIMEOUT   "DEADLINE_EXCEEDED: GetKeyValue() timed out"|"Barrier timed out"
COORDINATION_TIMEOUT   "CoordinationService/RegisterTask"|"Coordination service agent failed to register with the leader"
COORDINATION_TIMEOUT   "Stopping coordination service as cluster registration failed"
UNKNOWN_FLAG           "Unknown flag"  "parse_flags_from_env"

# Only in the log of the kernel, and only where it names a TPU.
KERNEL_HARDWARE        "Uncorrected (Fatal)"|"Uncorrectable (Fatal)"|"device recovery failed"
KERNEL_HARDWARE        "accel"|"vfio-pci"  "reset"
)table";

}  // namespace rapideye::logs
