// What agent and coordinator say to each other, as checked plain values.
//
// The cores speak these; protobuf stays in the shells. Meaning of every field:
// proto/v1/agent.proto. A value of these types that came through
// AgentMessageFromWire or CoordinatorMessageFromWire keeps the rules stated
// here, whatever the peer sent.
#ifndef RAPIDEYE_PROTO_WIRE_MESSAGES_H_
#define RAPIDEYE_PROTO_WIRE_MESSAGES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "proto/common/address/address.h"
#include "proto/v1/evidence.h"

// Only declared: who has no use for protobuf does not get it from here.
namespace rapideye::v1 {
class AgentMessage;
class CoordinatorMessage;
}  // namespace rapideye::v1

namespace rapideye::wire {

// Versions of the protocol: one back and one forward are spoken. Fields and
// messages that the other side does not know are skipped by it.
//   1  no Hello.incident, Hello.connection, Collect.incident, Concluded
inline constexpr int kProtocolVersion = 2;
inline constexpr int kOldestProtocolVersion = 1;
inline constexpr int kNewestProtocolVersion = 3;

// True for YYYYMMDDTHHMMSSZ-<8 lower-case hex digits>: what an incident is called,
// on the wire, in logs, and as a directory.
bool IsIncidentId(std::string_view text);

// From the agent -----------------------------------------------------------

// The incident that an agent last collected for.
struct IncidentMemory {
  std::string incident;  // IsIncidentId
  bool concluded = false;
  std::optional<std::string> process_incarnation;
  friend bool operator==(const IncidentMemory&, const IncidentMemory&) = default;
};

// A network interface of a host, and one of its addresses.
struct HostAddress {
  std::string nic;    // not empty
  IpAddress address;  // IsReachable
  friend auto operator<=>(const HostAddress&, const HostAddress&) = default;
};

struct Hello {
  int32_t protocol_version = kProtocolVersion;
  std::string job;
  WorkerId worker;
  std::string host;  // not empty
  std::optional<std::string> node;
  std::optional<std::string> pod;
  std::optional<std::string> hardware;
  int64_t agent_incarnation = 0;  // > 0
  std::optional<int32_t> slices;  // > 0, as tasks_per_slice
  std::optional<int32_t> tasks_per_slice;
  std::optional<std::string> generation;
  std::optional<std::string> job_incarnation;
  absl::Duration poll_interval;  // > 0
  std::string version;
  std::optional<IncidentMemory> incident;
  std::optional<int64_t> connection;   // > 0; absent: an agent of protocol 1
  std::vector<HostAddress> addresses;  // at most kMaxHostAddresses
  bool hlo_dumps = false;
};

struct ProgramStatistics {
  std::optional<std::string> module;
  std::string fingerprint;  // lower-case hex, not empty
  int64_t completed = 0;
  std::optional<absl::Duration> longest;
};

struct QueueEntry {
  std::string fingerprint;
  std::optional<int32_t> launch_id;
};

struct Heartbeat {
  std::optional<std::string> process_incarnation;
  RuntimeHealth runtime;
  int64_t launches_completed = 0;
  std::optional<absl::Duration> since_completion;
  bool launch_in_flight = false;
  std::vector<ProgramStatistics> programs;  // most recent last
  std::vector<QueueEntry> queue;            // what runs, then what waits
  std::optional<absl::Duration> longest_pause;
  std::optional<absl::Duration> longest_unannounced_pause;
  bool attentive = false;
  std::optional<Progress> progress;
};

enum class AlarmKind { kUnspecified, kHangLine, kCoreHalt, kProcessExit };

struct Alarm {
  AlarmKind kind = AlarmKind::kUnspecified;
  std::string text;
};

struct SampleReady {
  int64_t collection = 0;
  int64_t size_bytes = 0;
};

struct SnapshotReply {
  int64_t collection = 0;
  Snapshot snapshot;
};

struct HloReply {
  int64_t collection = 0;
  std::optional<Snapshot> snapshot;  // absent: `error` says why
  std::string error;
};

struct WhoIs {
  std::vector<IpAddress> addresses;  // IsReachable; at most kMaxAddressesAsked
};

struct ModuleText {
  std::string dump;  // not empty
  HloMatch match = HloMatch::kUnspecified;
  std::string gzip;  // not empty, at most kMaxModuleTextGzipBytes; nobody has looked into it
  bool cut = false;
};

struct ModuleTextReply {
  int64_t collection = 0;
  std::optional<ModuleText> text;  // absent: `error` says why
  std::string error;
};

struct ProbeReply {
  int64_t collection = 0;
  std::vector<Probe> probes;  // at most kMaxProbeTargets
  std::string error;          // why some were not made; empty: all were
};

using AgentMessage = std::variant<Hello, Heartbeat, Alarm, SampleReady, SnapshotReply, HloReply,
                                  WhoIs, ModuleTextReply, ProbeReply>;

// From the coordinator -----------------------------------------------------

struct Welcome {
  int32_t protocol_version = kProtocolVersion;
  std::string job_incarnation;
  absl::Duration heartbeat_interval;  // > 0
  absl::Duration attention_after;     // > 0
};

struct Collect {
  int64_t collection = 0;
  bool credit = false;
  absl::Duration deadline;                             // > 0
  std::optional<std::string> incident = std::nullopt;  // IsIncidentId; absent: remember none
};

struct Grant {
  int64_t collection = 0;
};

struct HloRequest {
  int64_t collection = 0;
  absl::Duration deadline;  // > 0
};

struct ModuleTextRequest {
  int64_t collection = 0;
  std::optional<std::string> module;
  std::string fingerprint;  // lower-case hex, not empty
  absl::Duration deadline;  // > 0
};

struct Cancel {
  int64_t collection = 0;
};

struct Concluded {
  std::string incident;  // IsIncidentId
};

struct PeerAddress {
  IpAddress address;  // IsReachable
  WorkerId worker;
};

struct Peers {
  std::vector<PeerAddress> peers;  // at most kMaxAddressesAsked
};

// A worker to be probed, and how to get there.
struct ProbeTarget {
  WorkerId peer;
  std::optional<std::string> nic;  // of the prober's host; not empty
  IpAddress address;               // IsReachable
  friend bool operator==(const ProbeTarget&, const ProbeTarget&) = default;
};

struct ProbeRequest {
  int64_t collection = 0;
  absl::Duration deadline;           // > 0
  std::vector<ProbeTarget> targets;  // at most kMaxProbeTargets
};

using CoordinatorMessage = std::variant<Welcome, Collect, Grant, HloRequest, ModuleTextRequest,
                                        Cancel, Concluded, Peers, ProbeRequest>;

// Conversion ---------------------------------------------------------------

// INVALID_ARGUMENT names the field that breaks a rule, e.g.
//   hello.worker.slice: index 4 is out of range (2 slices)
// FAILED_PRECONDITION: a Hello or Welcome of a protocol version that is not
// spoken here. An empty oneof (a message of a newer protocol) is UNIMPLEMENTED:
// the caller skips it. Durations are whole milliseconds; intervals and deadlines
// are at most a day.
absl::StatusOr<AgentMessage> AgentMessageFromWire(const v1::AgentMessage& message);
absl::StatusOr<CoordinatorMessage> CoordinatorMessageFromWire(
    const v1::CoordinatorMessage& message);

struct ParsedMessage {
  AgentMessage message;
  int64_t bytes = 0;   // on the wire
  int64_t memory = 0;  // that it takes, about
};
// As it came from the network, before anything is built from it: INVALID_ARGUMENT
// also for what is no protobuf, nests too deeply, would take more than
// kMaxMessageMemory, or holds a string that is not UTF-8.
absl::StatusOr<ParsedMessage> ParseAgentMessage(std::string_view bytes);

// Total. Strings are made UTF-8 and cut to what the receiver takes (limits.h);
// lists and numbers are the caller's to keep within the rules.
v1::AgentMessage ToWire(const AgentMessage& message);
v1::CoordinatorMessage ToWire(const CoordinatorMessage& message);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_MESSAGES_H_
