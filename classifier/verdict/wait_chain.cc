#include "classifier/verdict/wait_chain.h"

namespace rapideye {

std::string_view WaitKindName(WaitKind kind) {
  switch (kind) {
    case WaitKind::kUnclear:
      return "UNCLEAR";
    case WaitKind::kCollective:
      return "COLLECTIVE";
    case WaitKind::kTransfer:
      return "TRANSFER";
    case WaitKind::kSparseCore:
      return "SPARSE_CORE";
    case WaitKind::kOwnHost:
      return "OWN_HOST";
    case WaitKind::kIdle:
      return "IDLE";
    case WaitKind::kCompute:
      return "COMPUTE";
    case WaitKind::kKernel:
      return "KERNEL";
    case WaitKind::kHostWait:
      return "HOST_WAIT";
    case WaitKind::kHostWork:
      return "HOST_WORK";
    case WaitKind::kStarting:
      return "STARTING";
    case WaitKind::kHalted:
      return "HALTED";
    case WaitKind::kStopped:
      return "STOPPED";
    case WaitKind::kEnded:
      return "ENDED";
    case WaitKind::kSilent:
      return "SILENT";
    case WaitKind::kMixed:
      return "MIXED";
    case WaitKind::kRunning:
      return "RUNNING";
  }
  return "UNCLEAR";
}

std::string_view WaitEdgeKindName(WaitEdgeKind kind) {
  switch (kind) {
    case WaitEdgeKind::kCollective:
      return "COLLECTIVE";
    case WaitEdgeKind::kTransfer:
      return "TRANSFER";
    case WaitEdgeKind::kSparseCore:
      return "SPARSE_CORE";
    case WaitEdgeKind::kInput:
      return "INPUT";
    case WaitEdgeKind::kLaunch:
      return "LAUNCH";
    case WaitEdgeKind::kHost:
      return "HOST";
    case WaitEdgeKind::kStartUp:
      return "START_UP";
    case WaitEdgeKind::kAfter:
      return "AFTER";
    case WaitEdgeKind::kBrokenLink:
      return "BROKEN_LINK";
    case WaitEdgeKind::kDivergence:
      return "DIVERGENCE";
  }
  return "COLLECTIVE";
}

}  // namespace rapideye
