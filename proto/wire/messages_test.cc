#include "proto/wire/messages.h"

#include <gmock/gmock.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <functional>
#include <span>

#include "proto/wire/filled_message.h"
#include "proto/wire/limits.h"
#include "v1/agent.pb.h"

namespace rapideye::wire {
namespace {

using google::protobuf::util::MessageDifferencer;

// A message for each member of the oneof, with every field set.
template <typename Message>
std::vector<Message> OneOfEach() {
  std::vector<Message> out;
  const auto* oneof = Message::descriptor()->oneof_decl(0);
  for (int i = 0; i < oneof->field_count(); ++i) {
    Message& message = out.emplace_back();
    FillEveryField(*message.GetReflection()->MutableMessage(&message, oneof->field(i)));
  }
  return out;
}

TEST(MessagesTest, EveryAgentMessageSurvivesBothWays) {
  for (const v1::AgentMessage& message : OneOfEach<v1::AgentMessage>()) {
    absl::StatusOr<AgentMessage> value = AgentMessageFromWire(message);
    ASSERT_TRUE(value.ok()) << value.status() << message.DebugString();
    EXPECT_TRUE(MessageDifferencer::Equals(message, ToWire(*value))) << message.DebugString();
  }
}

TEST(MessagesTest, EveryCoordinatorMessageSurvivesBothWays) {
  for (const v1::CoordinatorMessage& message : OneOfEach<v1::CoordinatorMessage>()) {
    absl::StatusOr<CoordinatorMessage> value = CoordinatorMessageFromWire(message);
    ASSERT_TRUE(value.ok()) << value.status() << message.DebugString();
    EXPECT_TRUE(MessageDifferencer::Equals(message, ToWire(*value))) << message.DebugString();
  }
}

TEST(MessagesTest, EveryAlarmKindSurvivesBothWays) {
  for (AlarmKind kind : {AlarmKind::kUnspecified, AlarmKind::kHangLine, AlarmKind::kCoreHalt,
                         AlarmKind::kProcessExit}) {
    absl::StatusOr<AgentMessage> value = AgentMessageFromWire(ToWire(Alarm{kind, "text"}));
    ASSERT_TRUE(value.ok()) << value.status();
    EXPECT_EQ(std::get<Alarm>(*value).kind, kind);
  }
}

TEST(MessagesTest, AMessageOfANewerProtocolIsUnimplemented) {
  EXPECT_EQ(AgentMessageFromWire({}).status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(CoordinatorMessageFromWire({}).status().code(), absl::StatusCode::kUnimplemented);
}

TEST(MessagesTest, AnIntervalBelowAMillisecondIsNotSentAsZero) {
  const Collect collect{.collection = 1, .credit = true, .deadline = absl::Microseconds(10)};
  EXPECT_EQ(ToWire(collect).collect().deadline_ms(), 1);
}

template <typename Message>
struct Rule {
  const char* name;
  std::function<void(Message&)> break_it;
  std::function<void(Message&)> keep_it;
  const char* error;
  absl::StatusCode code = absl::StatusCode::kInvalidArgument;
};

template <typename Message, typename Parse>
void ExpectRule(const Rule<Message>& rule, const Message& base, Parse parse) {
  Message broken = base;
  rule.break_it(broken);
  const auto refused = parse(broken);
  ASSERT_FALSE(refused.ok()) << "accepted";
  EXPECT_EQ(refused.status().code(), rule.code);
  EXPECT_EQ(refused.status().message(), rule.error);

  Message kept = base;
  rule.keep_it(kept);
  EXPECT_TRUE(parse(kept).ok()) << parse(kept).status();
}

using A = v1::AgentMessage;
const Rule<A> kHelloRules[] = {
    {"NoWorker", [](A& m) { m.mutable_hello()->clear_worker(); },
     [](A& m) { m.mutable_hello()->mutable_worker()->Clear(); }, "hello.worker: is missing"},
    {"NoHost", [](A& m) { m.mutable_hello()->clear_host(); },
     [](A& m) { m.mutable_hello()->clear_node(); }, "hello.host: is missing"},
    {"NoIncarnation", [](A& m) { m.mutable_hello()->clear_agent_incarnation(); },
     [](A& m) { m.mutable_hello()->set_agent_incarnation(1); },
     "hello.agentIncarnation: must be above 0"},
    {"NegativeIncarnation", [](A& m) { m.mutable_hello()->set_agent_incarnation(-1); },
     [](A& m) { m.mutable_hello()->set_agent_incarnation(1'790'086'325'572'000); },
     "hello.agentIncarnation: -1 is negative"},
    {"NoSlices", [](A& m) { m.mutable_hello()->set_slices(0); },
     [](A& m) { m.mutable_hello()->clear_slices(); }, "hello.slices: must be above 0"},
    {"NoTasks", [](A& m) { m.mutable_hello()->set_tasks_per_slice(0); },
     [](A& m) { m.mutable_hello()->clear_tasks_per_slice(); },
     "hello.tasksPerSlice: must be above 0"},
    {"TooManyWorkers",
     [](A& m) {
       m.mutable_hello()->set_slices(1001);
       m.mutable_hello()->set_tasks_per_slice(1000);
     },
     [](A& m) {
       m.mutable_hello()->set_slices(1000);
       m.mutable_hello()->set_tasks_per_slice(1000);
     },
     "hello.slices: 1001 slices of 1000 tasks are too many (at most 1000000 workers)"},
    {"SliceOutOfRange", [](A& m) { m.mutable_hello()->mutable_worker()->set_slice(2); },
     [](A& m) { m.mutable_hello()->mutable_worker()->set_slice(1); },
     "hello.worker.slice: index 2 is out of range (2 slices)"},
    {"TaskOutOfRange", [](A& m) { m.mutable_hello()->mutable_worker()->set_task(2); },
     [](A& m) {
       m.mutable_hello()->mutable_worker()->set_task(2);
       m.mutable_hello()->clear_tasks_per_slice();
     },
     "hello.worker.task: index 2 is out of range (2 tasks)"},
    {"NoPollInterval", [](A& m) { m.mutable_hello()->clear_poll_interval_ms(); },
     [](A& m) { m.mutable_hello()->set_poll_interval_ms(1); },
     "hello.pollIntervalMs: must be above 0"},
    {"EndlessPollInterval",
     [](A& m) { m.mutable_hello()->set_poll_interval_ms(kMaxIntervalMs + 1); },
     [](A& m) { m.mutable_hello()->set_poll_interval_ms(kMaxIntervalMs); },
     "hello.pollIntervalMs: 86400001 is too large (at most 86400000)"},
    {"LongHost", [](A& m) { m.mutable_hello()->set_host(std::string(kMaxNameBytes + 1, 'h')); },
     [](A& m) { m.mutable_hello()->set_host(std::string(kMaxNameBytes, 'h')); },
     "hello.host: a string of 16385 bytes is too long (at most 16384)"},
    {"NamelessNic", [](A& m) { m.mutable_hello()->mutable_addresses(1)->clear_nic(); },
     [](A& m) { m.mutable_hello()->mutable_addresses(1)->set_nic("eth1"); },
     "hello.addresses[1].nic: is missing"},
    {"AddressOfNoLength", [](A& m) { m.mutable_hello()->mutable_addresses(0)->set_ip("12345"); },
     [](A& m) { m.mutable_hello()->mutable_addresses(0)->set_ip("1234"); },
     "hello.addresses[0].ip: 5 bytes are no address (4 or 16 are)"},
    {"AddressOfTheMetadataServer",
     [](A& m) { m.mutable_hello()->mutable_addresses(0)->set_ip("\xa9\xfe\xa9\xfe"); },
     [](A& m) { m.mutable_hello()->mutable_addresses(0)->set_ip("\xa9\xfd\xa9\xfe"); },
     "hello.addresses[0].ip: 169.254.169.254 is no address that other hosts can use"},
    {"TooManyAddresses",
     [](A& m) {
       while (m.hello().addresses_size() <= Hello::kMaxAddresses) {
         *m.mutable_hello()->add_addresses() = m.hello().addresses(0);
       }
     },
     [](A& m) {
       while (m.hello().addresses_size() < Hello::kMaxAddresses) {
         *m.mutable_hello()->add_addresses() = m.hello().addresses(0);
       }
     },
     "hello.addresses: 65 entries are too many (at most 64)"},
    {"VersionTooOld", [](A& m) { m.mutable_hello()->set_protocol_version(0); },
     [](A& m) { m.mutable_hello()->set_protocol_version(kOldestProtocolVersion); },
     "hello.protocolVersion: 0 is not spoken here (1 to 3); run agents and coordinator of "
     "neighbouring releases",
     absl::StatusCode::kFailedPrecondition},
    {"VersionTooNew", [](A& m) { m.mutable_hello()->set_protocol_version(4); },
     [](A& m) { m.mutable_hello()->set_protocol_version(kNewestProtocolVersion); },
     "hello.protocolVersion: 4 is not spoken here (1 to 3); run agents and coordinator of "
     "neighbouring releases",
     absl::StatusCode::kFailedPrecondition},
    {"IncidentThatIsAPath",
     [](A& m) { m.mutable_hello()->mutable_incident()->set_incident("../../etc/passwd"); },
     [](A& m) { m.mutable_hello()->mutable_incident()->set_incident("20260131T235959Z-0123abcd"); },
     "hello.incident.incident: is not of the form 20260131T235959Z-0123abcd"},
    {"NoConnection", [](A& m) { m.mutable_hello()->set_connection(0); },
     [](A& m) { m.mutable_hello()->set_connection(1); }, "hello.connection: must be above 0"},
    {"NegativeConnection", [](A& m) { m.mutable_hello()->set_connection(-1); },
     [](A& m) { m.mutable_hello()->clear_connection(); }, "hello.connection: -1 is negative"},
};

const Rule<A> kHeartbeatRules[] = {
    {"NegativeCompleted", [](A& m) { m.mutable_heartbeat()->set_launches_completed(-1); },
     [](A& m) { m.mutable_heartbeat()->set_launches_completed(0); },
     "heartbeat.launchesCompleted: -1 is negative"},
    {"NegativeSince", [](A& m) { m.mutable_heartbeat()->set_since_completion_ms(-1); },
     [](A& m) { m.mutable_heartbeat()->clear_since_completion_ms(); },
     "heartbeat.sinceCompletionMs: -1 is negative"},
    {"NegativeUnannouncedPause",
     [](A& m) { m.mutable_heartbeat()->set_longest_unannounced_pause_ms(-1); },
     [](A& m) { m.mutable_heartbeat()->set_longest_unannounced_pause_ms(0); },
     "heartbeat.longestUnannouncedPauseMs: -1 is negative"},
    {"NegativePhase", [](A& m) { m.mutable_heartbeat()->mutable_progress()->set_phase_ms(-1); },
     [](A& m) { m.mutable_heartbeat()->mutable_progress()->set_phase_ms(0); },
     "heartbeat.progress.phaseMs: -1 is negative"},
    {"NegativePause", [](A& m) { m.mutable_heartbeat()->set_longest_pause_ms(-1); },
     [](A& m) { m.mutable_heartbeat()->set_longest_pause_ms(0); },
     "heartbeat.longestPauseMs: -1 is negative"},
    {"NoFingerprint", [](A& m) { m.mutable_heartbeat()->mutable_programs(1)->clear_fingerprint(); },
     [](A& m) { m.mutable_heartbeat()->mutable_programs(1)->clear_module(); },
     "heartbeat.programs[1].fingerprint: is missing"},
    {"NegativeLongest",
     [](A& m) { m.mutable_heartbeat()->mutable_programs(1)->set_longest_ms(-2); },
     [](A& m) { m.mutable_heartbeat()->mutable_programs(1)->clear_longest_ms(); },
     "heartbeat.programs[1].longestMs: -2 is negative"},
    {"QueuedWithoutFingerprint",
     [](A& m) { m.mutable_heartbeat()->mutable_queue(0)->set_fingerprint("xyz"); },
     [](A& m) { m.mutable_heartbeat()->mutable_queue(0)->set_launch_id(-1); },
     "heartbeat.queue[0].fingerprint: is not lower-case hex"},
    {"ManyPrograms",
     [](A& m) {
       while (m.heartbeat().programs_size() <= Heartbeat::kMaxPrograms) {
         m.mutable_heartbeat()->add_programs()->set_fingerprint("ab");
       }
     },
     [](A& m) {
       while (m.heartbeat().programs_size() < Heartbeat::kMaxPrograms) {
         m.mutable_heartbeat()->add_programs()->set_fingerprint("ab");
       }
     },
     "heartbeat.programs: 1025 entries are too many (at most 1024)"},
};

const Rule<A> kReplyRules[] = {
    {"NoSnapshot", [](A& m) { m.mutable_snapshot()->clear_snapshot(); },
     [](A& m) { m.mutable_snapshot()->set_collection(0); }, "snapshot.snapshot: is missing"},
    {"NegativeCollection", [](A& m) { m.mutable_snapshot()->set_collection(-1); },
     [](A& m) { m.mutable_snapshot()->set_collection(1); }, "snapshot.collection: -1 is negative"},
    {"SnapshotIsChecked",
     [](A& m) { m.mutable_snapshot()->mutable_snapshot()->mutable_cores(0)->set_index(-1); },
     [](A& m) { m.mutable_snapshot()->mutable_snapshot()->mutable_cores(0)->set_index(1); },
     "snapshot.snapshot.cores[0].index: -1 is negative"},
    {"NeitherSnapshotNorError", [](A& m) { m.mutable_hlo(); },
     [](A& m) { m.mutable_hlo()->set_error("deadline"); },
     "hlo.snapshot: is missing, and so is an error that says why"},
    {"HloSnapshotIsChecked", [](A& m) { m.mutable_hlo()->mutable_snapshot(); },
     [](A& m) { m.mutable_hlo()->mutable_snapshot()->mutable_worker(); },
     "hlo.snapshot.worker: is missing"},
    {"NeitherTextNorError", [](A& m) { m.mutable_module_text()->set_collection(1); },
     [](A& m) { m.mutable_module_text()->set_error(""); },
     "moduleText.text: is missing, and so is an error that says why"},
    {"TextOfNothing", [](A& m) { m.mutable_module_text()->mutable_text()->set_dump("d"); },
     [](A& m) {
       m.mutable_module_text()->mutable_text()->set_dump("d");
       m.mutable_module_text()->mutable_text()->set_gzip("g");
     },
     "moduleText.text.gzip: is missing"},
    {"HugeText",
     [](A& m) {
       m.mutable_module_text()->mutable_text()->set_dump("d");
       m.mutable_module_text()->mutable_text()->set_gzip(
           std::string(ModuleText::kMaxGzipBytes + 1, 'g'));
     },
     [](A& m) {
       m.mutable_module_text()->mutable_text()->set_dump("d");
       m.mutable_module_text()->mutable_text()->set_gzip(
           std::string(ModuleText::kMaxGzipBytes, 'g'));
     },
     "moduleText.text.gzip: 8323073 bytes are too many (at most 8323072)"},
    {"HugeTextWithTheFilesBeside",
     [](A& m) {
       m.mutable_module_text()->mutable_text()->set_dump("d");
       m.mutable_module_text()->mutable_text()->set_gzip(
           std::string(ModuleText::kMaxGzipBytes - 1, 'g'));
       m.mutable_module_text()->mutable_text()->set_flags_gzip("f");
       m.mutable_module_text()->mutable_text()->set_before_gzip("b");
     },
     [](A& m) {
       m.mutable_module_text()->mutable_text()->set_dump("d");
       m.mutable_module_text()->mutable_text()->set_gzip(
           std::string(ModuleText::kMaxGzipBytes - 2, 'g'));
       m.mutable_module_text()->mutable_text()->set_flags_gzip("f");
       m.mutable_module_text()->mutable_text()->set_before_gzip("b");
     },
     "moduleText.text.gzip: has 8323073 bytes together with the files beside it (at most "
     "8323072)"},
    {"ProbeOfNobody", [](A& m) { m.mutable_probes()->add_probes(); },
     [](A& m) { m.mutable_probes()->add_probes()->mutable_peer(); },
     "probes.probes[0].peer: is missing"},
    {"TooManyProbes",
     [](A& m) {
       while (m.probes().probes_size() <= ProbeReply::kMaxProbes) {
         m.mutable_probes()->add_probes()->mutable_peer();
       }
     },
     [](A& m) {
       while (m.probes().probes_size() < ProbeReply::kMaxProbes) {
         m.mutable_probes()->add_probes()->mutable_peer();
       }
     },
     "probes.probes: 17 entries are too many (at most 16)"},
    {"NegativeSize", [](A& m) { m.mutable_sample_ready()->set_size_bytes(-1); },
     [](A& m) { m.mutable_sample_ready()->set_size_bytes(0); },
     "sampleReady.sizeBytes: -1 is negative"},
    {"LongAlarm", [](A& m) { m.mutable_alarm()->set_text(std::string(kMaxTextBytes + 1, 'x')); },
     [](A& m) { m.mutable_alarm()->set_text(std::string(kMaxTextBytes, 'x')); },
     "alarm.text: a string of 1048577 bytes is too long (at most 1048576)"},
};

const Rule<A> kWhoIsRules[] = {
    {"AskedAboutTheLoopback", [](A& m) { m.mutable_who_is()->set_ip(1, "\x7f\x01\x01\x01"); },
     [](A& m) { m.mutable_who_is()->set_ip(1, "\x0a\x01\x01\x01"); },
     "whoIs.ip[1]: 127.1.1.1 is no address that other hosts can use"},
    {"AskedAboutTooMany",
     [](A& m) {
       while (m.who_is().ip_size() <= WhoIs::kMaxAddresses) m.mutable_who_is()->add_ip("1234");
     },
     [](A& m) {
       while (m.who_is().ip_size() < WhoIs::kMaxAddresses) m.mutable_who_is()->add_ip("1234");
     },
     "whoIs.ip: 65 entries are too many (at most 64)"},
};

using C = v1::CoordinatorMessage;

// Adds a sound target to a request that is sound otherwise.
v1::ProbeTarget* Target(C& m) {
  m.mutable_probe()->set_deadline_ms(1);
  v1::ProbeTarget* target = m.mutable_probe()->add_targets();
  target->mutable_peer();
  target->set_ip("1234");
  return target;
}

const Rule<C> kCoordinatorRules[] = {
    {"NoHeartbeatInterval", [](C& m) { m.mutable_welcome()->clear_heartbeat_interval_ms(); },
     [](C& m) { m.mutable_welcome()->set_heartbeat_interval_ms(1); },
     "welcome.heartbeatIntervalMs: must be above 0"},
    {"NegativeAttention", [](C& m) { m.mutable_welcome()->set_attention_after_ms(-1); },
     [](C& m) { m.mutable_welcome()->set_attention_after_ms(1); },
     "welcome.attentionAfterMs: -1 is negative"},
    {"VersionTooNew", [](C& m) { m.mutable_welcome()->set_protocol_version(4); },
     [](C& m) { m.mutable_welcome()->set_protocol_version(3); },
     "welcome.protocolVersion: 4 is not spoken here (1 to 3); run agents and coordinator of "
     "neighbouring releases",
     absl::StatusCode::kFailedPrecondition},
    {"NoDeadline", [](C& m) { m.mutable_collect()->set_collection(1); },
     [](C& m) { m.mutable_collect()->set_deadline_ms(1); }, "collect.deadlineMs: must be above 0"},
    {"NegativeGrant", [](C& m) { m.mutable_grant()->set_collection(-1); },
     [](C& m) { m.mutable_grant()->set_collection(1); }, "grant.collection: -1 is negative"},
    {"EndlessHloDeadline", [](C& m) { m.mutable_hlo()->set_deadline_ms(kMaxIntervalMs + 1); },
     [](C& m) { m.mutable_hlo()->set_deadline_ms(kMaxIntervalMs); },
     "hlo.deadlineMs: 86400001 is too large (at most 86400000)"},
    {"TextOfNoProgram", [](C& m) { m.mutable_module_text()->set_deadline_ms(1); },
     [](C& m) {
       m.mutable_module_text()->set_deadline_ms(1);
       m.mutable_module_text()->set_fingerprint("aa");
     },
     "moduleText.fingerprint: is missing"},
    {"NegativeCancel", [](C& m) { m.mutable_cancel()->set_collection(-1); },
     [](C& m) { m.mutable_cancel()->set_collection(0); }, "cancel.collection: -1 is negative"},
    {"CollectForNoIncident",
     [](C& m) {
       m.mutable_collect()->set_deadline_ms(1);
       m.mutable_collect()->set_incident("");
     },
     [](C& m) { m.mutable_collect()->set_deadline_ms(1); },
     "collect.incident: is not of the form 20260131T235959Z-0123abcd"},
    {"PeerNobody", [](C& m) { m.mutable_peers()->add_peers()->set_ip("1234"); },
     [](C& m) {
       m.mutable_peers()->add_peers()->set_ip("1234");
       m.mutable_peers()->mutable_peers(0)->mutable_worker();
     },
     "peers.peers[0].worker: is missing"},
    {"TargetWithoutPeer", [](C& m) { Target(m)->clear_peer(); }, [](C& m) { Target(m); },
     "probe.targets[0].peer: is missing"},
    {"TargetByANicWithoutName", [](C& m) { Target(m)->set_nic(""); },
     [](C& m) { Target(m)->set_nic("eth1"); }, "probe.targets[0].nic: is empty"},
    {"TargetOnThisHost", [](C& m) { Target(m)->set_ip(std::string("\x7f\0\0\x01", 4)); },
     [](C& m) { Target(m)->set_ip(std::string("\x0a\0\0\x01", 4)); },
     "probe.targets[0].ip: 127.0.0.1 is no address that other hosts can use"},
    {"TargetOfEverybody", [](C& m) { Target(m)->set_ip("\xff\xff\xff\xff"); },
     [](C& m) { Target(m)->set_ip("\x0a\xff\xff\xff"); },
     "probe.targets[0].ip: 255.255.255.255 is no address that other hosts can use"},
    {"TooManyTargets",
     [](C& m) {
       while (m.probe().targets_size() <= ProbeRequest::kMaxTargets) Target(m);
     },
     [](C& m) {
       while (m.probe().targets_size() < ProbeRequest::kMaxTargets) Target(m);
     },
     "probe.targets: 17 entries are too many (at most 16)"},
    {"ConcludedWhat",
     [](C& m) { m.mutable_concluded()->set_incident("20260131T235959Z-0123ABCD"); },
     [](C& m) { m.mutable_concluded()->set_incident("20260131T235959Z-0123abcd"); },
     "concluded.incident: is not of the form 20260131T235959Z-0123abcd"},
};

TEST(MessagesTest, RulesOfAgentMessages) {
  A hello, heartbeat, reply, who_is;
  FillEveryField(*hello.mutable_hello());
  FillEveryField(*heartbeat.mutable_heartbeat());
  FillEveryField(*reply.mutable_snapshot());
  FillEveryField(*who_is.mutable_who_is());
  for (const auto& [rules, base] :
       {std::pair(std::span<const Rule<A>>(kHelloRules), &hello),
        std::pair(std::span<const Rule<A>>(kHeartbeatRules), &heartbeat),
        std::pair(std::span<const Rule<A>>(kReplyRules), &reply),
        std::pair(std::span<const Rule<A>>(kWhoIsRules), &who_is)}) {
    for (const Rule<A>& rule : rules) {
      SCOPED_TRACE(rule.name);
      ExpectRule(rule, *base, AgentMessageFromWire);
    }
  }
}

TEST(MessagesTest, RulesOfCoordinatorMessages) {
  C welcome;
  FillEveryField(*welcome.mutable_welcome());
  for (const Rule<C>& rule : kCoordinatorRules) {
    SCOPED_TRACE(rule.name);
    ExpectRule(rule, welcome, CoordinatorMessageFromWire);
  }
}

}  // namespace
}  // namespace rapideye::wire
