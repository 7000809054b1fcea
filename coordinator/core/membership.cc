#include "coordinator/core/membership.h"

#include <algorithm>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

absl::Status CheckIndex(const char* field, int32_t index, std::optional<int32_t> count,
                        const char* whose) {
  if (index < 0)
    return absl::InvalidArgumentError(absl::StrCat(field, ": ", index, " is negative"));
  if (count.has_value() && index >= *count) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, ": ", index, " is out of range: ", whose, " ", *count));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsLoopback(const std::string& host) {
  return host.starts_with("127.") || host.starts_with("ipv4:127.") || host == "[::1]" ||
         host == "ipv6:%5B::1%5D" || host == "ipv6:[::1]" || host.starts_with("unix");
}

std::string Quoted(const std::string& text) {
  if (text.size() <= kMaxQuoted) return absl::StrCat("'", absl::CHexEscape(text), "'");
  return absl::StrCat("'", absl::CHexEscape(text.substr(0, kMaxQuoted)), "...'");
}

std::string DebugName(const Member& member) {
  const WorkerId& worker = member.hello.worker;
  return absl::StrFormat("slice %d task %d (%s)", worker.slice, worker.task,
                         absl::CHexEscape(member.hello.host.substr(0, kMaxQuoted)));
}

absl::Status Membership::CheckIdentity(const wire::Hello& hello) const {
  if (hello.protocol_version < wire::kOldestProtocolVersion ||
      hello.protocol_version > wire::kNewestProtocolVersion) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "hello.protocolVersion: %d is not spoken here (%d to %d are); install agent and "
        "coordinator of the same release",
        hello.protocol_version, wire::kOldestProtocolVersion, wire::kNewestProtocolVersion));
  }
  if (!configured_.job.empty() && hello.job != configured_.job) {
    return absl::InvalidArgumentError(
        absl::StrCat("hello.job: ", Quoted(hello.job), " is not this coordinator's job ",
                     Quoted(configured_.job), "; check --job and --coordinator of the agent"));
  }
  const WorkerId& worker = hello.worker;
  for (const absl::Status& status :
       {CheckIndex("hello.worker.slice", worker.slice, configured_.slices, "the job's --slices is"),
        CheckIndex("hello.worker.task", worker.task, configured_.tasks_per_slice,
                   "the job's --tasks-per-slice is"),
        CheckIndex("hello.worker.slice", worker.slice, hello.slices, "hello.slices is"),
        CheckIndex("hello.worker.task", worker.task, hello.tasks_per_slice,
                   "hello.tasksPerSlice is")}) {
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Membership::CheckSuccession(const Member& member, const wire::Hello& hello,
                                         const std::string& identity) {
  if (member.stream.has_value() && identity != member.identity) {
    return absl::PermissionDeniedError(absl::StrFormat(
        "an agent with the certificate %s speaks for %s, and this one's is %s; it may take over "
        "once that one has gone",
        Quoted(member.identity), DebugName(member), Quoted(identity)));
  }
  const int64_t known = member.hello.agent_incarnation;
  if (hello.agent_incarnation > known) return absl::OkStatus();
  // Incarnations are of the agent's clock, which may have been stepped back, or of
  // another host's clock: an older incarnation is refused to protect a connected agent,
  // and none is connected.
  if (hello.agent_incarnation < known && !member.stream.has_value()) return absl::OkStatus();
  const bool both_count = hello.connection.has_value() && member.hello.connection.has_value();
  const bool same_agent = hello.agent_incarnation == known && hello.host == member.hello.host;
  const bool newer =
      both_count ? *hello.connection > *member.hello.connection : !member.stream.has_value();
  if (!same_agent || !newer) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "hello.agentIncarnation: %d; an agent with incarnation %d already speaks for %s; make "
        "sure that each worker has one agent and a task number of its own",
        hello.agent_incarnation, known, DebugName(member)));
  }
  if (member.stream.has_value() && member.takeovers >= kMaxTakeovers) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "streams of agent %d of %s have driven each other out %d times; make sure that it is one "
        "agent. It may come back once the last of them has gone",
        known, DebugName(member), member.takeovers));
  }
  return absl::OkStatus();
}

absl::StatusOr<Membership::Admission> Membership::Admit(StreamId stream, const wire::Hello& hello,
                                                        const Peer& peer) {
  if (by_stream_.contains(stream)) {
    return absl::InvalidArgumentError("hello: a second one on the same stream");
  }
  for (const absl::Status& status : {CheckIdentity(hello), CheckAgentIncarnation(hello, peer.now),
                                     CheckAgentIdentity(rules_, peer.names, hello)}) {
    if (!status.ok()) return status;
  }
  Admission admission;
  admission.worker = hello.worker;
  int takeovers = 0;
  auto found = members_.find(hello.worker);
  if (found == members_.end()) {
    if (static_cast<int64_t>(members_.size()) >= kMaxWorkers) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("more than %d workers are too many for one coordinator", kMaxWorkers));
    }
    const auto of_host = members_at_.find(peer.host);
    if (!CertificatesNameWorkers() && of_host != members_at_.end() &&
        of_host->second >= kMaxStreamsOfHost && !peer.host.empty() && !IsLoopback(peer.host)) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("agents at %s have spoken for %d workers; no host has more", peer.host,
                          kMaxStreamsOfHost));
    }
  } else {
    const Member& member = found->second;
    if (absl::Status status = CheckSuccession(member, hello, peer.identity); !status.ok()) {
      return status;
    }
    admission.superseded = member.stream;
    admission.new_agent = hello.agent_incarnation != member.hello.agent_incarnation;
    if (!admission.new_agent && member.stream.has_value()) takeovers = member.takeovers + 1;
    if (member.stream.has_value()) {
      by_stream_.erase(*member.stream);
      WithdrawVote(member);
    }
    retired_.erase(hello.worker);
    if (--members_at_[member.address] == 0) members_at_.erase(member.address);
  }
  if (configured_.job.empty()) configured_.job = hello.job;
  const absl::Status direct = CheckDirectEvidence(rules_, peer.names, hello);
  if (absl::IsFailedPrecondition(direct)) admission.not_direct = std::string(direct.message());
  members_[hello.worker] = Member{.hello = hello,
                                  .stream = stream,
                                  .identity = peer.identity,
                                  .address = peer.host,
                                  .voter = VoterOf(peer),
                                  .direct_evidence = direct.ok(),
                                  .takeovers = takeovers};
  by_stream_[stream] = hello.worker;
  ++members_at_[peer.host];
  CastVote(members_.at(hello.worker));
  return admission;
}

std::string Membership::VoterOf(const Peer& peer) const {
  return CertificatesNameWorkers() && !peer.identity.empty() ? peer.identity : peer.host;
}

std::optional<WorkerId> Membership::Leave(StreamId stream) {
  auto found = by_stream_.find(stream);
  if (found == by_stream_.end()) return std::nullopt;
  const WorkerId worker = found->second;
  Member& member = members_.at(worker);
  WithdrawVote(member);
  member.stream.reset();
  member.takeovers = 0;
  by_stream_.erase(found);
  return worker;
}

void Membership::CastVote(const Member& member) {
  const std::optional<Shape> shape = StatedShape(member.hello);
  if (shape.has_value()) ++shape_votes_[*shape][member.voter];
}

void Membership::WithdrawVote(const Member& member) {
  const std::optional<Shape> shape = StatedShape(member.hello);
  if (!shape.has_value()) return;
  std::map<std::string, int64_t>& voters = shape_votes_[*shape];
  if (--voters[member.voter] == 0) voters.erase(member.voter);
  if (voters.empty()) shape_votes_.erase(*shape);
  if (shape_votes_.empty()) last_stated_ = shape;
}

void Membership::AnnounceLeave(const WorkerId& worker) {
  if (auto found = members_.find(worker); found != members_.end()) found->second.leaving = true;
}

void Membership::Retire(const WorkerId& worker) {
  const Member* member = Find(worker);
  if (member == nullptr || member->stream.has_value()) return;
  retired_.insert(worker);
}

int64_t Membership::Slots(const Shape& shape) const {
  const auto inside = std::count_if(retired_.begin(), retired_.end(), [&](const WorkerId& id) {
    return id.slice < shape.slices && id.task < shape.tasks_per_slice;
  });
  return int64_t{shape.slices} * shape.tasks_per_slice - inside;
}

const Member* Membership::Find(const WorkerId& worker) const {
  auto found = members_.find(worker);
  return found == members_.end() ? nullptr : &found->second;
}

const Member* Membership::FindByStream(StreamId stream) const {
  auto found = by_stream_.find(stream);
  return found == by_stream_.end() ? nullptr : Find(found->second);
}

std::optional<Membership::Shape> Membership::StatedShape(const wire::Hello& hello) const {
  const std::optional<int32_t> slices =
      configured_.slices.has_value() ? configured_.slices : hello.slices;
  const std::optional<int32_t> tasks =
      configured_.tasks_per_slice.has_value() ? configured_.tasks_per_slice : hello.tasks_per_slice;
  if (!slices.has_value() || !tasks.has_value() || int64_t{*slices} * *tasks > kMaxWorkers) {
    return std::nullopt;
  }
  return Shape{*slices, *tasks};
}

std::optional<Membership::Shape> Membership::LearntShape() const {
  if (configured_.slices.has_value() && configured_.tasks_per_slice.has_value()) {
    return Shape{*configured_.slices, *configured_.tasks_per_slice};
  }
  // One wrong Hello must not invent thousands of missing workers, nor one host with many Hellos.
  const std::optional<Shape> stated = MostStated();
  return stated.has_value() ? stated : last_stated_;
}

std::optional<Membership::Shape> Membership::MostStated() const {
  std::optional<Shape> most;
  std::pair<size_t, int64_t> votes;
  for (const auto& [shape, voters] : shape_votes_) {
    int64_t workers = 0;
    for (const auto& [voter, count] : voters) workers += count;
    if (most.has_value() && std::pair(voters.size(), workers) <= votes) continue;
    votes = {voters.size(), workers};
    most = shape;
  }
  return most;
}

std::vector<ExpectedWorker> Membership::Expected() const {
  std::map<WorkerId, ExpectedWorker> expected;
  const std::optional<Shape> shape = LearntShape();
  if (shape.has_value()) {
    for (int32_t slice = 0; slice < shape->slices; ++slice) {
      for (int32_t task = 0; task < shape->tasks_per_slice; ++task) {
        const WorkerId id{slice, task};
        expected[id].id = id;
      }
    }
  }
  for (const WorkerId& id : retired_) expected.erase(id);
  for (const auto& [id, member] : members_) {
    const bool inside = !shape.has_value() || expected.contains(id);
    if (retired_.contains(id) || (!inside && !member.stream.has_value())) continue;
    expected[id] = ExpectedWorker{.id = id, .host = member.hello.host, .node = member.hello.node};
  }
  std::vector<ExpectedWorker> result;
  result.reserve(expected.size());
  for (auto& [id, worker] : expected) result.push_back(std::move(worker));
  return result;
}

bool Membership::Complete() const {
  if (connected() < members_.size() - retired_.size() || connected() == 0) return false;
  const std::optional<Shape> shape = LearntShape();
  // Without a shape it is not known which other workers may come.
  return shape.has_value() && static_cast<int64_t>(connected()) >= Slots(*shape);
}

bool Membership::MostAreThere() const {
  const std::optional<Shape> shape = LearntShape();
  return shape.has_value() && 2 * static_cast<int64_t>(connected()) > Slots(*shape);
}

std::optional<std::string> Membership::Generation() const {
  std::map<std::string, int64_t> votes;
  for (const auto& [id, member] : members_) {
    if (member.hello.generation.has_value()) ++votes[*member.hello.generation];
  }
  auto most = std::max_element(votes.begin(), votes.end(),
                               [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == votes.end()) return std::nullopt;
  return most->first;
}

void Attribute(const Member& member, Snapshot& snapshot) {
  const wire::Hello& hello = member.hello;
  const bool direct = member.direct_evidence;
  snapshot.direct_evidence = direct;
  snapshot.host = hello.host;
  // A trusted agent's certificate was compared only with its Hello, not with the snapshot.
  if (direct || hello.node.has_value()) snapshot.node = hello.node;
  if (direct || hello.hardware.has_value()) snapshot.hardware = hello.hardware;
  if (hello.pod.has_value()) snapshot.pod = hello.pod;
}

}  // namespace rapideye::coordinator
