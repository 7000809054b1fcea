#include "coordinator/cli/diagnose.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "coordinator/cli/output.h"
#include "digest/digest.h"
#include "digest/render_html.h"
#include "digest/report_json.h"
#include "proto/capture/capture_reader.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::cli {
namespace {

// One line; `capture` first, so that people find it.
std::string JsonLine(const std::string& path, const digest::Report& report, bool explain) {
  nlohmann::ordered_json line = {{"capture", path}};
  line.update(digest::ReportToJson(report));
  if (explain) {
    nlohmann::ordered_json reasons = nlohmann::ordered_json::array();
    for (const Reason& reason : report.reasons) {
      nlohmann::ordered_json step = {
          {"kind", ReasonKindName(reason.kind)}, {"rule", reason.rule}, {"text", reason.text}};
      if (reason.cause) step["cause"] = CauseName(*reason.cause);
      if (reason.certainty) step["certainty"] = *reason.certainty;
      reasons.push_back(std::move(step));
    }
    line["explain"] = std::move(reasons);
  }
  return digest::Dump(line, /*pretty=*/false) + "\n";
}

}  // namespace

Diagnose::Diagnose(CLI::App& app)
    : Command(app, "diagnose", "Find the cause of a hang in capture files, offline") {
  program::AddArgument(this->app(), "CAPTURE", captures_,
                       "Capture files: JSON Lines or binary, plain or gzip")
      .Required();
  program::AddFlag(this->app(), "format", format_,
                   "output format; json: one line per capture; html: a page for one capture")
      .Among({"text", "json", "html"});
  program::AddFlag(this->app(), "digest-format", digest_format_,
                   "layout of the TPU states in text; grouped: as newer TPU runtimes print them")
      .Among({"classic", "grouped"});
  program::AddFlag(this->app(), "explain", explain_, "adds the steps that led to the verdict");
}

int Diagnose::Run() {
  if (format_ == "html" && captures_.size() > 1) {
    Complain("--format=html makes a page for one capture; call it once for each");
    return program::kExitUsage;
  }
  const auto text_format =
      digest_format_ == "grouped" ? digest::TextFormat::kGrouped : digest::TextFormat::kClassic;
  bool all_read = true;
  bool first = true;
  for (const std::string& path : captures_) {
    const absl::StatusOr<Capture> capture = wire::ReadCaptureFile(path);
    if (!capture.ok()) {
      all_read = false;
      Complain(
          absl::StrCat(ShownPath(path), ": ", ShownPath(std::string(capture.status().message()))));
      continue;
    }
    const digest::Report report = digest::BuildReport(*capture, Classify(*capture), {});
    std::string text;
    if (format_ == "json") {
      text = JsonLine(path, report, explain_);
    } else if (format_ == "html") {
      text = digest::RenderHtml(report);
    } else {
      if (captures_.size() > 1)
        text = absl::StrCat(first ? "" : "\n", "==> ", ShownPath(path), " <==\n");
      text += digest::RenderText(report, text_format);
      if (explain_) text += digest::RenderExplanation(report);
    }
    first = false;
    if (!Print(text)) return program::kExitFailure;
  }
  return all_read ? program::kExitOk : program::kExitUsage;
}

}  // namespace rapideye::cli
