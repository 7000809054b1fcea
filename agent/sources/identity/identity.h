// Identity states the coordinates of this worker, its coordinator and its runtime.
#ifndef RAPIDEYE_AGENT_SOURCES_IDENTITY_IDENTITY_H_
#define RAPIDEYE_AGENT_SOURCES_IDENTITY_IDENTITY_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

// Port of a coordinator whose address does not state one.
inline constexpr int kCoordinatorPort = 8490;
// Port of a TPU runtime's status service, unless its environment says otherwise.
inline constexpr int kRuntimePort = 8431;

// The flags of the command line; empty means not given.
struct IdentityFlags {
  std::string job;
  std::string slice;
  std::string task;
  std::string host;
  std::string node;
  std::string pod;
  std::string hardware;
  std::string coordinator;  // HOST[:PORT]
  std::string runtime;      // HOST:PORT
};

struct Identity {
  std::string job;
  WorkerId worker;
  std::string host;
  std::optional<std::string> node;
  std::optional<std::string> pod;
  std::optional<std::string> hardware;
  std::optional<int32_t> slices;
  std::optional<int32_t> tasks_per_slice;
  std::optional<std::string> generation;
  std::optional<std::string> job_incarnation;
  std::string coordinator;  // HOST:PORT; empty: nothing says where it is
  std::string runtime;      // HOST:PORT
  // Remarks for the operator on how this was found; for the log.
  std::vector<std::string> notes;
};

using Environment = std::map<std::string, std::string>;

// Every part from its flag, else from the platform's variables, in a fixed
// order (agent/sources/README.md, "Identity"). A variable that is set to nothing counts as not
// set. `hostname` is the machine's own name. INVALID_ARGUMENT names the flag or
// variable that is malformed, or, when the worker of a larger job is
// not identified, the flag to give.
absl::StatusOr<Identity> FindIdentity(const IdentityFlags& flags, const Environment& environment,
                                      const std::string& hostname);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_IDENTITY_IDENTITY_H_
