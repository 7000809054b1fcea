// Membership lists the workers of the job and the stream that speaks for each.
//
// Agents are untrusted: a Hello is admitted or refused here, and nowhere else.
#ifndef RAPIDEYE_COORDINATOR_CORE_MEMBERSHIP_H_
#define RAPIDEYE_COORDINATOR_CORE_MEMBERSHIP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "coordinator/core/agent_identity.h"
#include "coordinator/core/events.h"
#include "proto/v1/evidence.h"
#include "proto/wire/messages.h"

namespace rapideye::coordinator {

// The shape of the job as the operator states it; absent fields are learnt.
struct JobShape {
  std::string job;  // empty: the job of the first worker
  std::optional<int32_t> slices;
  std::optional<int32_t> tasks_per_slice;
};

// The peer at the other end of a stream, and the time of its Hello.
struct Peer {
  std::string identity = {};            // of its certificate, in one text; empty without TLS
  std::vector<std::string> names = {};  // in its certificate
  std::string host = {};                // its address, without the port
  absl::Time now = absl::InfiniteFuture();
};

// True for a peer on this host itself, by its address without the port.
bool IsLoopback(const std::string& address);

// A worker that said Hello at least once.
struct Member {
  wire::Hello hello;               // its latest
  std::optional<StreamId> stream;  // absent: not connected now
  std::string identity;            // of its agent's certificate
  std::string address;             // of its agent, without the port
  std::string voter;               // Membership::VoterOf
  bool direct_evidence = false;    // the agent's word on its machine is beyond the job's reach
  // Number of streams of this agent that replaced a stream which was still there,
  // since a stream last ended by itself.
  int takeovers = 0;
  bool leaving = false;  // the agent has announced that it leaves the job on purpose
};

class Membership {
 public:
  explicit Membership(JobShape configured, IdentityRules rules = {})
      : configured_(std::move(configured)), rules_(std::move(rules)) {}

  struct Admission {
    WorkerId worker;
    // The stream that spoke for this worker until now, which must be closed.
    std::optional<StreamId> superseded;
    // The agent is another process than the agent that spoke for the worker last.
    bool new_agent = true;
    // The operator trusts the agent with its machine, but the certificate does not name the
    // machine: the name that it lacks; empty: it lacks none.
    std::string not_direct = {};
  };

  // Admits a worker, or returns the reason of the refusal. A stream that is still there gives
  // way to a newer agent at once, and to a newer connection of the same agent: the agent knows
  // better than the coordinator that the old one is half-open.
  //   FAILED_PRECONDITION  protocol version out of range
  //   INVALID_ARGUMENT     foreign job; slice or task out of the job's shape, or
  //                        out of the shape that the Hello itself states; a
  //                        second Hello on one stream; an incarnation of the future
  //   ALREADY_EXISTS       a newer agent, or a newer connection of the same one,
  //                        speaks for this worker; or two agents that call
  //                        themselves the same drive each other out
  //   PERMISSION_DENIED    its certificate is of another worker or machine; or an agent
  //                        with another certificate speaks for it: who comes from
  //                        elsewhere waits until that one has gone
  //   RESOURCE_EXHAUSTED   more workers than one coordinator takes, or one host has
  absl::StatusOr<Admission> Admit(StreamId stream, const wire::Hello& hello, const Peer& peer = {});

  // The stream has gone. Returns the worker that it still spoke for, if any.
  std::optional<WorkerId> Leave(StreamId stream);

  // The worker leaves the job on purpose. Holds until its next Hello.
  void AnnounceLeave(const WorkerId& worker);
  // The job goes on without this worker, which is not connected: it is not expected until it says
  // Hello again.
  void Retire(const WorkerId& worker);
  bool Retired(const WorkerId& worker) const { return retired_.contains(worker); }

  // nullptr if no worker of that id said Hello, or the stream is not admitted.
  const Member* Find(const WorkerId& worker) const;
  const Member* FindByStream(StreamId stream) const;

  const std::map<WorkerId, Member>& members() const { return members_; }
  size_t connected() const { return by_stream_.size(); }
  // A certificate speaks for the workers that it names, and for no other.
  bool CertificatesNameWorkers() const { return !rules_.templates.empty(); }
  // Peers with the same voter have one vote together: those of one certificate, where certificates
  // name workers, otherwise those of one address.
  std::string VoterOf(const Peer& peer) const;
  // The job's name; empty until it is configured or the first worker was admitted.
  const std::string& job() const { return configured_.job; }

  // Every worker of the job, sorted: those of the configured or learnt shape, and all that
  // connected. `host` is empty for a worker that never connected. Without the workers that the job
  // goes on without, and without those that have gone and lie outside of the shape that most
  // workers state now.
  std::vector<ExpectedWorker> Expected() const;
  // True if every expected worker is connected.
  bool Complete() const;
  // True if more than half of the workers that the shape asks for are connected.
  bool MostAreThere() const;
  // The chip generation that most workers state.
  std::optional<std::string> Generation() const;

 private:
  struct Shape {
    int32_t slices = 0;
    int32_t tasks_per_slice = 0;
    friend auto operator<=>(const Shape&, const Shape&) = default;
  };

  absl::Status CheckIdentity(const wire::Hello& hello) const;
  // Tells whether the agent may take the place of the agent that spoke last.
  static absl::Status CheckSuccession(const Member& member, const wire::Hello& hello,
                                      const std::string& identity);
  // The shape that a Hello states, completed by the configured one.
  std::optional<Shape> StatedShape(const wire::Hello& hello) const;
  std::optional<Shape> LearntShape() const;
  // Workers of the shape that are not retired.
  int64_t Slots(const Shape& shape) const;
  // Members' statements of the job's shape count while they are connected: an agent that says
  // Hello and goes, again and again, is no part of the job.
  void CastVote(const Member& member);
  void WithdrawVote(const Member& member);
  // The shape that most voters have a connected worker for; among several, that of most workers,
  // then the smallest.
  std::optional<Shape> MostStated() const;

  JobShape configured_;
  IdentityRules rules_;
  std::map<WorkerId, Member> members_;
  absl::flat_hash_map<StreamId, WorkerId> by_stream_;
  std::map<Shape, std::map<std::string, int64_t>> shape_votes_;  // of connected workers, by voter
  std::optional<Shape> last_stated_;                             // by the last of them that left
  std::map<std::string, size_t> members_at_;                     // by address
  std::set<WorkerId> retired_;
};

// Admission has settled which worker this is, and whether its agent's word on the machine is beyond
// the job's reach: both replace the snapshot's own claims.
void Attribute(const Member& member, Snapshot& snapshot);

// "slice 0 task 3 (host-3)", safe for a log line.
std::string DebugName(const Member& member);
// Text of a peer, quoted, escaped and cut for a log line.
std::string Quoted(const std::string& text);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_CORE_MEMBERSHIP_H_
