#include "coordinator/cli/diagnose.h"

#include <re2/re2.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/string_view.h"
#include "agent/sources/log/fetch_signatures.h"
#include "classifier/classify.h"
#include "classifier/logs/worker_names.h"
#include "coordinator/cli/join_logs.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/progress.h"
#include "digest/digest.h"
#include "digest/explain_json.h"
#include "digest/render_html.h"
#include "digest/report_json.h"
#include "proto/capture/capture_reader.h"
#include "proto/common/flags/command_line.h"

namespace rapideye::cli {
namespace {

absl::Status NeitherCaptureNorLog(const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrCat(std::string(status.message()),
                                   "; nor is it a log: no line is as a training job logs it"));
}

// In a job that counts ranks, culprits state their ranks.
void AddRanks(const digest::Report& report, nlohmann::ordered_json& culprits) {
  for (auto& culprit : culprits) {
    const WorkerId id{culprit["slice"].get<int32_t>(), culprit["task"].get<int32_t>()};
    const auto worker =
        std::find_if(report.workers.begin(), report.workers.end(),
                     [id](const digest::ReportWorker& one) { return one.id == id; });
    if (worker != report.workers.end()) culprit["rank"] = worker - report.workers.begin();
  }
}

// One line of JSON; the files stand first, so that people find them.
std::string JsonLine(const std::string& capture, const std::vector<std::string>& logs,
                     const digest::Report& report, bool explain) {
  nlohmann::ordered_json line = nlohmann::ordered_json::object();
  if (!capture.empty()) line["capture"] = capture;
  if (!logs.empty()) line["logs"] = logs;
  line.update(digest::ReportToJson(report));
  if (capture.empty()) {
    AddRanks(report, line["culprits"]);
    for (auto& alternative : line["alternatives"]) AddRanks(report, alternative["culprits"]);
    line["lacking"] = report.lacking;
  }
  if (explain) {
    line["explain"]["steps"] = digest::StepsJson(report);
  } else {
    line.erase("explain");
  }
  return digest::Dump(line, /*pretty=*/false) + "\n";
}

// The part that the names of the logs of one job share: "rank-.log" of "rank-3.log", also where the
// first worker is called the master or the chief.
std::string SharedName(absl::string_view path) {
  std::string rest;
  for (const char c : path) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) rest.push_back(c);
  }
  return absl::StrReplaceAll(rest, {{"master", "worker"}, {"chief", "worker"}});
}

void ComplainOf(const std::string& path, const absl::Status& status) {
  if (absl::IsNotFound(status)) {
    return Complain(absl::StrCat(
        ShownPath(path),
        ": there is no such file; give a capture (rapideye show ID "
        "--format=capture > FILE writes one), or the logs of the job, a file for each worker"));
  }
  const std::string problem = ShownPath(std::string(status.message()));
  const bool named = absl::StartsWith(problem, absl::StrCat(ShownPath(path), " "));
  Complain(named ? problem : absl::StrCat(ShownPath(path), ": ", problem));
}

}  // namespace

Diagnose::Diagnose(CLI::App& app)
    : Command(app, "diagnose",
              "Find the cause of a hang in captures, or in a job's logs, offline") {
  program::AddArgument(this->app(), "FILE", files_,
                       "Captures (JSON Lines or binary), or the logs of one job: a file for each "
                       "worker, one file of all with a label before each line, or an export of "
                       "Cloud Logging; plain or gzip; - is standard input")
      .Required();
  AddFormat(format_,
            "output format; json: one line for each capture, or one for all logs; html: a "
            "page, of one capture only",
            {"text", "json", "html"});
  program::AddFlag(
      this->app(), "digest-format", digest_format_,
      "layout of the TPU states in text; grouped: the layout that newer TPU runtimes print")
      .Among({"classic", "grouped"});
  program::AddFlag(this->app(), "worker-from", worker_from_,
                   "regular expression (RE2) that finds the number of the worker in a log's label, "
                   "pod or path: one group around it, or groups named rank, or slice and task; "
                   "needed if they are named in no usual way");
  program::AddFlag(this->app(), "log-signatures", signatures_file_,
                   "file of the site's own patterns of log lines, beside the built-in ones "
                   "(format: deploy/BESIDE_A_JOB.md)");
  program::AddFlag(this->app(), "explain", explain_, "adds the steps that led to the verdict");
}

int Diagnose::Run() {
  const Progress progress("diagnosing");
  if (const int status = ReadStandardInput(); status != program::kExitOk) return status;
  if (!SortFiles()) return program::kExitUsage;
  bool all_read = true;
  if (!logs_.empty()) {
    all_read = DiagnoseLogs();
  } else {
    for (const std::string& path : captures_) {
      all_read = DiagnoseCapture(path) && all_read;
      if (unwritten_) break;
    }
  }
  if (unwritten_) return program::kExitFailure;
  return all_read ? program::kExitOk : program::kExitUsage;
}

// Returns the program's exit status if the command cannot go on.
int Diagnose::ReadStandardInput() {
  const auto times = std::count(files_.begin(), files_.end(), kStandardInput);
  if (times > 1) {
    Complain("-: standard input can be read once only");
    return program::kExitUsage;
  }
  if (times == 0) return program::kExitOk;
  const absl::Status status = input_.Copy();
  if (status.ok()) return program::kExitOk;
  ComplainOf(kStandardInput, status);
  return absl::IsInvalidArgument(status) ? program::kExitUsage : program::kExitFailure;
}

// The path that holds the bytes of a file.
const std::string& Diagnose::PathOf(const std::string& file) const {
  return file == kStandardInput ? input_.path() : file;
}

// False, with a complaint: the files do not fit together.
bool Diagnose::SortFiles() {
  std::vector<FileContent> contents;
  std::set<std::string> names_of_logs;
  for (const std::string& path : files_) {
    contents.push_back(ContentOf(PathOf(path)));
    if (contents.back() == FileContent::kLog) names_of_logs.insert(SharedName(path));
  }
  for (size_t i = 0; i < files_.size(); ++i) {
    // A worker may have printed only two numbers: its peers' logs tell that the file is a log.
    const bool text = contents[i] == FileContent::kText;
    const bool like_a_log = text && names_of_logs.contains(SharedName(files_[i]));
    if (contents[i] == FileContent::kCapture || (text && !like_a_log)) {
      captures_.push_back(files_[i]);
    } else {
      logs_.push_back(files_[i]);
      contents_.push_back(text ? FileContent::kLog : contents[i]);
    }
  }
  if (!logs_.empty() && captures_.size() > 1) {
    Complain(absl::StrCat(ShownPath(logs_.front()), ": logs beside several captures (",
                          ShownPath(captures_[0]), ", ", ShownPath(captures_[1]),
                          ", …): of which job they are, nothing tells; give one capture at most"));
    return false;
  }
  if (format_ == "html" && captures_.size() > 1) {
    Complain("--format=html makes a page for one capture; call it once for each");
    return false;
  }
  return true;
}

std::optional<logs::JobEvidence> Diagnose::ReadLogs() const {
  const RE2 pattern(worker_from_, RE2::Quiet);
  if (!worker_from_.empty()) {
    if (absl::Status status = logs::CheckWorkerPattern(pattern); !status.ok()) {
      Complain(absl::StrCat("--worker-from: ", status.message()));
      return std::nullopt;
    }
  }
  const absl::StatusOr<logs::SignatureTable> signatures =
      agent::ReadSignatureTable(signatures_file_);
  if (!signatures.ok()) {
    Fail(signatures.status());
    return std::nullopt;
  }
  logs::JobLogs job(*signatures);
  bool all_read = true;
  {
    std::vector<std::string> paths;
    for (const std::string& file : logs_) paths.push_back(PathOf(file));
    LogFileReader reader(paths, job);
    for (size_t i = 0; i < logs_.size(); ++i) {
      const absl::Status status = reader.Read(logs_[i], paths[i], contents_[i]);
      if (!status.ok()) ComplainOf(logs_[i], status);
      all_read = all_read && status.ok();
    }
  }
  if (!all_read) return std::nullopt;
  return job.Finish(worker_from_.empty() ? nullptr : &pattern);
}

// True if every file was read.
bool Diagnose::DiagnoseLogs() {
  std::optional<logs::JobEvidence> evidence = ReadLogs();
  if (captures_.empty()) {
    if (!evidence) return false;
    digest::ReportContext context;
    context.logs = &evidence->logs;
    Show({.capture = "", .logs = logs_},
         digest::BuildReport(evidence->capture, ClassifyLogs(evidence->capture, evidence->logs),
                             context));
    return true;
  }
  absl::StatusOr<Capture> capture = wire::ReadCaptureFile(PathOf(captures_.front()));
  if (!capture.ok()) {
    ComplainOf(captures_.front(), capture.status());
    return false;
  }
  if (!evidence) return false;
  if (absl::Status status = JoinLogs(*evidence, *capture); !status.ok()) {
    ComplainOf(captures_.front(), status);
    return false;
  }
  Show({.capture = captures_.front(), .logs = logs_},
       digest::BuildReport(*capture, Classify(*capture), {}));
  return true;
}

bool Diagnose::DiagnoseCapture(const std::string& path) {
  const absl::StatusOr<Capture> capture = wire::ReadCaptureFile(PathOf(path));
  if (!capture.ok()) {
    // An error of JSON alone would puzzle whoever took the file for a log.
    const absl::string_view packed = CompressionOf(PathOf(path));
    absl::Status status = capture.status();
    if (!packed.empty()) {
      status = absl::InvalidArgumentError(
          absl::StrCat("is compressed with ", packed, ": unpack it first (gzip is read as it is)"));
    } else if (ContentOf(PathOf(path)) == FileContent::kText) {
      status = NeitherCaptureNorLog(status);
    }
    ComplainOf(path, status);
    return false;
  }
  Show({.capture = path, .logs = {}}, digest::BuildReport(*capture, Classify(*capture), {}));
  return true;
}

void Diagnose::Show(const Subject& subject, const digest::Report& report) {
  std::string text;
  if (format_ == "json") {
    text = JsonLine(subject.capture, subject.logs, report, explain_);
  } else if (format_ == "html") {
    text = digest::RenderHtml(report);
  } else {
    if (captures_.size() > 1) {
      text = absl::StrCat(shown_ == 0 ? "" : "\n", "==> ", ShownPath(subject.capture), " <==\n");
    }
    text += digest::RenderText(report, digest_format_ == "grouped" ? digest::TextFormat::kGrouped
                                                                   : digest::TextFormat::kClassic);
    if (explain_) text += digest::RenderExplanation(report);
  }
  ++shown_;
  unwritten_ = !Print(text);
}

}  // namespace rapideye::cli
