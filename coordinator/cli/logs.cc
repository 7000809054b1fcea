#include "coordinator/cli/logs.h"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/log/fetch_signatures.h"
#include "agent/sources/log/limits.h"
#include "classifier/logs/context.h"
#include "classifier/logs/lines.h"
#include "classifier/logs/log_line.h"
#include "classifier/logs/recognise.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/progress.h"
#include "coordinator/cli/standard_input.h"
#include "digest/report_json.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/text/safe_text.h"
#include "proto/wire/evidence_wire.h"
#include "proto/wire/json_writer.h"

namespace rapideye::cli {
namespace {

// Output is written in pieces of about this size.
constexpr size_t kOutputBytes = 64 * 1024;

// Reads a file as it is, or its content if it is compressed.
using Input = std::unique_ptr<gzFile_s, int (*)(gzFile)>;

Input Open(const std::string& path) {
  return {path == kStandardInput ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path.c_str(), "rb"),
          gzclose_r};
}

std::string ErrorOf(const Input& input) {
  int code = Z_OK;
  const char* text = gzerror(input.get(), &code);
  return code == Z_ERRNO ? std::strerror(errno) : text;
}

// Writes one line: where, what, and the fields of a capture's logEvents; for a hang line also the
// fields of the runtime's report.
void AppendEvent(const std::string& path, int64_t number, const logs::LogLine& line,
                 std::string& out) {
  nlohmann::ordered_json object = {{"file", path}, {"line", number}};
  std::string event;
  wire::AppendJson(wire::LogEventToWire(line.event), event);
  object.update(nlohmann::ordered_json::parse(event));
  if (const auto& report = line.hang_report) {
    object["pendingGraphs"] = report->pending_graphs;
    object["completed"] = report->completed;
    object["stepGloballyInProgress"] = report->step_globally_in_progress;
    object["timeoutMs"] = report->timeout_ms;
  }
  absl::StrAppend(&out, digest::Dump(object, /*pretty=*/false), "\n");
}

// "train.log:12: CORE_HALT: Core halted unexpectedly: …", for people.
void AppendText(const std::string& path, int64_t number, const logs::LogLine& line,
                std::string& out) {
  absl::StrAppend(&out, ShownPath(path), ":", number, ": ",
                  v1::LogEvent::Kind_Name(wire::LogEventToWire(line.event).kind()), ": ",
                  text::EscapeText(line.event.text, text::kMaxSentenceBytes), "\n");
}

}  // namespace

LogsCommand::LogsCommand(CLI::App& app)
    : Command(app, "logs", "Find errors and warnings of TPU training in log files, offline") {
  program::AddArgument(this->app(), "FILE", files_, "Log files, plain or gzip; - is standard input")
      .Required();
  AddFormat(format_, "output format; json: one object per event; text: one line");
  program::AddFlag(this->app(), "all", all_, "also prints lines that healthy runs write (BENIGN)");
  program::AddFlag(this->app(), "log-signatures", signatures_file_,
                   "file of the site's own patterns of log lines, beside the built-in ones "
                   "(format: deploy/BESIDE_A_JOB.md)");
}

int LogsCommand::Run() {
  const absl::StatusOr<logs::SignatureTable> signatures =
      agent::ReadSignatureTable(signatures_file_);
  if (!signatures.ok()) return Fail(signatures.status());
  bool all_read = true;
  for (const std::string& path : files_) {
    const Outcome outcome = ReadFile(path, *signatures);
    if (outcome == Outcome::kUnwritten) return program::kExitFailure;
    all_read = all_read && outcome == Outcome::kRead;
  }
  if (!found_ && all_read && format_ == "text") {
    const char* rest = all_ ? "" : "; --all also prints what healthy runs write";
    if (!Print(absl::StrCat("no events", rest, "\n"))) return program::kExitFailure;
  }
  return all_read ? program::kExitOk : program::kExitUsage;
}

LogsCommand::Outcome LogsCommand::ReadFile(const std::string& path,
                                           const logs::SignatureTable& signatures) {
  logs::RecogniseOptions options;
  options.signatures = &signatures;
  options.kernel_words = true;
  options.outcomes = true;
  logs::LineSplitter splitter;
  logs::LogContext context;
  std::string out;
  const auto take = [&](absl::string_view line) {
    context.Take(line, options, [&](const logs::LogLine& found) {
      if (found.event.kind == LogKind::kBenign && !all_) return;
      found_ = true;
      if (format_ == "text") {
        AppendText(path, splitter.number(), found, out);
      } else {
        AppendEvent(path, splitter.number(), found, out);
      }
    });
  };
  const Progress progress(absl::StrCat("reading ", ShownPath(path)));
  errno = 0;
  Input input = Open(path);
  const int error = errno;
  std::string broken;
  if (input == nullptr) {
    broken = error == ENOENT
                 ? "there is no such file; give the log of a training process, or - for "
                   "standard input"
                 : std::strerror(error);
  }
  std::string buffer(agent::kLogReadBytes, '\0');
  while (broken.empty()) {
    const int n = gzread(input.get(), buffer.data(), static_cast<unsigned>(buffer.size()));
    if (n < 0) broken = ErrorOf(input);
    if (n <= 0) break;
    splitter.Add(absl::string_view(buffer.data(), static_cast<size_t>(n)), take);
    if (out.size() >= kOutputBytes && !Print(std::exchange(out, {}))) return Outcome::kUnwritten;
  }
  splitter.Finish(take);
  if (!out.empty() && !Print(out)) return Outcome::kUnwritten;
  // gzread reports no error for a compressed file that was cut short.
  if (broken.empty() && gzclose_r(input.release()) == Z_BUF_ERROR) {
    broken = "the compressed data is cut short";
  }
  if (broken.empty()) return Outcome::kRead;
  Complain(absl::StrCat(ShownPath(path), ": ", broken));
  return Outcome::kBroken;
}

}  // namespace rapideye::cli
