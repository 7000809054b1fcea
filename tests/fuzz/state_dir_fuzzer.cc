// Reads any bytes as each file that a coordinator or a remover reads back: a refusal of a kind that
// its reader knows, or a value that survives the way back, within its bounds. The first byte
// chooses.
#include <algorithm>
#include <cstdint>
#include <string>

#include "coordinator/core/limits.h"
#include "coordinator/fleet/records/record_json.h"
#include "coordinator/removal/hooks/incident_event.h"
#include "coordinator/removal/tenant_machines.h"
#include "coordinator/removal/worker/removal_record.h"
#include "coordinator/store/incident_notes.h"
#include "coordinator/store/incident_summary.h"
#include "coordinator/store/learnt_file.h"
#include "coordinator/store/pause_file.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using namespace rapideye;               // NOLINT: a fuzz target
using namespace rapideye::coordinator;  // NOLINT

// Reads the text, writes what was read, and reads that again: the same text.
template <typename Parse, typename Render>
auto ThereAndBack(const std::string& text, Parse parse, Render render) {
  const auto value = parse(text);
  if (!value.ok()) {
    Require(absl::IsInvalidArgument(value.status()), "refusals are INVALID_ARGUMENT");
    return value;
  }
  const std::string there = render(*value);
  const auto back = parse(there);
  Require(back.ok(), "what was accepted is accepted again", back.status().ToString() + there);
  Require(render(*back) == there, "and is the same", there);
  return value;
}

void TryHooks(const std::string& text) {
  const auto record = ThereAndBack(text, ParseRemovalRecord, RenderRemovalRecord);
  if (!record.ok()) return;
  Require(record->revision >= 0 && record->revision <= 1000, "revisions are few");
  Require(record->published >= 0 && record->published <= 1000, "here, too");
  for (const Task& task : record->hooks) {
    Require(task.subject.empty() && task.attempts >= 0, "an own hook is of no machine");
    Require(EventOf(task.incident).revision <= record->revision, "no hook of a later digest");
    Require(!IsUnfinished(task) || task.expires != absl::InfiniteFuture(), "a hook expires");
  }
}

void TrySummary(const std::string& text) {
  const auto summary = SummariseDigest(text);
  if (!summary.ok()) return;
  Require(!summary->cause.empty(), "a cause is named");
  Require(summary->culprits.size() <= std::min(kMaxListedCulprits, summary->culprit_hosts),
          "culprits are bounded");
}

void TryLearnt(const std::string& text) {
  const auto pauses = ThereAndBack(text, ParseLearnt, LearntText);
  if (!pauses.ok()) return;
  Require(pauses->learnt.pause >= absl::ZeroDuration() && pauses->learnt.pause <= kMaxLearntPause,
          "no pause is longer than any may be");
}

// Readers see the texts of notes with their control characters escaped.
template <typename Parse, typename Render>
void TryNote(const std::string& text, Parse parse, Render render) {
  const auto note = parse(text);
  if (!note.ok()) {
    Require(absl::IsInvalidArgument(note.status()), "refusals are INVALID_ARGUMENT");
    return;
  }
  const std::string there = render(*note);
  Require(parse(there).ok(), "what was accepted is accepted again", there);
  Require(std::all_of(there.begin(), there.end(),
                      [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= 0x20; }),
          "a note holds no control characters");
}

void TryMachines(const std::string& text) {
  const auto machines = ParseTenantMachines(text);
  if (!machines.ok()) {
    Require(absl::IsInvalidArgument(machines.status()), "refusals name the line");
    return;
  }
  for (const TenantMachine& machine : *machines) {
    Require(!machine.role.empty() && !machine.names.empty(), "a line names a role and a machine");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 8) {
    case 0:
      TryHooks(text);
      break;
    case 1:
      (void)ThereAndBack(text, ParseRecord, RenderRecord);
      break;
    case 2:
      TrySummary(text);
      break;
    case 3:
      TryLearnt(text);
      break;
    case 4:
      (void)ThereAndBack(text, ParsePause, PauseText);
      break;
    case 5:
      TryNote(text, ParseEnd, EndText);
      break;
    case 6:
      TryNote(text, ParseAcknowledgement, AcknowledgementText);
      break;
    default:
      TryMachines(text);
  }
  return 0;
}
