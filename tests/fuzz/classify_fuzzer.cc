// Any valid capture through the classifier, all renderers and the pseudonyms: nothing of a worker
// gets into a digest as more than text, order and repetition change no verdict, and names can be
// taken out of whatever can be read.
#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "digest/digest.h"
#include "digest/render_html.h"
#include "digest/report_json.h"
#include "proto/capture/capture_reader.h"
#include "proto/capture/pseudonyms.h"
#include "tests/fuzz/fuzzing.h"

namespace rapideye {
namespace {

// Far more than a digest of so few bytes of evidence needs.
constexpr size_t kMostBytes = size_t{4} << 20;

std::string Told(const Capture& capture) {
  const Verdict verdict = Classify(capture);
  Require(verdict.confidence.value_or(0) >= 0 && verdict.confidence.value_or(0) <= 1,
          "a confidence is between 0 and 1");
  std::string told = absl::StrCat(std::string(CauseName(verdict.cause)), "/",
                                  std::string(DetailName(verdict.detail)));
  for (const Culprit& culprit : verdict.culprits) {
    absl::StrAppend(&told, " ", culprit.worker.slice, "/", culprit.worker.task);
  }
  return told;
}

template <typename T>
void Repeat(std::vector<T>& list) {
  const std::vector<T> once = list;
  list.insert(list.end(), once.begin(), once.end());
}

void CheckRenderers(const Capture& capture) {
  const digest::Report report = digest::BuildReport(capture, Classify(capture), {});
  for (const auto format : {digest::TextFormat::kClassic, digest::TextFormat::kGrouped}) {
    const std::string text =
        absl::StrCat(digest::RenderText(report, format), digest::RenderExplanation(report));
    Require(text.size() <= kMostBytes, "a digest is bounded");
    Require(std::all_of(text.begin(), text.end(),
                        [](char c) {
                          return c == '\n' || (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F);
                        }),
            "a digest holds no control characters");
  }
  const std::string json = digest::Dump(digest::ReportToJson(report), /*pretty=*/false);
  Require(json.size() <= kMostBytes && nlohmann::json::accept(json), "its JSON is JSON");
  Require(digest::RenderHtml(report).find("<script>alert") == std::string::npos,
          "a page holds no markup of a worker");
}

void Fuzz(const std::string& bytes) {
  std::istringstream in(bytes);
  absl::StatusOr<Capture> capture = wire::ReadCapture(in);
  if (!capture.ok()) return;
  const std::string told = Told(*capture);
  CheckRenderers(*capture);

  const absl::StatusOr<Capture> renamed = wire::Pseudonymise(*capture, {}, {});
  Require(renamed.ok(), "names can be replaced", renamed.status().ToString());

  std::reverse(capture->snapshots.begin(), capture->snapshots.end());
  for (Snapshot& snapshot : capture->snapshots) {
    Repeat(snapshot.nics);
    Repeat(snapshot.probes);
    Repeat(snapshot.stacks);
    Repeat(snapshot.settings);
  }
  Require(Told(*capture) == told, "order and repetition change nothing", told);
}

}  // namespace
}  // namespace rapideye

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  rapideye::QuietProtobuf();
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  rapideye::Fuzz(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
