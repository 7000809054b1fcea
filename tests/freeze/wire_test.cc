// Agents and coordinators say the same, byte for byte, as when it was frozen.
#include <google/protobuf/descriptor.h>
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/time.h"
#include "proto/wire/messages.h"
#include "tests/freeze/frozen_file.h"
#include "tests/freeze/sha256.h"
#include "tests/scenarios/scenario.h"
#include "tests/sim/options.h"
#include "tests/sim/simulation.h"
#include "v1/agent.pb.h"
#include "v1/capture.pb.h"
#include "v1/operator.pb.h"
#include "v1/runtime_status.pb.h"
#include "v1/tpu_telemetry.pb.h"

namespace rapideye::freeze {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using google::protobuf::Message;
using google::protobuf::MethodDescriptor;
using google::protobuf::ServiceDescriptor;

// The schema ---------------------------------------------------------------------

std::string Describe(const FieldDescriptor& field) {
  std::string text = absl::StrCat(field.full_name(), " = ", field.number(), ": ");
  if (field.is_repeated()) absl::StrAppend(&text, field.is_packed() ? "packed " : "repeated ");
  if (field.has_optional_keyword()) absl::StrAppend(&text, "optional ");
  if (const auto* oneof = field.real_containing_oneof(); oneof != nullptr) {
    absl::StrAppend(&text, "of ", oneof->name(), " ");
  }
  absl::StrAppend(&text, field.type_name());
  if (field.message_type() != nullptr)
    absl::StrAppend(&text, " ", field.message_type()->full_name());
  if (field.enum_type() != nullptr) absl::StrAppend(&text, " ", field.enum_type()->full_name());
  return text + "\n";
}

std::string Describe(const EnumDescriptor& type) {
  std::string text;
  for (int i = 0; i < type.value_count(); ++i) {
    absl::StrAppend(&text, type.full_name(), ".", type.value(i)->name(), " = ",
                    type.value(i)->number(), "\n");
  }
  return text;
}

std::string Describe(const Descriptor& message) {
  std::string text = absl::StrCat("message ", message.full_name(), "\n");
  for (int i = 0; i < message.field_count(); ++i) text += Describe(*message.field(i));
  for (int i = 0; i < message.enum_type_count(); ++i) text += Describe(*message.enum_type(i));
  for (int i = 0; i < message.nested_type_count(); ++i) text += Describe(*message.nested_type(i));
  return text;
}

std::string Describe(const ServiceDescriptor& service) {
  std::string text;
  for (int i = 0; i < service.method_count(); ++i) {
    const MethodDescriptor& method = *service.method(i);
    absl::StrAppend(&text, "rpc ", method.full_name(), ": ",
                    method.client_streaming() ? "stream " : "", method.input_type()->full_name(),
                    " -> ", method.server_streaming() ? "stream " : "",
                    method.output_type()->full_name(), "\n");
  }
  return text;
}

std::string Describe(const FileDescriptor& file) {
  std::string text = absl::StrCat("file ", file.name(), "\n");
  for (int i = 0; i < file.service_count(); ++i) text += Describe(*file.service(i));
  for (int i = 0; i < file.message_type_count(); ++i) text += Describe(*file.message_type(i));
  for (int i = 0; i < file.enum_type_count(); ++i) text += Describe(*file.enum_type(i));
  return text;
}

// Names, numbers and types, of what is on the wire and in captures, and of what the TPU
// runtime speaks. Not the options of fields.
TEST(FrozenWire, Schema) {
  CompareText(
      "schema.txt",
      absl::StrCat(Describe(*v1::AgentMessage::descriptor()->file()), "\n",
                   Describe(*v1::CaptureRecord::descriptor()->file()), "\n",
                   Describe(*v1::GetStatusRequest::descriptor()->file()), "\n",
                   Describe(*tpu::monitoring::runtime::MetricRequest::descriptor()->file()), "\n",
                   Describe(*tpu_telemetry::CurrentCoreStateSummary::descriptor()->file())));
}

// Messages -----------------------------------------------------------------------

std::string ToJson(const Message& message) {
  google::protobuf::util::JsonPrintOptions options;
  options.preserve_proto_field_names = true;
  std::string json;
  const auto status = google::protobuf::util::MessageToJsonString(message, &json, options);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return json;
}

// "hello"; "" of a message that says nothing.
template <typename ProtoMessage>
std::string Kind(const ProtoMessage& message) {
  const FieldDescriptor* said = message.GetReflection()->GetOneofFieldDescriptor(
      message, ProtoMessage::descriptor()->oneof_decl(0));
  return said == nullptr ? "" : said->name();
}

// What a receiver makes of a message, said again; or why it refuses it.
std::string SaidAgain(const v1::AgentMessage& message) {
  const auto received = wire::ParseAgentMessage(message.SerializeAsString());
  if (!received.ok()) return received.status().ToString();
  return wire::ToWire(received->message).SerializeAsString();
}

std::string SaidAgain(const v1::CoordinatorMessage& message) {
  const auto received = wire::CoordinatorMessageFromWire(message);
  return received.ok() ? wire::ToWire(*received).SerializeAsString() : received.status().ToString();
}

// Messages of every kind, with every field, and with every field zero.
template <typename ProtoMessage>
void AddMessages(const std::string& from, FrozenFile& frozen) {
  const std::string path = absl::StrCat(FrozenFolder(), "/messages/", from, ".jsonl");
  std::ifstream in(path);
  std::map<std::string, int> kinds;
  for (std::string line; std::getline(in, line);) {
    ProtoMessage message;
    const auto status = google::protobuf::util::JsonStringToMessage(line, &message);
    ASSERT_TRUE(status.ok()) << path << ": " << status.ToString() << ": " << line;
    // Nothing of it is forgotten.
    ASSERT_EQ(ToJson(message), line) << path;
    const std::string subject = absl::StrCat(from, "/", Kind(message), "-", ++kinds[Kind(message)]);
    frozen.Add(subject, "bytes", message.SerializeAsString());
    frozen.Add(subject, "said-again", SaidAgain(message));
  }
  const int known = ProtoMessage::descriptor()->oneof_decl(0)->field_count();
  EXPECT_EQ(kinds.size(), static_cast<size_t>(known)) << path << " lacks a kind of message";
}

TEST(FrozenWire, EveryMessage) {
  FrozenFile frozen("messages",
                    "# SHA-256 of the messages in tests/freeze/messages as bytes, and of what a\n"
                    "# receiver makes of them.\n");
  AddMessages<v1::AgentMessage>("from-agent", frozen);
  AddMessages<v1::CoordinatorMessage>("from-coordinator", frozen);
  frozen.Compare();
}

// Conversations ------------------------------------------------------------------

std::vector<sim::Said> SaidIn(const sim::Options& options) {
  std::vector<sim::Said> said;
  const sim::Outcome outcome = Simulate(options, 0, &said);
  EXPECT_TRUE(outcome.failures.empty()) << sim::Describe(options);
  return said;
}

// Jobs that hang, heal and restart, networks that fail, agents of three versions.
constexpr uint64_t kConversations = 100;

TEST(FrozenWire, Conversations) {
  if (!kGeneratesAsFrozen) GTEST_SKIP() << kGeneratesOtherwise;
  FrozenFile frozen(
      "conversations",
      "# SHA-256 of all that agents and coordinator say in simulations, by seed: what\n"
      "# went either way and when, and what else was told (logs, ends of streams,\n"
      "# incidents).\n");
  for (uint64_t seed = 1; seed <= kConversations; ++seed) {
    std::map<std::string, std::string> sides;
    for (const sim::Said& said : SaidIn(sim::Draw(seed))) {
      const bool message = said.what == "agent" || said.what == "coordinator";
      absl::StrAppend(&sides[message ? said.what : "told"], absl::FormatDuration(said.at), " ",
                      said.what, " ", said.whom, " ", said.content.size(), " ", said.content, "\n");
    }
    for (const auto& [side, text] : sides) {
      frozen.Add(absl::StrFormat("seed-%03d", seed), side, text);
    }
  }
  frozen.Compare();
}

template <typename ProtoMessage>
std::string Line(const sim::Said& said, const std::string& who) {
  ProtoMessage message;
  EXPECT_TRUE(message.ParseFromString(said.content));
  EXPECT_EQ(SaidAgain(message), said.content);
  return absl::StrCat(absl::FormatDuration(said.at), " ", who, " ",
                      Sha256(said.content).substr(0, 16), " ", ToJson(message), "\n");
}

// The conversation with the worker that is asked the most, in full, as text.
std::string InFull(const sim::Options& options) {
  const std::vector<sim::Said> all = SaidIn(options);
  // Nobody connects twice: the first stream is the one of whom spoke first.
  std::map<int64_t, int64_t> worker_of;
  std::map<int64_t, int> asked;
  for (const sim::Said& said : all) {
    if (said.what == "agent") {
      v1::AgentMessage message;
      if (message.ParseFromString(said.content) && message.has_hello()) {
        worker_of.emplace(static_cast<int64_t>(worker_of.size()) + 1, said.whom);
      }
    } else if (said.what == "coordinator") {
      ++asked[worker_of.at(said.whom)];
    }
  }
  const auto most = std::max_element(
      asked.begin(), asked.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  std::string text = absl::StrCat("# ", sim::Describe(options), "\n");
  for (const sim::Said& said : all) {
    if (said.what == "agent" && said.whom == most->first) {
      text += Line<v1::AgentMessage>(said, "agent");
    } else if (said.what == "coordinator" && worker_of.at(said.whom) == most->first) {
      text += Line<v1::CoordinatorMessage>(said, "coordinator");
    }
  }
  return text;
}

// A small job on a network that does not fail.
sim::Options CalmHang(scenarios::Kind hang) {
  sim::Options options;
  options.seed = 2;
  options.max_workers = 4;
  options.fate = sim::Fate::kHang;
  options.hang = hang;
  options.fault_after = absl::Seconds(15);
  options.launch_threshold = absl::Seconds(6);
  options.collect_deadline = absl::Seconds(8);
  options.poll_interval = absl::Seconds(5);
  options.watches_host = true;
  options.agents_start_within = absl::Seconds(1);
  options.slowest_message = absl::Milliseconds(20);
  options.quiet_at = absl::Seconds(20);
  return options;
}

class Conversation : public testing::TestWithParam<scenarios::Kind> {};

TEST_P(Conversation, IsTheSame) {
  if (!kGeneratesAsFrozen) GTEST_SKIP() << kGeneratesOtherwise;
  CompareText(absl::StrCat("conversations/", std::string(scenarios::KindName(GetParam())), ".txt"),
              InFull(CalmHang(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(FrozenWire, Conversation,
                         testing::Values(scenarios::Kind::kChipCompute,
                                         scenarios::Kind::kModuleOneHost,
                                         scenarios::Kind::kProcessKilled),
                         [](const auto& info) {
                           std::string name(scenarios::KindName(info.param));
                           std::erase(name, '-');
                           return name;
                         });

}  // namespace
}  // namespace rapideye::freeze
