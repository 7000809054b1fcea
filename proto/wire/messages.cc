#include "proto/wire/messages.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "proto/wire/message_fields.h"

namespace rapideye::wire {
namespace {

// Checks the version before all other fields: in an unsupported version they may
// have another meaning.
absl::Status CheckVersion(absl::string_view name, int32_t version) {
  if (version >= kOldestProtocolVersion && version <= kNewestProtocolVersion) {
    return absl::OkStatus();
  }
  return absl::FailedPreconditionError(absl::StrCat(
      name, ".protocolVersion: ", version, " is not spoken here (", kOldestProtocolVersion, " to ",
      kNewestProtocolVersion, "); run agents and coordinator of neighbouring releases"));
}

// Checks the shape of the job that the environment states, and this worker's place in it.
void CheckShape(const FieldScope& at, const Hello& hello) {
  const int64_t slices = hello.slices.value_or(1);
  const int64_t tasks = hello.tasks_per_slice.value_or(1);
  if (slices * tasks > kMaxWorkers) {
    at.Fail("slices", absl::StrCat(slices, " slices of ", tasks, " tasks are too many (at most ",
                                   kMaxWorkers, " workers)"));
  }
  const FieldScope worker(at, "worker");
  if (hello.slices) worker.Index("slice", hello.worker.slice, hello.slices.value(), "slices");
  if (hello.tasks_per_slice) {
    worker.Index("task", hello.worker.task, hello.tasks_per_slice.value(), "tasks");
  }
}

// A reply holds its content or an error. The error may be empty, but must be present.
template <typename Reply>
void CheckAnswer(const FieldScope& at, absl::string_view member, bool present, const Reply& reply) {
  if (!present && !reply.has_error()) {
    at.Fail(member, "is missing, and so is an error that says why");
  }
}

// The parts of a text share the room of one.
void CheckRoom(const FieldScope& at, const v1::ModuleText& text) {
  const size_t bytes = text.gzip().size() + text.flags_gzip().size() + text.before_gzip().size();
  if (bytes <= size_t{ModuleText::kMaxGzipBytes}) return;
  at.Fail("gzip", absl::StrCat("has ", bytes, " bytes together with the files beside it (at most ",
                               ModuleText::kMaxGzipBytes, ")"));
}

}  // namespace

bool IsIncidentId(std::string_view text) {
  constexpr std::string_view kForm = "ddddddddTddddddZ-xxxxxxxx";
  if (text.size() != kForm.size()) return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const char c = text[i];
    const bool digit = c >= '0' && c <= '9';
    const bool fits = kForm[i] == 'd'   ? digit
                      : kForm[i] == 'x' ? digit || (c >= 'a' && c <= 'f')
                                        : c == kForm[i];
    if (!fits) return false;
  }
  return true;
}

absl::StatusOr<AgentMessage> AgentMessageFromWire(const v1::AgentMessage& m) {
  absl::Status error;
  AgentMessage out;
  if (m.has_hello()) error = CheckVersion("hello", m.hello().protocol_version());
  if (error.ok() && !FromWire(m, out, error)) {
    return absl::UnimplementedError("a message of a kind that this coordinator does not know");
  }
  if (const auto* hello = std::get_if<Hello>(&out); hello != nullptr && error.ok()) {
    CheckShape(FieldScope("hello", error), *hello);
  }
  if (m.has_hlo())
    CheckAnswer(FieldScope("hlo", error), "snapshot", m.hlo().has_snapshot(), m.hlo());
  if (m.has_module_text()) {
    const FieldScope reply("moduleText", error);
    CheckAnswer(reply, "text", m.module_text().has_text(), m.module_text());
    CheckRoom(FieldScope(reply, "text"), m.module_text().text());
  }
  if (!error.ok()) return error;
  return out;
}

absl::StatusOr<CoordinatorMessage> CoordinatorMessageFromWire(const v1::CoordinatorMessage& m) {
  absl::Status error;
  CoordinatorMessage out;
  if (m.has_welcome()) error = CheckVersion("welcome", m.welcome().protocol_version());
  if (error.ok() && !FromWire(m, out, error)) {
    return absl::UnimplementedError("a message of a kind that this agent does not know");
  }
  if (!error.ok()) return error;
  return out;
}

v1::AgentMessage ToWire(const AgentMessage& message) {
  v1::AgentMessage out;
  ToWire(message, out);
  // See CheckAnswer.
  if (out.has_hlo() && !out.hlo().has_snapshot() && !out.hlo().has_error()) {
    out.mutable_hlo()->set_error("");
  }
  if (out.has_module_text() && !out.module_text().has_text() && !out.module_text().has_error()) {
    out.mutable_module_text()->set_error("");
  }
  return out;
}

v1::CoordinatorMessage ToWire(const CoordinatorMessage& message) {
  v1::CoordinatorMessage out;
  ToWire(message, out);
  return out;
}

}  // namespace rapideye::wire
