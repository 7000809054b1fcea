#include "classifier/logs/signatures.h"

namespace rapideye::logs {

// signatures.h explains the form. The kinds are ordered from the most specific to the least
// specific: where a line fits several, the first kind here wins. The wordings are those of the
// programs named: each text is long enough to appear in no other line.
const char kBuiltInSignatures[] = R"table(
# In every healthy run.
BENIGN                 "failed call to cuInit"
BENIGN                 "MSCCL++: Feature not enabled"
BENIGN                 "LL cutoff points not detected"
BENIGN                 "in a low-power state"
# XLA takes back what it said of a collective; the allocator tries something else.
BENIGN                 "Thread is unstuck!"
BENIGN                 "The caller indicates that this is not a failure"
# The service that tells of preemptions, as a run ends.
BENIGN                 "Error from preemption notifier: CANCELLED"
BENIGN                 "Preemption sync protocol cancelled by notifier"
BENIGN                 "Failed to retrieve preemption notice from coordination service: CANCELLED"
BENIGN                 "Failed to cancel preemption barrier"
# What NCCL tells, rather than warns of; PyTorch's watchdog as the store of the job closes.
BENIGN                 "NCCL INFO"
BENIGN                 "Failed to check the \"should dump\" flag on TCPStore"
BENIGN                 "Failed to open libibverbs"
# The kubelet looks at its node every ten seconds.
BENIGN                 "eviction manager: no "|"eviction manager: observations:"
# What an allocator, a launcher or a display lacks, and the run goes on without.
BENIGN                 "srun: error: "|"slurmstepd: error: "  "x11"|"DISPLAY"|"spank"|"couldn't chdir to"
# A task that leaves the coordination service at the end of the run, and its agent.
BENIGN                 "has disconnected from coordination service"|"Cancelling error polling because"
BENIGN                 "missed heartbeats allowed"
# Libraries log these at every start: they register themselves twice, or fork a program of JAX.
BENIGN                 "Unable to register cu"|"computation placer already registered"|"will likely lead to a deadlock"|"to avoid deadlocks"
# gRPC of JAX 0.3.5, at every start.
BENIGN                 "the target uri is not valid: dns:"
BENIGN                 "NCCL WARN "  "force enabled"|"NUMA auto balancing"|"No GPU affinity set"|"poor performance"|"iommu=pt"|"is deprecated"|"gnoring "|"gnored"
BENIGN                 "NCCL WARN Missing "|"failed to IPC register userbuff"|"NET/IB : No device found"|"event : GID table change"
BENIGN                 "NET/OFI pciPath: "|"NET/OFI Error opening file: "|"Could not find ncclGetVersion symbol"
BENIGN                 "rendezvous is aborting with status: OUT_OF_RANGE"|"rendezvous recv item cancelled"
BENIGN                 "new correctable hardware errors"|"OpKernel ('op: "|"cloud_tpu_init failed"|"Could not load dynamic library"
BENIGN                 "Signal 15 raised at PC: "|"raised new signal (old_tid: "|": tx_timeout: "
BENIGN                 "bnxt_en"  "TS query for TX timer failed"
# A driver that resets its device each time somebody opens it.
BENIGN                 "performing pre-reset"|"performing post-reset"|"bus reset disabled? "

# Megascale's own opinion, and the lines below it that name hosts.
RUNTIME_VERDICT        "Megascale detects a hang"
RUNTIME_VERDICT        "Some workers have halted with an unrecoverable error"
RUNTIME_VERDICT        "The host that have bad TPUs are: "|"The host that have data input stalls are: "
RUNTIME_VERDICT        "Example hosts that have different HLO "
RUNTIME_VERDICT        "Potential culprit workers: "

HANG_DETECTED          "Megascale hang detected:"
HANG_DETECTED          "Timed out waiting for "  " graphs to complete at launch_id "
HANG_DETECTED          any-case  "megascale"  "hang_detected"

# Halts: what the hardware says of itself, then what is known to be software.
HALT_HARDWARE          any-case  "observed errors are: [hardware"
HALT_HARDWARE          any-case  "uncorrectable ecc error encountered"|"gpu has fallen off the bus"|"cuda_error_ecc_uncorrectable"|"hiperroreccnotcorrectable"
HALT_NETWORK           any-case  "observed errors are: [network"
HALT_NETWORK           "CUDA_ERROR_NVLINK_UNCORRECTABLE"|"uncorrectable NVLink error"
HALT_POWER             any-case  "observed errors are: [power"
LAUNCH_GROUP_MISMATCH  "in the launch group with a different launch id"
LAUNCH_GROUP_MISMATCH  "unexpected leader shows up"|"unexpected peer shows up"
LAUNCH_GROUP_MISMATCH  "If using multi-controller backends, non-determinism of"
# Whoever finds that a message is too long need not be the one whose program differs.
COLLECTIVE_MISMATCH    "Is there a distributed collective mismatch in your code"
COLLECTIVE_MISMATCH    "Detected mismatch between collectives on ranks"
COLLECTIVE_MISMATCH    "NCCL WARN NET/IB : collective mismatch error"
HALT_USER              any-case  "observed errors are: [user"
HALT_ASSERTION         "BoundsCheck"|"scheckne"|"scheckeq"|"schecklt"|"scheckle"|"scheckgt"|"scheckge"|"scheckbetween"
HALT_ASSERTION         "Semaphore ("  "has a nonzero value upon exit"

# The kernel's or a supervisor's killing for want of the host's memory; the device's memory.
HOST_OOM               any-case  "out of memory: kill"
HOST_OOM               "oom-kill:constraint"|"invoked oom-killer"|"oom_reaper: reaped process"
HOST_OOM               any-case  "oom-kill event"|"oom_kill event"|"oomkilled"|"oom killed"
HOST_OOM               "systemd-oomd killed "|"srun: error: "  " process(es)"|": Out Of Memory"
HOST_OOM               "systemd-oomd"  "Killed /"
HOST_OOM               "tried to allocate more memory than is available"|"crashed after using all available RAM"
HOST_OOM               any-case  "node was low on resource: memory"|"node running low on memory"|"due to memory pressure (oom)"
OUT_OF_MEMORY          any-case  "resource_exhausted"|"resource exhausted"  "out of memory"|"attempting to allocate"|"attempting to reserve"|"error allocating device buffer"|"error loading program"|"ran out of memory"|"would exceed memory"|"exceeded scoped"|"hbm usage"|"failed to allocate"
OUT_OF_MEMORY          any-case  "ran out of memory in memory space "
OUT_OF_MEMORY          "at the bottom of memory. That was not possible"
OUT_OF_MEMORY          "Error allocating device buffer: "|"Error loading program '"
OUT_OF_MEMORY          "RuntimeBufferAllocationFailure"|"RuntimeProgramAllocationFailure"|"CompileTimeHbmOom"|"CompileTimeScopedVmemOom"|"CompileTimeSparseCoreAllocationFailure"
OUT_OF_MEMORY          any-case  "exceeded hbm capacity by"|"hbm usage: "
# The report below the message: of a program that did not fit.
OUT_OF_MEMORY          "Total hbm usage >= "|"Total vmem usage >= "|"Largest program allocations in "|"attempting reservation for program memory"
OUT_OF_MEMORY          "exceeds the legitimate user allocatable offset upper bound"
OUT_OF_MEMORY          "Scoped allocation with size "|"Allocation (size="  "exceeded scoped "|"would exceed memory"
OUT_OF_MEMORY          "ran out of memory trying to allocate"|"Out of memory allocating "|"failed to allocate "  "GiB"|"MiB"|"bytes"
OUT_OF_MEMORY          "CUDA out of memory"|"HIP out of memory"|"CUDA_ERROR_OUT_OF_MEMORY"|"hipErrorOutOfMemory"|"torch.OutOfMemoryError"|"cudaMalloc failed: out of memory"|"Cuda failure 'out of memory'"|"CUDA error: out of memory"
OUT_OF_MEMORY          "DefaultCPUAllocator: "  "memory"
OUT_OF_MEMORY          "OOM when allocating tensor with shape"
OUT_OF_MEMORY          any-case  "out of memory"  "tried to allocate"|"trying to allocate"|"total capacity"
OUT_OF_MEMORY          "std::bad_alloc"

CHIP_DRIVER_ERROR      "Session master detected TPU session error from worker "  "The reporting TPU chip locations are:"
CHIP_DRIVER_ERROR      "detected TPU session error"
FATAL_PROGRAM_ERROR    "A program or fatal error occurred, all pending programs will fail"
FATAL_PROGRAM_ERROR    "error has occurred, all pending programs will fail"
FATAL_PROGRAM_ERROR    "!!!! FATAL ERROR !!!!"|"FATAL ERROR RECEIVED FROM HARDWARE"|"Fatal error occurred. Data links will go down"
FATAL_PROGRAM_ERROR    "Received Error Interrupt! fatal: true"
# GPUs: HSA and the drivers of CUDA and HIP.
FATAL_PROGRAM_ERROR    "HSA Process (PID "|"HW Exception by GPU"|"Memory access fault by GPU"|"HSA_STATUS_ERROR_"
FATAL_PROGRAM_ERROR    "an illegal memory access was encountered"|"unspecified launch failure"|"device-side assert triggered"|"CUDA_ERROR_ILLEGAL_ADDRESS"|"CUDA_ERROR_LAUNCH_FAILED"|"CUDA_ERROR_ASSERT"|"hipErrorIllegalAddress"|"hipErrorLaunchFailure"
# The other errors after which a context of CUDA is of no more use (cuda.h: 702, 714 to 718).
FATAL_PROGRAM_ERROR    "CUDA_ERROR_ILLEGAL_INSTRUCTION"|"CUDA_ERROR_MISALIGNED_ADDRESS"|"CUDA_ERROR_INVALID_ADDRESS_SPACE"|"CUDA_ERROR_INVALID_PC"|"CUDA_ERROR_HARDWARE_STACK_ERROR"|"CUDA_ERROR_LAUNCH_TIMEOUT"
FATAL_PROGRAM_ERROR    "an illegal instruction was encountered"|"CUDA error: misaligned address"|"CUDA error: invalid program counter"|"CUDA error: hardware stack error"|"CUDA error: operation not supported on global/shared address space"|"the launch timed out and was terminated"

# A halt that says nothing of its cause.
CORE_HALT              any-case  "core halted unexpectedly"|"accelerator device halted prematurely"
CORE_HALT              "RuntimeUnexpectedCoreHalt"|"halted unexpectedly at tag:pc"|"Halt is unexpected, all pending programs will fail"

# Chips, ports and settings without which a runtime does not start.
DEVICE_UNAVAILABLE     "/dev/vfio"|"/dev/accel"  "Device or resource busy"|"Operation not permitted"|"Permission denied"|"No such device"
DEVICE_UNAVAILABLE     "TPU initialization failed: "
DEVICE_UNAVAILABLE     "TPU is already in use"|"libtpu.so already in use"|"libtpu.so is already in use"|"libtpu multi-process lockfile"|"/tmp/libtpu_lockfile"
DEVICE_UNAVAILABLE     "Couldn't open iommu group "|"Couldn't open device: "
DEVICE_UNAVAILABLE     "Failed to get global TPU topology"|"slice_builder_worker_addresses"
DEVICE_UNAVAILABLE     "RuntimeError: Unable to initialize backend '"
DEVICE_UNAVAILABLE     "No accelerator found. "|"No accelerator found on this host"|"PJRT_DEVICE is not set"|"No available TPU"|"is not HEALTHY"|"Insufficient google.com/tpu"|"TPU system initialization failed"|"Failed to initialize TPU system"
DEVICE_UNAVAILABLE     "TPU backend initialization is taking more than "
DEVICE_UNAVAILABLE     "Waiting to connect to client mesh master"
COORDINATION_TIMEOUT   "CreateSession still waiting for response from worker"
DEVICE_UNAVAILABLE     "Failed to add port to server"|"No address added out of total "|"Failed to start RPC server"|"server socket has failed to listen on"|"server socket has failed to bind to"
DEVICE_UNAVAILABLE     "ddress already in use"
DEVICE_UNAVAILABLE     "device(s) is/are busy or unavailable"|"NVML: Driver/library version mismatch"|"CUDA driver version is insufficient"
# A machine that goes on without its accelerators, and runtimes that were told of another shape.
DEVICE_UNAVAILABLE     " may be present on this machine, but"  "Falling back to cpu"
DEVICE_UNAVAILABLE     "the device will go unhealthy"|"' device marked unhealthy"|"Insufficient nvidia.com/gpu"|"Insufficient amd.com/gpu"
DEVICE_UNAVAILABLE     "Error: unexpected worker hostname"|"TPU cores on each host is not same"|"PjRtClient is not initialized"|"Check failed: session.Run({tensorflow::Output("|"configure_distributed_tpu/"

# An error that names a NIC, or a link of one that went down.
NIC_FAULT              "ionic"|"mlx5"|"bnxt"|"irdma"|"idpf"|"gve"|"eth0"|"eth1"|"eth2"|"eth3"|"ens"|"enp"  "cqe with error"|"CQE with error"|"completion with error"
NIC_FAULT              "ionic"|"mlx5"|"bnxt"|"irdma"|"idpf"|"gve"|"eth0"|"eth1"|"eth2"|"eth3"|"ens"|"enp"  "Link is Down"|"link is down"|"link down"|"Link down"
NIC_FAULT              any-case  "mlx5_"|"mlx4_"|"bnxt_"|"irdma"|"ionic_"|"ionic "|"idpf"|"i40e"|"ixgbe"|"hfi1"|"ena 0000:"|"ice 0000:"|"gve 0000:"  "error cqe"|"cable unplugged"|"cable error"|"bad cable"|"health compromised"|"tx timeout"|"transmit queue"|"fatal error"|"catastrophic error"|"fatal event"|"fw error"|"firmware error"|"port error"|"port_err"|"not responding"|"will cause a leak of a command resource"|"syndrome ("|"bad device"|"oicr event notification"|"async event"|"abnormal ae_id"|"error recovery"|"error (timeout:"|"lost carrier"|"retry exc"|"retry counter exceeded"|"retry count exceeded"
# Adapters of clouds, whose driver resets them or whose commands fail.
NIC_FAULT              any-case  "ena 0000:"|"efa 0000:"|"infiniband efa_"|"gve 0000:"|"idpf 0000:"|"gvnic"  "keep alive watchdog timeout"|"lost tx completions is above the threshold"|"failed to process command"|"polling) timeout"|"hw reset"|"admin queue timeout"|"device reset failed"
NIC_FAULT              "mlx5_core "|"i40e "|"ice "  "error_sw_reset"|"enter_error_state"|"poll_health:"|"tx_timeout recovery level"
NIC_FAULT              "Detected Tx Unit Hang"|"Detected Hardware Unit Hang"|": PCIe link lost"
NIC_FAULT              "NETDEV WATCHDOG"|"link status definitely down for interface"|"link status down for active interface"|"link status down for interface"
NIC_FAULT              any-case  "net/ib"  "got completion from peer"|"completion with error"|"completion error"|"got async event"|"got async fatal event"|"port error"|"with status="|"timed out"
NIC_FAULT              any-case  "net/ofi"|"efa_"|"libfabric"  "completed with error"|"unresponsive receiver"|"completion error"
NIC_FAULT              "Call to ibv_"|"ibv_poll_cq()"|"ibv_post_send()"  "failed"
NIC_FAULT              "ailed to modify QP"
NIC_FAULT              "ransport retry counter exceeded"|"ransport retry count exceeded"|"RNR retry counter exceeded"|"IBV_WC_RETRY_EXC_ERR"|"IBV_WC_RNR_RETRY_EXC_ERR"|"IBV_WC_REM_OP_ERR"|"IBV_EVENT_PORT_ERR"|"IBV_EVENT_DEVICE_FATAL"
COPY_FAILED            any-case  "host-to-device"|"host to device"|"host to tpu"|"host-to-tpu"|"HostToDevice"|"memcpy htod"|"device-to-host"|"device to host"|"tpu to host"|"tpu-to-host"|"DeviceToHost"|"memcpy dtoh"|"TransferToDevice"|"TransferFromDevice"  "fail"|"error"|"timed out"|"exceeded"

# The platform on a machine that is gone, and the kernel on itself.
HOST_CRASH             "TerminationEvent: "|"compute.instances.hostError"
HOST_CRASH             any-case  "terminated"|"stopped"|"failed"|"instance"  "due to: host error"|"due to host error"|"hosterror"
HOST_CRASH             "node.kubernetes.io/unreachable"|"node.kubernetes.io/not-ready"
HOST_CRASH             "DUE TO NODE FAILURE"|"error: Node failure on "|"NodeNotReady"|"Kubelet stopped posting node status"
HOST_CRASH             "Kernel panic - not syncing"|"BUG: unable to handle "
# A notice, or the end that it told of.
PREEMPTED              "maintenance event"|"Maintenance event"|"MaintenanceEvent: "
PREEMPTED              "SIGTERM"  "eceived"|"caught"|"Caught"|"got "|"Got "
PREEMPTED              "Received 15 death signal"|"Received signal 15"|"terminating on signal 15"
PREEMPTED              "was preempted."|"was preempted by "|"has been preempted"|"PreemptionEvent: "|"compute.instances.preempted"|"DUE TO PREEMPTION"|"Preempted by "
PREEMPTED              "imminent node shutdown"|"compute.instances.terminateOnHostMaintenance"|"eceived preemption notice"
PREEMPTED              "Metadata Service says termination is imminent"
PREEMPTED              "CANCELLED AT "  "slurmstepd: "|"*** JOB "|"*** STEP "

# These name a peer.
RESTARTED_PEER         "unexpectedly tried to connect with a different incarnation"
RESTARTED_PEER         "tried to connect with a different"|"unexpectedly tried to connect while it is already in error"
RESTARTED_PEER         "Incarnation ID mismatch"|"Incarnation mismatch"|"incarnation. It has likely restarted"
RESTARTED_PEER         "expects a different device incarnation"
RESTARTED_PEER         "borted: Session "|"BORTED: Session "|"exception: Session "  " is not found"
MISSED_HEALTH_CHECKS   "The task with address "  " missed "  " health checks"
MISSED_HEALTH_CHECKS   "Task /job:"  " heartbeat timeout"
MISSED_HEALTH_CHECKS   "task is set to ERROR: "|"Barrier failed because: "|"has been set to ERROR in coordination service"  "Task "  " heartbeat timeout"
MISSED_HEALTH_CHECKS   "Task "  " heartbeat timeout. This indicates"
MISSED_HEALTH_CHECKS   "has been set to ERROR in coordination service"
MISSED_HEALTH_CHECKS   any-case  "missed too many heartbeats"|"has been marked dead because"|"failed to heartbeat within timeout"|"lost heartbeat"|"missed heartbeat"|"lame workers found"

# Collectives that stand, by those who wait in them. XLA's rendezvous on the host first.
COLLECTIVE_STUCK       "This thread has been waiting for "  "may be stuck"
COLLECTIVE_STUCK       "threads to join the rendezvous"|"Exiting to ensure a consistent program state"
COLLECTIVE_STUCK       any-case  "rendezvous"  "timed out"|"may be stuck"|"only some of them arrived"|"of them arrived on time"
COLLECTIVE_STUCK       "Aborting communicator: "|"NCCL operation "  "async NCCL error"|" failed: "
COLLECTIVE_STUCK       "async NCCL error"|"NCCL error: "|"NCCL error in:"|"NCCL communicator was aborted"
# PyTorch's watchdogs, on NCCL, RCCL and Gloo.
COLLECTIVE_STUCK       "Watchdog caught collective operation timeout"|"failure detected by watchdog"|"detected by watchdog at work"|"watchdog thread terminated with exception"|"watchdog got stuck for "
COLLECTIVE_STUCK       "operations have failed or timed out"|"we are taking the entire process down"|"timed out in blocking wait"
COLLECTIVE_STUCK       "finished collective #"|"joined but didn't finish collective #"|"didn't join collective #"
COLLECTIVE_STUCK       "Not all ranks joining collective"|"Mismatched collective detected"
COLLECTIVE_STUCK       "last enqueued work: "|"last enqueued NCCL work: "  "last completed work: "|"last completed NCCL work: "
COLLECTIVE_STUCK       "dump signal from another rank"|"dump signal due to a collective timeout"|"on this rank to signal dumping"|"Stack trace of the failed collective not found"|"preparing to dump debug info"|"Terminating the process after attempting to dump debug info"
COLLECTIVE_STUCK       "Heartbeat monitor timed out"|"no heartbeat of its watchdog"
COLLECTIVE_STUCK       "failed to pass monitoredBarrier"|"monitoredBarrier timeout"|"monitored_barrier"
# Rank 0 keeps the barrier: that it broke it off says nothing of rank 0.
COLLECTIVE_STUCK       "successfully reached monitoredBarrier"
COLLECTIVE_STUCK       "Timed out waiting "  "for recv operation to complete"|"for send operation to complete"
COLLECTIVE_STUCK       "submitted to be reduced, gathered or broadcasted by subset of ranks"
COLLECTIVE_STUCK       "[missing ranks: "|"[ready ranks: "|"flight recorder dumps to finish"
COLLECTIVE_STUCK       "NCCL WARN "  "Cuda failure"|"HIP failure"|"Proxy Timeout Detected"

# A kernel or a file server that does not come back.
HUNG_TASK              "blocked for more than "  "seconds"
HUNG_TASK              "is blocked on a "  "likely owned by task"|"likely last held by task"
HUNG_TASK              "nfs: server "|"NFS: server "  "not responding"
HUNG_TASK              "EXT4-fs warning"|"BTRFS warning"|"md/raid"  "I/O error"|"error -5"|"Disk failure"
HUNG_TASK              "libceph: "  " down"|"socket closed"|"socket error"|"session lost"|"timed out"
HUNG_TASK              "operations using this service will "|"ceph: mds"  "lost"|"fail"|"hung"
HUNG_TASK              "NFS server "  " not responding"
HUNG_TASK              "CIFS: "  "has not responded in "
HUNG_TASK              "BUG: soft lockup"|"hard LOCKUP"|"detected stalls on CPUs"|"self-detected stall on CPU"
HUNG_TASK              "nvme"|"blk_update_request"|"scsi "  "timeout, aborting"|"timeout, reset controller"|"timing out command"
HUNG_TASK              "nvme"  "timeout, disable controller"|"Device not ready; aborting"|"controller is down; will reset"|"Removing after probe failure"
HUNG_TASK              "blk_update_request: I/O error, dev "|"print_req_error: I/O error, dev "|"Buffer I/O error on dev"|"] I/O error, dev "|"kernel: I/O error, dev "
HUNG_TASK              "EXT4-fs error (device "|"BTRFS error (device "|"BTRFS: error (device "
HUNG_TASK              "EXT4-fs ("|"XFS ("  "emounting filesystem read-only"|"ilesystem has been shut down"|"hutting down filesystem"|"log I/O error"|"metadata I/O error"|"Corruption "
HUNG_TASK              "Lustre: "|"LustreError: "|"LNet: "|"LNetError: "  "was lost; in progress operations"|"imed out tx for "|"has timed out for "|"has failed due to network error"|" failed: rc = -"|"was evicted by "
HUNG_TASK              "does not have storage.objects."
HUNG_TASK              "[Errno 5] Input/output error"|"[Errno 107] Transport endpoint is not connected"|"': Transport endpoint is not connected"|"[Errno 116] Stale file handle"|"[Errno 30] Read-only file system"|"[Errno 28] No space left on device"

# Waits for data, and programs that take longer than they should.
INPUT_WAIT             any-case  "data loading is taking a long time"|"data loader stalled"|"dataloader stalled"|"input pipeline stalled"|"data input stall"
INPUT_WAIT             "insufficient shared memory (shm)"|"`load_next_batch()` failed"
INPUT_WAIT             "Grain worker "  " failed with the following error"
INPUT_WAIT             any-case  "data loader"|"dataloader"|"input pipeline"  "timed out after"|"is stuck"|"starved"|"stalled"|"exited unexpectedly"|"killed by signal"
INPUT_WAIT             any-case  "waiting for data"|"waiting for input"|"waiting on data"|"waiting for next batch"|"waiting for batch"  " stuck"|"too long"|"a long time"
DEVICE_SLOW            "TPU Execute is taking a long time"|"TPU program took more than "
DEVICE_SLOW            "This might be due to a deadlock between multiple TPU cores"
DEVICE_SLOW            "because step has not incremented in the last "
DEVICE_SLOW            any-case  "watchdog timeout ("|"watchdog timeout after "|"watchdog timeout:"|"watchdog timed out"|"watchdog fired"|"watchdog expired"|"watchdog triggered"

# Connections, without the name of a NIC.
NETWORK                any-case  "nccl warn"|"rccl warn"  "connection reset"|"connection refused"|"connection timed out"|"connection closed"|"no route to host"|"network is unreachable"|"broken pipe"|"failed to connect"|"failed to send"|"no socket interface found"|"remote process exited"|"socket recv failed"
NETWORK                any-case  "nccl warn"|"rccl warn"  "net/ofi"|"net/ib"|"net/socket"|"net/fastrak"|"bootstrap"  "couldn't open"|"couldn't create"|"failed: "|"unable to"|"failed with"
NETWORK                "ncclRemoteError"|"ncclSystemError"|"remote process exited or there was a network error"
NETWORK                "UNAVAILABLE: DNS resolution failed"
NETWORK                "No route to host"
# A process of a data service that its dispatcher no longer knows.
NETWORK                "data/service/"  "Failed to send task updates to dispatcher"
# Whose GPU, or whose link to it, is broken, the reader of its memory does not know.
NETWORK                "CUDA_ERROR_CONTAINED"|"Invalid access of peer GPU memory over nvlink"
NETWORK                any-case  "ici "  "link failure"|"link down"|"link is down"|"probe failed"|"chips disconnected"
NETWORK                any-case  "megascale"  "failed to connect"|"connection refused"|"connection reset"|"transport error"|"unreachable"|"timed out"
NETWORK                "chips disconnected from the rest of the slice"|"MegaScale Corrupted Buffer Detected"

# What only follows from something else.
FOLLOW_ON              "The program continuator has halted unexpectedly"
FOLLOW_ON              "Timeout (0:"|"Timeout (1:"|"Timeout (2:"|"Timeout (3:"|"Timeout (4:"|"Timeout (5:"|"Timeout (6:"|"Timeout (8:"|"Timeout (10:"|"Timeout (12:"|"Timeout (24:"  ")!"
FOLLOW_ON              "tasks are unhealthy (stopped sending heartbeats)"
# A peer is gone, or its service says that one is: 0.1 s after the death, too.
FOLLOW_ON              "onnection closed by peer"|"onnection reset by peer"|"onnection closed by remote peer"
FOLLOW_ON              "Failed to meet rendezvous '"|"Failed to retrieve mesh configuration"
FOLLOW_ON              "WatchTasksAsync failed"
FOLLOW_ON              "Gloo "  " failed: "
FOLLOW_ON              "Gloo connectFullMesh failed"|"Application timeout caused pair closure"
FOLLOW_ON              "Failed to send RPC to coordination service"
FOLLOW_ON              "olled an error from coordination service"|"olled error from coordination service"
FOLLOW_ON              "Use error polling to propagate the following error to all tasks"
FOLLOW_ON              "CoordinationService/PollForError"|"CoordinationService/Heartbeat"|"CoordinationService/Barrier"|"CoordinationService/ShutdownTask"|"CoordinationService/WatchTasks"|"CoordinationService/ResetTask"
FOLLOW_ON              "Failed to retrieve preemption notice from coordination service"
FOLLOW_ON              "Shutdown barrier has failed"|"Shutdown barrier in coordination service has failed"
FOLLOW_ON              "Terminating process because the JAX distributed service detected fatal errors"
FOLLOW_ON              "Terminating process because the coordinator detected missing heartbeats"|"most likely indicates that another task died"|"only expected if one of the tasks is unhealthy"|"The tasks have crashed. Check the task logs"
FOLLOW_ON              "Aborting the coordinator after collecting errors"
FOLLOW_ON              "SLICE_FAILURE_"
FOLLOW_ON              "Detected slice failure"|"core dump will begin"|"Now taking a TPU core dump"
FOLLOW_ON              "Check failed: session->session()->Run("|"workers are dead/failed"
FOLLOW_ON              "Execution of replica "  " failed: "
FOLLOW_ON              "is already in error before the barrier"|"Barrier failed because service is shutting down"|"Barrier failed beacuse a task is in error"|"Barrier failed because a task is in error"
FOLLOW_ON              "oordination service is shutting down"|"oordination service has shut down"|"oordination service has stopped"|"oordination agent is set to ERROR"|"gent must be in CONNECTED state"|"that is already in error state polling for errors"
FOLLOW_ON              "Error received from peer"|"Additional GRPC error information"  "Socket closed"|"grpc_status:14"|"grpc_status\":14"|"grpc_status:4"|"grpc_status\":4"|"grpc_status:10"
FOLLOW_ON              "UNAVAILABLE: "|"Unavailable: "  "Socket closed"|"GOAWAY received"|"Connection reset"
FOLLOW_ON              "(other replicas may have failed as well)"
# How a process falls; why it does, other lines tell.
FOLLOW_ON              "*** SIGSEGV"|"*** SIGABRT"|"*** SIGBUS"|"*** SIGFPE"|"*** SIGILL"
FOLLOW_ON              "RAW: Raising signal "|"Remote crash data gathering hook invoked"|"Fatal Python error: "|"terminate called after throwing"
FOLLOW_ON              "Segmentation fault"|"(core dumped)"
FOLLOW_ON              ": line "  " Killed  "|" Aborted  "
FOLLOW_ON              any-case  "exit code 134"|"exit code 137"|"exit code 139"|"exit code: 134"|"exit code: 137"|"exit code: 139"|"exited with code 134"|"exited with code 137"|"exited with code 139"|"exit status 134"|"exit status 137"|"exit status 139"|"exit=134"|"exit=137"|"exit=139"|"exitcode: -6"|"exitcode: -9"|"exitcode: -11"
FOLLOW_ON              "interrupted by signal "|"erminated by signal SIG"|"erminated with signal SIG"
FOLLOW_ON              "died unexpectedly"|"A worker died or was killed while executing"|"ActorDiedError"|"RayActorError"|"NodeDiedError"|"EngineDeadError"
# A heap that is found broken, by whichever allocator; an assertion; the handlers of UCX and Open MPI.
FOLLOW_ON              "free(): invalid "|"free(): double free"|"double free or corruption"|"munmap_chunk(): invalid"|"realloc(): invalid"|"malloc(): "|"malloc_consolidate(): "|"corrupted size vs. prev_size"|"corrupted double-linked list"|"stack smashing detected"|"Attempt to free invalid pointer"
FOLLOW_ON              "] Check failed: "|"[enforce fail at "
FOLLOW_ON              "Signal: Aborted (6)"|"Signal: Bus error (7)"|"Signal: Floating point exception (8)"|"Signal: Illegal instruction (4)"|"Caught signal 4 ("|"Caught signal 6 ("|"Caught signal 7 ("|"Caught signal 8 ("
FOLLOW_ON              "Remote crash gathering disabled for SIG"
FOLLOW_ON              "segfault at "  " ip "
FOLLOW_ON              "Sending process "  "closing signal"
FOLLOW_ON              "failed (exitcode: "  "local_rank"
FOLLOW_ON              "srun: error: "  ": task "|": tasks "
FOLLOW_ON              "Job step aborted: "|"exited on signal "|"Back-off restarting failed container"|"CrashLoopBackOff"
FOLLOW_ON              "Main process exited, code=killed"|"Main process exited, code=dumped"|"Main process exited, code=exited, status="
FOLLOW_ON              "srun: error: Timed out waiting for job step"|"srun: Terminating job step "|"srun: Force Terminated job"
FOLLOW_ON              "mpirun noticed that "|"mpirun detected that "|"mpiexec noticed that "|"prterun noticed that "|"prterun detected that "|"Primary job  terminated normally, but "
FOLLOW_ON              "MPI communication peer process has unexpectedly disconnected"|"MPI_ABORT was invoked on rank"|"has lost communication with a remote daemon"|"Horovod has been shut down. This was caused"
FOLLOW_ON              " death signal, shutting down workers"|"RendezvousClosedError"|"RendezvousGracefulExitError"|"Worker group FAILED"
FOLLOW_ON              "elastic.multiprocessing.errors.ChildFailedError"
# Ray and vLLM, of a process or a node that is gone.
FOLLOW_ON              "the node it was running on is dead"|"The actor is dead because "|"Worker unexpectedly exits with "|"This node has beem marked as dead"|"This node has been marked as dead"
FOLLOW_ON              "Engine core initialization failed. See root cause"
# Kubernetes takes a pod off a node that lacks something; for want of memory: above.
FOLLOW_ON              "The node was low on resource: "|"ocal ephemeral storage usage exceeds "|"sage of EmptyDir volume "
# Errors of a GPU that are the program's, and what follows another error (NVIDIA's catalogue of Xid).
FOLLOW_ON              "NVRM: Xid ("  "): 13, "|"): 31, "|"): 43, "|"): 45, "|"): 68, "|"): 137, "
COORDINATION_TIMEOUT   "DEADLINE_EXCEEDED: GetKeyValue() timed out"|"Barrier timed out"
COORDINATION_TIMEOUT   "CoordinationService/RegisterTask"|"Coordination service agent failed to register with the leader"
COORDINATION_TIMEOUT   "Stopping coordination service as cluster registration failed"
COORDINATION_TIMEOUT   "CoordinationService/GetKeyValue"|"GetKeyValue() timed out"|"failed to register with the leader"|"luster registration failed"
COORDINATION_TIMEOUT   "imed out waiting for clients"|"Connect() timed out"|"imed out initializing process group"|" clients joined."
COORDINATION_TIMEOUT   "# of tasks that reached the barrier: "|"imed out task names:"
COORDINATION_TIMEOUT   any-case  "barrier"  "timed out while"|"has timed out"|"timeout exceeded"
COORDINATION_TIMEOUT   "BarrierTimeout"|"Barrier timeout: "|"imeout waiting for barrier"|"or all processes to reach the barrier"
COORDINATION_TIMEOUT   "socket has failed to connect to any network address"|"ailed to connect to remote host: "
COORDINATION_TIMEOUT   "Failed to connect to client mesh master"|"Failed to connect to the Tensorflow master"|"channel->WaitForConnected("
COORDINATION_TIMEOUT   "Failed to open the gRPC driver"|" futures but timed out after "|"RuntimeError: Wait timeout"|"Unable to wait for all slices to connect"
COORDINATION_TIMEOUT   "is setting up NCCL communicator and "  "store->get('"
COORDINATION_TIMEOUT   "failed to connect/validate to host "|"RendezvousConnectionError"|"DistStoreError: "
COORDINATION_TIMEOUT   "RuntimeError: Socket Timeout"
COORDINATION_TIMEOUT   "client socket has timed out after "|"failed to connect to TCPStore"|"RendezvousTimeoutError"|"wait timeout after "
COORDINATION_TIMEOUT   "DEADLINE_EXCEEDED: Deadline Exceeded"|"DEADLINE_EXCEEDED: deadline exceeded"
COORDINATION_TIMEOUT   "failed to connect to all addresses"|"Failed to connect to remote server at address"|"keepalive watchdog timeout"|"too_many_pings"
UNKNOWN_FLAG           "Unknown flag"  "parse_flags_from_env"
UNKNOWN_FLAG           "Unknown flags in XLA_FLAGS"|"Unknown flag in XLA_FLAGS"|"Unknown command line flag"

# XLA's catalogue of errors, of programs that it does not take.
PROGRAM_REJECTED       "Mosaic failed to compile TPU kernel"|"XLA:TPU compile permanent error"|"No viable logical replica count"
PROGRAM_REJECTED       "CompileTimeMosaic"|"CompileTimeHostOffload"|"CompileTimeSparseCoreInvalidReplicaCount"|"RuntimeProgramInputMismatch"
PROGRAM_REJECTED       "Executable("  "but got buffer with incompatible size"
PROGRAM_REJECTED       "Computation requires more parameters ("  ") than supported (limit"
PROGRAM_REJECTED       "Tensor which is moved to host"  "is not set to host memory"

# Only in the log of the kernel, and only where it names a TPU.
KERNEL_HARDWARE        "Uncorrected (Fatal)"|"Uncorrectable (Fatal)"|"device recovery failed"
KERNEL_HARDWARE        "DPC: containment event"|"[Hardware Error]: event severity: fatal"
KERNEL_HARDWARE        "accel"|"vfio-pci"  "reset"
# Of GPUs, and of the machine: told of a log of the kernel that is read by itself.
KERNEL_HARDWARE        "NVRM: Xid"|"NVRM: GPU at PCI:"
KERNEL_HARDWARE        "NVRM: "  "fallen off the bus"|"RmInitAdapter failed"|"rm_init_adapter failed"
KERNEL_HARDWARE        "nvidia-nvswitch"  "SXid ("
KERNEL_HARDWARE        "amdgpu"  "GPU reset begin"|"timeout, signaled seq"|"GPU hang"|"uncorrectable hardware errors"|"GPU recovery"
KERNEL_HARDWARE        "amdgpu"  "in unrecoverable state"|"in an unrecoverable state"|"MES failed to respond"|"fence wait loop timeout expired"|"timeout waiting for kiq fence"
KERNEL_HARDWARE        "ncorrected hardware memory error"|"Machine Check Exception"|"Memory failure: 0x"
KERNEL_HARDWARE        "EDAC "  " UE memory "|" UE on "|"ncorrected error"
)table";

// Lines that fit no wording above, recognised by their subject and its fate: a driver that
// fails, a runtime that returns an error. A family says less than a wording does, so no family
// establishes a fault of the host's own. The first family that fits decides.
const char kBuiltInFamilies[] = R"table(
RUNTIME_VERDICT        "Potential cause: "  "Bad TPU chip"|"Networking issue"|"Different module"|"Fingerprint mismatch"|"INCONSISTENT_TPU_PROGRAM"|"Data input stall"|"Unrecoverable error"
RUNTIME_VERDICT        "Example hosts that have different "|"Please inspect the error log of these workers"
RUNTIME_VERDICT        "Please examine the underlying networking stack"|"Please check the workers to make sure the data input pipeline"|"Please confirm that all workers is running the exact same program"|"blocked/crashing and preventing JAX"

HOST_OOM               "page allocation failure: order"|"[Errno 12] Cannot allocate memory"|"OOMKilling"
HOST_OOM               any-case  "exceeded memory limit, being killed"|"exceeded job memory limit"|"step exceeded memory limit"

# Runtimes that find no device, or cannot set one up.
DEVICE_UNAVAILABLE     "no supported devices found for platform "|"No visible GPU devices"|"No visible TPU"|"no CUDA-capable device is detected"|"no ROCm-capable device is detected"|"No CUDA GPUs are available"|"No HIP GPUs are available"|"CUDA_ERROR_SYSTEM_NOT_READY"|"CUDA_ERROR_DEVICE_UNAVAILABLE"|"invalid device ordinal"
DEVICE_UNAVAILABLE     "DNN library initialization failed"|"Could not create cudnn handle"|"Could not create cublas handle"|"CUDNN_STATUS_NOT_INITIALIZED"|"CUBLAS_STATUS_NOT_INITIALIZED"
DEVICE_UNAVAILABLE     "TPU system has not been initialized"|"TPU_RET_CHECK failure"|"No TPU devices were found"|"No TPU platform found"|"Failed to find any TPU"|"ould not find libtpu"|"Failed to load libtpu"
DEVICE_UNAVAILABLE     any-case  "tpu"  "metrics fetch failed for"|"corrupt data found"|"is unhealthy"|"marked unhealthy"|"is not healthy"|"in state preempted"|"in state terminated"|"unhealthy_maintenance"|"timed out waiting for tpu"|"not available in this library"
DEVICE_UNAVAILABLE     "TPU bad-node"|"bad TPU node"
DEVICE_UNAVAILABLE     "could not select device driver"|"ailed to establish SliceBuilder"
DEVICE_UNAVAILABLE     "vfio-pci "  "after FLR"|"after bus reset"|"performing function level reset anyway"
DEVICE_UNAVAILABLE     "No such file or directory: '/dev/accel"|"No such file or directory: '/dev/vfio"
DEVICE_UNAVAILABLE     "/dev/accel"|"/dev/apex"|"/dev/vfio"|"/dev/nvidia"|"/dev/kfd"|"/dev/infiniband"  "annot access"|"annot open"|"ailed to open"|"o such file or directory"|"ould not open"
DEVICE_UNAVAILABLE     "PodUnschedulable"|"FailedScheduling"|"nodes are available: "
DEVICE_UNAVAILABLE     "Couldn't get ptxas"|"No PTX compilation provider"|"no available compilation provider"|"no kernel image is available for execution"|"hipErrorNoBinaryForGpu"
DEVICE_UNAVAILABLE     "but it failed to initialize"|"tpu_driver' failed to initialize"|"No matching devices found for '/job:"
DEVICE_UNAVAILABLE     "START_SESSION failed"|"device path with error"|"Corrupt data found"|"Unable to determine the device handle for"|"chips per tray, actually found"|"initializing StreamExecutor for device"|"DMA buffers were still outstanding"
DEVICE_UNAVAILABLE     "No available node types can fulfill resource request"|"Insufficient cloud.google.com/"|"ReqNodeNotAvail"
DEVICE_UNAVAILABLE     any-case  "gpu "|"gpus "|"nvidia"|"rocm"  "configuration failed"|"initialization failed"|"failed to initialize"

# Drivers of adapters on their firmware, their queues and their commands; the ends of a queue pair.
NIC_FAULT              any-case  "mlx5_core "|"mlx4_core "|"mlx4_en"|"bnxt_en "|"bnxt_re"|"irdma"|" ice 0000:"|"i40e 0000:"|"iavf 0000:"|"ena 0000:"|"efa 0000:"|"gve 0000:"|"idpf 0000:"|"mana 0000:"|"ionic 0000:"|" ionic_"|"infiniband "|"rdma_rxe"|"hfi1"|"erdma"  "fail"|"couldn't"|"didn't"|"error"|"timeout"|"timed out"|"unable to"|"not responding"|"no done completion"|"abort"|"stall"|"fatal"|"insufficient power"|"high temperature"|"compromised"|"print_health_info"|"assert_"|"health issue"|"device lost"|"qplib: "|"reset the device"|"wasn't completed on time"
NIC_FAULT              any-case  "local qp operation err"|"remote access err"|"remote operation err"|"work request flushed error"|"local protection error"|"remote invalid request error"|"completion with err"|"vendor_err_synd"|"ib async event on"|"transport retry count"|"remote qp on "
NIC_FAULT              "mlx5_"|"mlx4_"  "ailed: Connection timed out"|"rror"|"syndrome 0x"
NIC_FAULT              "UCX  ERROR"|"UCX ERROR"  "ibv_"|"mlx5"|"ompletion with error"|"Async event"
NIC_FAULT              "Malicious Driver Detection event"
NIC_FAULT              "arrier lost"|"lost carrier"  "eth"|"ens"|"enp"|"bond"

HOST_CRASH             any-case  "nodes "|"node "  "not responding, setting down"
HOST_CRASH             "reboot: Power down"|"has been rebooted, boot id"|"has rebooted, boot id"
PREEMPTED              "impending-node-termination"|"pot instance interruption notice"|"EC2 Spot Interruption"|"Preempted in order to admit critical pod"
PREEMPTED              "Power key pressed"|"The system will power off now!"|"The system will reboot now!"|"The system is going down for "
PREEMPTED              any-case  "signal 15"|"sigterm"  "bypassing"|"trapped"|"intercepted"
PREEMPTED              any-case  "active-node-maintenance"  "ongoing"
PREEMPTED              "TERMINATE_ON_HOST_MAINTENANCE"|"MIGRATE_ON_HOST_MAINTENANCE"|"EvictedDueTo"|"DueToPreemption"
FOLLOW_ON              "preemption: pod "  "evicted successfully"
FOLLOW_ON              "PodEvictor is evicting "
FOLLOW_ON              "has exceeded its time limit and its allocation has been revoked"
RESTARTED_PEER         "wrong service incarnation"|"wrong incarnation"|"stale incarnation"
RESTARTED_PEER         "Unable to find a context_id matching the specified one"|"Perhaps the worker was restarted"

# Libraries of collectives, and those that are built like NCCL.
COLLECTIVE_STUCK       any-case  "unhandledcudaerror"|"unhandleddeviceerror"|"ncclinternalerror"|"ncclinvalidusage"|"ncclinvalidargument"|"distbackenderror: "
COLLECTIVE_STUCK       any-case  "unhandled cuda error"|"unhandled system error"|"unhandled hip error"|"please report this issue to the nccl developers"
COLLECTIVE_STUCK       "Observed flight recorder dump signal"|"Process group watchdog thread terminated"|"Could not acquire GIL within"
COLLECTIVE_STUCK       any-case  "nccl"|"rccl"  "clique"|"communicator"  "timed out"|"stuck"|"aborted"|"error state"|"failed to"
COLLECTIVE_STUCK       any-case  "nvshmem"  "non-zero status"|"ibv_modify_qp failed"|"setup connections failed"
COLLECTIVE_STUCK       "DeepEP "|"NVSHMEM"|"NVLS"|"NVLink SHARP"  "timeout"|"timed out"|"ailed to"|"rror"
COLLECTIVE_STUCK       "HIP failure: "|"ROCr failure "|"Cuda failure "
COLLECTIVE_STUCK       "Duplicate GPU detected : rank "|"Message truncated : received "

HUNG_TASK              "rcu"  "kthread starved for"|"detected expedited stalls"|"kthread timer wakeup didn't happen"
HUNG_TASK              "OCDBT database"|"tensorstore"|"TensorStore"  "Error writing "|"Error reading "|"Error opening "|"ailed to write"|"ailed to read"|"DEADLINE_EXCEEDED"
HUNG_TASK              "rpc: server "|"lockd: server "|"nfs4_"|"NFS: "  "not responding"|"timed out"|"failed to"
HUNG_TASK              "Device offlined"|"rejecting I/O to offline device"|"rejecting I/O to dead device"|"critical medium error"|"critical target error"|"Unrecovered read error"|"Detected aborted journal"
# Storage across the network: what curl, TensorFlow's client of GCS and TensorStore say.
HUNG_TASK              "curl_transport.cc"|"libcurl code "  "Error ["|" meaning '"
HUNG_TASK              "Operation too slow. Less than "|"and will be aborted. CURL timing information"
HUNG_TASK              "nput/output error"|"Could not append to the internal temporary file"

DEVICE_SLOW            "Timeout ("  ":00)!"|":30)!"
DEVICE_SLOW            any-case  "hang detected"|"detected a hang"|"possible hang"|"potential hang"|"appears to be hung"|"appears to be stuck"|"seems to be stuck"|"has made no progress"|"deadlock detected"|"possible deadlock"

NETWORK                "UCX  ERROR"|"UCX ERROR"|"pml_ucx.c"|"btl_openib"|"btl_tcp"|"mtl_ofi"  "rror"|"ERROR"|"ailed"
NETWORK                "OFI poll failed"|"Libfabric failed"|"cxil_map: "|"socketStartConnect: "|"Software caused connection abort"
# NCCL warns of what it cannot go on with.
NETWORK                "NCCL WARN "|"RCCL WARN "
NETWORK                "nf_conntrack: table full"|"neighbor table overflow"|"neighbour table overflow"
NETWORK                "Unable to establish connection to ifrt_proxy"|"IFRT proxy server was terminated"

FOLLOW_ON              "with incarnation id "  " is not connected"
FOLLOW_ON              any-case  "coordination service"|"coordination agent"|"coordination client"|"distributed jax controller"  "failed to"|"has failed"|"is unavailable"|"unreachable"|"timed out"|"unhealthy"|"in error state"|"lost connection"
FOLLOW_ON              any-case  "barrier"  "has failed"|"barrier failed"|"was cancelled"|"called by unexpected task"|"conflicting tasks specified"|"non-participating task"
FOLLOW_ON              "GrpcClientSession: writes no longer allowed"|"Cancelled by TearDown"
FOLLOW_ON              "An error was raised. This may be due to "|"The current session will be closed and a new session will be created"
FOLLOW_ON              "Waiting in store based barrier to initialize process group"
FOLLOW_ON              "ConnectionResetError: "|"ConnectionRefusedError: "|"ConnectionAbortedError: "|"BrokenPipeError: "
FOLLOW_ON              "onnection was likely closed. Did the remote server shutdown or crash"|"[c10d] recvValue failed"|"[c10d] sendBytes failed"|"recvVector failed"
FOLLOW_ON              "StatusCode.UNAVAILABLE"|"StatusCode.DEADLINE_EXCEEDED"|"StatusCode.CANCELLED"|"details = \"Socket closed\""|"Failed to pick subchannel"
FOLLOW_ON              "errors_impl.UnavailableError"|"errors_impl.AbortedError"|"errors_impl.CancelledError"|"errors_impl.DeadlineExceededError"
FOLLOW_ON              "(0) "|"(1) "|"(2) "|"(3) "  "Unavailable: "|"Aborted: "|"Cancelled: "|"Deadline exceeded: "|"UNAVAILABLE: "|"ABORTED: "|"CANCELLED: "|"DEADLINE_EXCEEDED: "
FOLLOW_ON              "JaxRuntimeError: "|"XlaRuntimeError: "|"Bad StatusOr access: "  "UNAVAILABLE: "|"ABORTED: "|"CANCELLED: "
FOLLOW_ON              "Worker exit type: SYSTEM_ERROR"|"exit_type=SYSTEM_ERROR"|"OwnerDiedError"|"ObjectLostError"|"Raylet is terminated"|"raylet process died"|"have not registered within the timeout"
FOLLOW_ON              any-case  "health check failed for"|"failed due to missing too many"|"coscheduled sibling"|"task not found on worker"
FOLLOW_ON              "Driver must be Open to "|"Driver not open"
# Falls: coordination.cc knows them by the same words.
FOLLOW_ON              " exits with return code = "|"Killing subprocess "|"MPI_Abort("
FOLLOW_ON              "LLVM ERROR: "|"Non-OK-status: "|"RAW: Skipping coredump"|"RAW: Coroner client"|"RAW: Sending fingerprint"|"RAW: Discarding core"|"RAW: ExecuteFailureCallbacks"
FOLLOW_ON              "traps: "|"kernel: "  "general protection"|"trap invalid opcode"|"trap divide error"
FOLLOW_ON              "slurmstepd: error: "|"srun: error: "
FOLLOW_ON              "jobset"  "job failures"|"FailedJobs"|"ReachedMaxRestarts"|"max number of restarts"
FOLLOW_ON              "might be asynchronously reported at some other API call"
FOLLOW_ON              "*** Received signal "|"MANGLED STACK TRACE ***"|"to HSA Process with PID"
# A line of `kubectl get pods`.
FOLLOW_ON              " 0/1 "|" 0/2 "|" 1/2 "  " Error "|" OOMKilled "|" Evicted "|" CrashLoopBackOff "|" ContainerStatusUnknown "|" NodeLost "|"BackOff "|" Failed "|" Init:Error "
FOLLOW_ON              "exitcode  : "  ": -"|": 1 "|": 2 "
FOLLOW_ON              "BackoffLimitExceeded"|"reached the specified backoff limit"|"FailedMount"|"FailedCreatePodSandBox"|"ImagePullBackOff"|"ErrImagePull"|"Failed to pull image"

COORDINATION_TIMEOUT   "JaxRuntimeError: "|"XlaRuntimeError: "|"Bad StatusOr access: "  "DEADLINE_EXCEEDED: "
COORDINATION_TIMEOUT   "waited too long for some tasks to show up"|"BarrierTimeoutException"
COORDINATION_TIMEOUT   any-case  "barrier timed out"|"timed out at barrier"|"timed out waiting for barrier"
COORDINATION_TIMEOUT   "DistNetworkError: "|"EADDRINUSE"|"possible application crash on rank "

# Whatever else a runtime returns as an error; whose it is, the traceback around it tells.
PROGRAM_REJECTED       "JaxRuntimeError: "|"XlaRuntimeError: "|"Bad StatusOr access: "  "INTERNAL: "|"INVALID_ARGUMENT: "|"UNIMPLEMENTED: "|"FAILED_PRECONDITION: "|"NOT_FOUND: "|"UNKNOWN: "|"OUT_OF_RANGE: "|"DATA_LOSS: "|"ALREADY_EXISTS: "|"PERMISSION_DENIED: "|"RESOURCE_EXHAUSTED: "|"UNAUTHENTICATED: "
PROGRAM_REJECTED       "errors_impl.InternalError"|"errors_impl.InvalidArgumentError"|"errors_impl.FailedPreconditionError"|"errors_impl.UnimplementedError"|"errors_impl.DataLossError"|"errors_impl.ResourceExhaustedError"
PROGRAM_REJECTED       "(0) "|"(1) "|"(2) "|"(3) "  "Failed precondition: "|"Internal: "|"Invalid argument: "|"Resource exhausted: "|"Unimplemented: "|"Not found: "|"FAILED_PRECONDITION: "|"INTERNAL: "|"INVALID_ARGUMENT: "|"RESOURCE_EXHAUSTED: "|"NOT_FOUND: "
PROGRAM_REJECTED       "Exception in device=TPU:"|": Check failed: "|"OP_REQUIRES failed at "|"Error recorded from "|"Error reported to Coordinator: "|"Bad hardware status: "
PROGRAM_REJECTED       "CUDA error: "|"HIP error: "|"CUBLAS_STATUS_"|"CUDNN_STATUS_EXECUTION_FAILED"|"CUDNN_STATUS_INTERNAL_ERROR"|"CUDNN_STATUS_ALLOC_FAILED"|"CUSOLVER_STATUS_"|"cuSolver internal error"|"HIPBLAS_STATUS_"|"miopenStatus"
PROGRAM_REJECTED       "Failed to materialize symbols"|"XLA compilation failed"|"Compilation failure: "
PROGRAM_REJECTED       "EngineCore failed to start"|"EngineCore hit an exception"|"cheduler hit an exception"|"DetokenizerManager hit an exception"|"EngineCore encountered"|"Engine process failed to start"|"Engine loop has died"|"Background loop has errored"
PROGRAM_REJECTED       "attached to a different loop"
# Exceptions of which a runtime, a device or a collective is the subject.
PROGRAM_REJECTED       any-case  "runtimeerror: "|"systemerror: "|"timeouterror: "|"connectionerror: "  "tpu"|"xla"|"nccl"|"rccl"|"cuda"|"pjrt"|"collective"|"rendezvous"|"barrier"|"checkpoint"|"process group"|"coordinator"  "fail"|"error"|"timed out"|"timeout"|"abort"|"unavailable"|"not found"|"unable"|"cannot"|"could not"|"lost"|"invalid"|"mismatch"|"not initialized"

KERNEL_HARDWARE        "NMI: "  "error"|"unknown reason"|"parity"
# Of GPUs and of ports: told of a log of the kernel that is read by itself.
KERNEL_HARDWARE        "amdgpu: "|"[amdgpu]"|"amdgpu 0000:"  "rror"|"*ERROR*"|"ailed to "|"ncorrectable"|"fault"|"unrecoverable"|"GPU reset"|"not done with your previous command"|"poison"|"timed out"
KERNEL_HARDWARE        "NVRM: "|"nvidia-modeset: "|"nvidia-nvlink: "|"nv-fabricmanager"|"nvidia-fabricmanager"  "fail"|"Fail"|"ERROR"|"rror:"|"timeout"|"Timeout"|"fatal"|"not responding"
KERNEL_HARDWARE        "nvidia 0000:"|"pcieport "  "Link Active not set"|"Cannot train link"|"change power state"|"device inaccessible"|"Link Down"|"Card not present"|"uncorrectable error detected"
KERNEL_HARDWARE        "[Hardware Error]: event severity: recoverable"|"AER: Multiple Uncorrect"|"AER: can't recover"
)table";

// Lines that fit no family either, by the words of an outcome, whatever their subject. They serve
// a reader who looks for the lines that matter; no verdict uses them, since such words do not tell
// whether a program says them of itself, of another or of an attempt that it repeats.
const char kBuiltInOutcomes[] = R"table(
RUNTIME_VERDICT        "The hosts are: "
COORDINATION_TIMEOUT   any-case  "no quorum"|"quorum not ready"|"quorum not reached"
PREEMPTED              any-case  "cluster is preempted"|"node is preempted"|"instance is preempted"|"vm is preempted"
DEVICE_SLOW            "No available shared memory broadcast block found"
OUT_OF_MEMORY          "Out of free pages during allocation"|"No available memory for the cache blocks"|"Not enough HBM spill stack available"|"Error defragmenting HBM"
OUT_OF_MEMORY          "ailed to allocate "|"ailed to reserve "|"nsufficient memory"|"MemoryError: "
COLLECTIVE_MISMATCH    "buffer size is not "  "nput size: "|"nput buffer size"

# Events of Kubernetes, by their reason.
HOST_CRASH             "KubeletNotReady"|"NodeStatusUnknown"|"KubeletIsDown"|"NodeRebooted"
HOST_OOM               "SystemOOM"
BENIGN                 "Cancelling deletion of Pod"
PREEMPTED              "TaintManager is deleting "|"TaintManagerEviction"|"DisruptionTarget"|"EvictionByEvictionAPI"
DEVICE_UNAVAILABLE     "UnexpectedAdmissionError"
FOLLOW_ON              "EvictionThresholdMet"|"FailedAttachVolume"|"FailedMapVolume"|"FailedKillPod"|"FailedCreatePodContainer"|"FailedPostStartHook"|"FailedPreStopHook"|"NetworkPluginNotReady"|"ErrImageNeverPull"|"CreateContainerError"|"CreateContainerConfigError"|"RunContainerError"|"PodFailurePolicy"
# What goes well, is tried again, or is told at a low level.
BENIGN                 any-case  "this is not an error"|"this is not a failure"|"can be safely ignored"|"can safely be ignored"|"exit code 0"|"exit code: 0"|"exit status 0"|"exit status: 0"|"exited with code 0"|"exited with status 0"|"with code `0`"|"terminated with code 0"
BENIGN                 any-case  "retrying"|"will retry"|"falling back"|"fallback"|"using internal implementation"|"using builtin"|"using built-in"
BENIGN                 "level=info"|"level=debug"|"[INFO|"|" INFO "|"[INFO]"|"INFO:"|" DEBUG "|"[DEBUG]"|"DEBUG:"|"UserWarning: "|"FutureWarning: "|"DeprecationWarning: "|"RuntimeWarning: "
# Warnings state what may follow; a tool beside the job is not found.
BENIGN                 any-case  "may result in "|"might result in "|"may lead to "|"could lead to "|"may fail "|"might fail "|"could fail "|"may cause "
BENIGN                 "skipping pod synchronization"|"yspy failed to dump"|"y-spy: not found"
# Slurm's daemons on their own configuration.
BENIGN                 "error: "  "MailProg"|"slurm_conf"|"has low socket*core"|"has low cpu count"|"Domain socket directory"|"Node configuration differs"
BENIGN                 "systemd-sysv-generator"|"systemd-fstab-generator"|"systemd-gpt-auto-generator"|"systemd-udevd"|"dbus-daemon"
BENIGN                 "wandb: "|"gpu_timer.cc"|"grpc_wait_for_shutdown"|"eadiness probe failed"|"iveness probe failed"|"tartup probe failed"|"verification failed"|"Route Unhealthy"|"git repository"|"metric server port"
BENIGN                 "Unable to initialize backend '"
BENIGN                 "severity=Correct"|"Accessing retired flag"|"cannot be preloaded"|"PMIX ERROR: "|"pip's dependency resolver"

# Counts of failures of which there are none; settings; what is looked for and need not be there.
BENIGN                 any-case  "(no failures)"|" 0 failed"|"(0 failed"|" 0 errors"|"errors: 0"|"failed: 0"|"no errors"|"without error"|"no failures"|"derived errors ignored"
BENIGN                 "Failed to find or infer git"|"bearer token failed"|"Unable to find hostfile"|"xcpuinfo_hwloc_topo_load"|"TF-TRT Warning"|"(first observed failure)"|"] Invalid RE2: "|", queue evicted"|"sshd["|"shim disconnected"|"DATA sharding policy"|"unexpected truncation of the dataset"|"unexpected behavior"|"unexpected behaviour"

# Exceptions. Around an exception that ended its program stands a traceback, which tells more.
PROGRAM_REJECTED       "RuntimeError: "|"ValueError: "|"TypeError: "|"AttributeError: "|"AssertionError: "|"IndexError: "|"NameError: "|"ImportError: "|"ModuleNotFoundError: "|"NotImplementedError: "|"SystemError: "|"OverflowError: "|"RecursionError: "|"UnboundLocalError: "|"InternalError: "|"InvalidArgumentError: "|"CompilationError: "|"CalledProcessError: "
HUNG_TASK              ".exceptions."|".errors."  "imeout"|"ServiceUnavailable"|"TooManyRequests"|"InternalServerError"|"BadGateway"|"GatewayTimeout"
FOLLOW_ON              ".exceptions."|".errors."|"errors_impl."  "Error"|"Exception"
HUNG_TASK              "OSError: "|"IOError: "|"FileNotFoundError: "|"PermissionError: "|"BlockingIOError: "
FOLLOW_ON              "TimeoutError: "|"TimeoutException: "|"ConnectionError: "|"EOFError: "|"DeadlineExceeded: "|"ServiceUnavailable: "|"RpcError: "|"CancelledError: "|"WorkerError: "|"JobFailed: "|"TaskError: "|"SystemExit: "|"Exception: "|"Exception raised from "|"TracerError: "|"TASK_STATE_FAILED"|"_FAILED)"

NIC_FAULT              any-case  "mlx5 error cqe"|"mlx4 error cqe"|"agg_buf"|"net/ib"  "error cqe"|"!= expected"|"'unused' request"|"unexpected"|"mismatch"|"failed"|"timed out"
NETWORK                any-case  "rdma"|"ud_ep.c"|"rc_ep.c"|"dc_ep.c"|"ucp_worker"|"uct_"|"tcp_ep.c"  "failed"|"unhandled timeout"|"fatal: "|"timeout was not handled"|"reset"|"unreachable"
NETWORK                "GTC failed to converge"|"onnection refused"|"onnection timed out"|"onnection aborted"|"onnection lost"|"etwork is unreachable"|"ost is down"|"name resolution"
KERNEL_HARDWARE        "amdgpu"|"nvidia"|"NVRM"  " failed"|"*ERROR*"|"imeout"|" fault"|"annot "
FOLLOW_ON              "PodDeleted: "|"TpuCompileOp was cancelled"|"exceeded max_task_failures"|"bounced for atomic re-scheduling"|"restarting failed container"|"ailed to create containerd task"|"already in an error state"|"RAW: "|": Test failure "|"Force Terminated "|"WTERMSIG"|"/FAILURE"
DEVICE_UNAVAILABLE     "ailed to initialize"|"ailed to init "|"o such device"|"evice not found"|"o devices found"|"evice has been lost"|"oordinate mismatch"
PROGRAM_REJECTED       "ailed to compile"|"ompilation failed"|"ailed to convert"|"ailed to legalize"|"ailed to lower"|"ailed to execute"|"ailed to deserialize"|"ailed to trace"
PROGRAM_REJECTED       "Compilation of "  " and failed"
MISSED_HEALTH_CHECKS   any-case  "heartbeat"|"heart beat"|"keepalive"|"keep-alive"|"health check"|"liveness"|" ping "  "timed out"|"expired"|"not received"|"been lost"|"threshold exceeded"|"over ping threshold"|"over threshold"|" failed, "|" failed=["
HOST_OOM               "annot allocate memory"
INPUT_WAIT             "EOF reached, "|"nexpected end of file"|"nexpected EOF"|"runcated record"|"orrupted record"
HUNG_TASK              "ailed to save"|"ailed to restore"|"ailed to write"|"ailed to upload"|"ailed to flush"|"rror reading "|"rror writing "|"rror opening "|"rror while reading"|"rror while writing"|"oo many open files"|"o space left on device"|"quota exceeded"|"ead-only file system"|"tale file handle"|"nput/output error"
NETWORK                any-case  "unable to connect"|"could not connect"|"cannot connect"|"failed to connect"|"failed to send"|"failed to receive"|"failed to recv"|"lost connection"|"lost contact"
NIC_FAULT              any-case  "infiniband"|"mlx5"|"mlx4"|"bnxt"|"irdma"|"roce"  " down"|" disabled"
PREEMPTED              any-case  "preempted."|"preempted by"|"preempted at"|"was preempted: "|"maintenance event"|"upcoming maintenance"|"host maintenance"|"under maintenance"
HOST_CRASH             any-case  "node failure"|"hardware failure"|"node died"|"node is dead"|"host error"|"unexpected reboot"|"has rebooted"|"was rebooted"
DEVICE_SLOW            any-case  "has been pending for"|"has been waiting for"|"has not progressed"|"no progress for"|"no progress in"
# Ends and standstills.
FOLLOW_ON              " ERROR "|" FATAL "|" CRITICAL "
FOLLOW_ON              "rror executing "|"rror connecting "|"rror processing "|"rror handling "|"rror running "|"rror starting "|"rror initializing "|"rror allocating "|"rror launching "|"rror fetching "
FOLLOW_ON              "rror in "|"rror while "|"rror during "|"rror waiting "|"rror occurred"|"isconnected"|"got unexpected signal"
FOLLOW_ON              "ERROR:"|"[ERROR]"|"CRITICAL"|"RayTaskError("|"not found after "|" failed {"
FOLLOW_ON              any-case  " died"|"was killed"|"got killed"|"killed by"|"killed process"|": killed"|"aborted"|"aborting"|"crashed"|"halted"|"has exited"|"exited with"|"exit code"|"exit status"|"core dump"|"segfault"|"terminated"|"panic: "|"signal sig"|"fatal signal"|"sigkill"|"sigabrt"|"sigsegv"|"sigbus"|" killed"
FOLLOW_ON              any-case  "timed out"|" times out"|"error code is "|"timeout expired"|"timeout exceeded"|"timeout after"|"timeout waiting"|"socket timeout"|"deadline exceeded"|"deadline_exceeded"|"not responding"|"did not respond"|"no response from"|"is stuck"|"appears stuck"|" stalled"|"unhealthy"|"unreachable"|"unrecoverable"|"corrupted"|"corruption"|"exhausted"
FOLLOW_ON              any-case  "thread"|"task "|"process"|"worker"|"rank "|"node "|"host "|"job "|"replica"|"slice"|"device"|"chip"|"checkpoint"  " failed."
FOLLOW_ON              any-case  "has failed"|"have failed"|"status failed"|"marked as failed"|"marked failed"|"marked dead"|"failed to start"|"failed to launch"|"failed to spawn"|"failed to join"|" failed with "|" failed: "|" failed on "|" failed at "|" failed after "|"failed unexpectedly"|"encountered a fatal"|"setup failed"|"initialization failed"|"execution failed"|"allocation failed"|"launch failed"|"operation failed"|"failed!"
FOLLOW_ON              "UNAVAILABLE: "|"ABORTED: "|"CANCELLED: "|"INTERNAL: "|"FAILED_PRECONDITION: "|"DATA_LOSS: "|"NOT_FOUND: "|"INVALID_ARGUMENT: "|"UNIMPLEMENTED: "|"PERMISSION_DENIED: "|"UNAUTHENTICATED: "|"RESOURCE_EXHAUSTED: "|"Unavailable: "|"Aborted: "|"Cancelled: "|"Internal: "|"Deadline exceeded: "|"Failed precondition: "|"Invalid argument: "|"Data loss: "|"Unimplemented: "|"[Errno "|"FATAL ERROR"|"FATAL: "|"Fatal: "|"atal error"|"*ERROR*"
# Words that none of the look-alikes of the field holds.
HUNG_TASK              any-case  "save"|"restore"|"checkpoint"|"upload"|"download"|"storage"|"bucket"|"filesystem"|"file system"  " failed"|"failed to "|" failure"|"unable to "
DEVICE_UNAVAILABLE     any-case  "tpu"|"chip"|"accelerator"|"device"|"driver"  " failed"|"failed to "|" failure"|"unable to "|"unavailable"|"not available"
NETWORK                any-case  "connect"|"socket"|"link "|"network"|"peer "  " failed"|"failed to "|" failure"|"unable to "|"unavailable"|"refused"|"rejected"
PREEMPTED              any-case  "instance "|"machine "|"node "|"host "|"vm "  "will be stopped"|"will be terminated"|"will be preempted"|"termination notice"
PROGRAM_REJECTED       any-case  "cudnn_status_"|"runtime error:"
MISSED_HEALTH_CHECKS   any-case  "stopped responding"|"no longer responding"|"not responded"
HUNG_TASK              "fuse: writeMessage: "|"fuse: *fs"
HUNG_TASK              any-case  "bandwidth cap"|"egress too high"|"rate limit exceeded"|"ratelimitexceeded"|"code: slowdown"|"disk is full"|"disk full"
FOLLOW_ON              any-case  "shared connection to "|"connection to "  " closed"
FOLLOW_ON              " Pending "  " 0/1 "|" 0/2 "|" 0/3 "|" 0/4 "
FOLLOW_ON              any-case  "workers"|"replicas"|"ranks"|"nodes"  "non-running"|"not running"|" bad/"|"detected dead"|"detected failed"
FOLLOW_ON              "Reason:"  "Failed"|"Evicted"|"Error"|"Lost"|"Exceeded"|"Killed"
FOLLOW_ON              any-case  "timeout ("|"timeout: "|"timed out ("  "waiting for"
FOLLOW_ON              any-case  " failed"|"failed to "|" failure"|"failing "|" fails"|"phase failed"|"unable to "|"refused"|"unavailable"|"limit exceeded"|"exceeded the"|"has exceeded"|"exceeded max"|"crash"|"abort"|"rejected"|"eraising captured"|" hung"|"stuck"|"gave up"|"giving up"|"has caused the"|"illegal "|" lost "|"degraded"|" evicted"|"restarted unexpectedly"|"unexpectedly"|"unexpected "
# Words of failure that no look-alike holds, by their subject.
HOST_CRASH             any-case  "drained: "|"removed from cluster"|"removed from the cluster"|"node lost"|"instance stopped"|"vm terminated"|"vm stopped"|"node repair"|"repairing node"|"kernel panic"
DEVICE_UNAVAILABLE     any-case  "device lost"|"gpu lost"|"chip lost"|"ecc error"|"uncorrectable error"|"uncorrectable memory"|"uncorrectable ecc"|"double bit"|"thermal shutdown"|"in error state"|"parity error"
PREEMPTED              any-case  "was reclaimed"|"instance reclaimed"|"being reclaimed"|"was evicted"|"been evicted"|"pod evicted"
PROGRAM_REJECTED       any-case  "is nan"|"nan detected"|": nan,"|"is not finite"|"undefined symbol"|"stack overflow"|"incompatible shape"|"incompatible version"|"incompatible layout"|"violation"|"assertion `"
INPUT_WAIT             any-case  "starved"|"loader blocked"|"input stall"|"loading stalled"
HUNG_TASK              any-case  "shard"|"checkpoint"|"ckpt"|"dataset"|"gs://"|"s3://"|"/mnt/"  "not found"|"missing"|"invalid "|"no such file"|"cannot open"|"can't open"|"crc error"
COORDINATION_TIMEOUT   any-case  "has not joined"|"have not joined"|"not reached by"|"still waiting for "|"waiting for rank"|"waiting for missing "
MISSED_HEALTH_CHECKS   any-case  "no heartbeat"|"heartbeat lost"|"heartbeats lost"|"missed heartbeat"|"heartbeat missed"
DEVICE_SLOW            any-case  "straggler detected"|"stall detected"|"deadlock"|"livelock"
NETWORK                any-case  "no route to host"|"connection dropped"|"handshake error"|"handshake failed"|"too many requests"|"http 500"|"http 502"|"http 503"|"http 504"|"network error"|"connection error"|"protocol error"
FOLLOW_ON              any-case  "exited early"|"keyboardinterrupt"|"cancelled by"|"canceled by"|"stopped by"|"received signal "|"got signal "|"signal 6"|"signal 9"|"signal 11"|"worker lost"|"replica lost"|"rank lost"|"quorum lost"|"lease lost"|"election lost"
FOLLOW_ON              any-case  "couldn't init"|"couldn't reinit"|"couldn't start"|"couldn't allocate"|"couldn't map"|"couldn't reset"|"couldn't connect"|"mismatched"|"invalid value"|" is invalid"
FOLLOW_ON              any-case  "bus error"|"irrecoverable"|"cannot recover"|"can't recover"|"restart limit"|"max restarts"|"left the group"|"insufficient"|"unresponsive"|"unreachable"|"permission_denied"|"unauthenticated"|"credentials expired"|"token expired"|"lease expired"|"request expired"
FOLLOW_ON              any-case  "internal error"|"fatal error"|"system error"|"i/o error"|"unknown error"|"unexpected error"|"remote error"|"communication error"
FOLLOW_ON              "FATAL:"|"FATAL "
FOLLOW_ON              " error: "|" error; "|" fatal: "|"terminate called "
FOLLOW_ON              "Error: "|"Exception"|"FAILED"|"rejected"|"inconsistent"|"mismatch"|"gave up"|"iving up"|"is down"|"went down"|"nterrupted"|"orrupt"|"isconnect"|"nsufficient "|"oo many "|"Check failure stack trace"
)table";

}  // namespace rapideye::logs
