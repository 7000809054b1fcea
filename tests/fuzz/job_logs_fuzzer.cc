// Reads any bytes as the logs of a job: the evidence stays within its bounds and keeps its
// invariants, and there is a verdict, whoever the lines say they are of.
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "classifier/classify.h"
#include "classifier/logs/job_logs.h"
#include "classifier/logs/line_label.h"
#include "classifier/logs/lines.h"
#include "classifier/logs/section_heading.h"
#include "tests/fuzz/fuzzing.h"

namespace {

constexpr size_t kMaxEventsOfLog = 256;

void Check(const rapideye::logs::JobEvidence& evidence, size_t logs) {
  using rapideye::Require;
  std::set<rapideye::WorkerId> expected;
  for (const auto& worker : evidence.capture.header.expected_workers) {
    Require(worker.id.slice >= 0 && worker.id.task >= 0, "numbers are not negative");
    Require(expected.insert(worker.id).second, "each worker is expected once");
  }
  for (const auto& snapshot : evidence.capture.snapshots) {
    Require(expected.count(snapshot.worker) == 1, "who has a log is expected");
    Require(snapshot.log_events.size() <= logs * kMaxEventsOfLog, "events are bounded");
    for (const auto& event : snapshot.log_events) {
      Require(event.age_ms.value_or(0) >= 0, "ages are not negative");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace logs = rapideye::logs;
  if (size < 2) return 0;
  const absl::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t count = 1 + data[0] % 4;
  const auto form = static_cast<logs::LabelForm>(data[1] % logs::kLabelForms);
  logs::JobLogs job(logs::SignatureTable::BuiltIn());
  for (size_t i = 0; i < count; ++i) {
    logs::LogName name;
    name.path = absl::StrCat("rank-", i, ".log");
    job.Add(std::move(name));
  }
  // A label chooses the log; without one they take turns.
  size_t next = 0;
  const auto take = [&](absl::string_view line) {
    const auto label = logs::TakeLabel(line, form);
    rapideye::Require(!label || label->text <= line.size(), "a label stands within its line");
    rapideye::Require(logs::SectionName(line).size() <= line.size(),
                      "a heading names less than it says");
    const auto rank = label && label->rank ? static_cast<size_t>(*label->rank) : next++;
    job.Take(rank % count, label ? line.substr(label->text) : line, std::nullopt);
  };
  logs::LineSplitter splitter;
  splitter.Add(bytes, take);
  splitter.Finish(take);
  const logs::JobEvidence evidence = job.Finish(nullptr);
  Check(evidence, count);
  const rapideye::Verdict verdict = rapideye::ClassifyLogs(evidence.capture, evidence.logs);
  const double stated = verdict.confidence.value_or(0);
  rapideye::Require(stated >= 0 && stated <= 1, "a confidence is between 0 and 1");
  return 0;
}
