#include "coordinator/cli/fleet/hook_trial.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "absl/time/clock.h"
#include "coordinator/cli/fleet/fleet_command.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/table.h"
#include "coordinator/removal/hooks/hook_environment.h"
#include "coordinator/removal/hooks/hook_process.h"
#include "coordinator/removal/removal_flags.h"
#include "digest/digest.h"
#include "digest/render_html.h"
#include "digest/report_json.h"
#include "proto/capture/capture_writer.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/process/signals.h"

namespace rapideye::cli {
namespace {

namespace fs = std::filesystem;
using coordinator::HookOutcome;
using coordinator::HookRun;

constexpr char kTestJob[] = "rapideye-hook-test";
constexpr char kTestHost[] = "test-host.invalid";  // a name that no machine can have (RFC 2606)

// The directory of an incident as a coordinator leaves it; gone with this object.
class InventedIncident {
 public:
  static absl::StatusOr<std::unique_ptr<InventedIncident>> Make(absl::Time now) {
    std::error_code error;
    std::string root = (fs::temp_directory_path(error) / "rapideye-hook-test-XXXXXX").string();
    if (error || mkdtemp(root.data()) == nullptr) {
      return absl::UnavailableError(absl::StrCat("cannot make a directory for the test's files, ",
                                                 root, "; set TMPDIR to where one may"));
    }
    std::unique_ptr<InventedIncident> incident(new InventedIncident(root, now));
    if (absl::Status status = incident->Write(); !status.ok()) return status;
    return incident;
  }
  ~InventedIncident() {
    std::error_code ignored;
    fs::remove_all(root_, ignored);
  }
  InventedIncident(const InventedIncident&) = delete;
  InventedIncident& operator=(const InventedIncident&) = delete;

  const std::string& id() const { return id_; }
  // The text of the first digest or the second.
  std::shared_ptr<const std::string> Json(int64_t revision) const {
    auto json = digest::ReportToJson(Report(revision));
    json["test"] = true;
    return std::make_shared<const std::string>(digest::Dump(json, /*pretty=*/true) + "\n");
  }

 private:
  InventedIncident(std::string root, absl::Time now)
      : root_(std::move(root)),
        id_(absl::StrCat(absl::FormatTime("%Y%m%dT%H%M%SZ", now, absl::UTCTimeZone()), "-7e57",
                         absl::StrFormat("%04x", static_cast<unsigned>(getpid()) & 0xffffU))) {
    CaptureHeader& header = capture_.header;
    header.job = kTestJob;
    header.trigger = "operator";
    header.detected_unix_ms = absl::ToUnixMillis(now);
    header.expected_workers.push_back({.id = {}, .host = kTestHost});
  }

  std::string PathOf(const char* file) const { return absl::StrCat(root_, "/", id_, "/", file); }

  digest::Report Report(int64_t revision) const {
    Verdict verdict;
    verdict.cause = Cause::kBadTpuChip;
    verdict.confidence = 0.5;
    Culprit& culprit = verdict.culprits.emplace_back();
    culprit.host = kTestHost;
    culprit.chip = 0;
    culprit.why = "a test";
    verdict.missing.push_back({});
    verdict.evidence.push_back(
        {.statement = "this incident was invented by rapideye hook-test; no job hangs",
         .strength = Strength::kWeak,
         .workers = {WorkerId{}}});
    verdict.actions.emplace_back().description = "Do nothing: this is a test of the hooks.";
    verdict.removal.reason = "a test";
    return digest::BuildReport(capture_, verdict,
                               {.incident_id = id_,
                                .timings = {},
                                .files = {.capture = PathOf("capture.jsonl.gz"),
                                          .json = PathOf("digest.json"),
                                          .text = PathOf("digest.txt"),
                                          .html = PathOf("digest.html")},
                                .revision = revision});
  }

  absl::Status Write() const {
    const digest::Report report = Report(1);
    const absl::StatusOr<std::string> capture =
        wire::WriteCapture(capture_, {.encoding = wire::Encoding::kJsonLines, .gzip = true});
    if (!capture.ok()) return capture.status();
    std::error_code error;
    fs::create_directory(fs::path(root_) / id_, error);
    for (const auto& [name, bytes] : std::vector<std::pair<const char*, std::string>>{
             {"capture.jsonl.gz", *capture},
             {"digest.json", *Json(1)},
             {"digest.txt", digest::RenderText(report, digest::TextFormat::kClassic)},
             {"digest.html", digest::RenderHtml(report)}}) {
      std::ofstream file(PathOf(name), std::ios::binary);
      if (!(file << bytes).flush()) {
        return absl::UnavailableError(absl::StrCat("cannot write ", PathOf(name)));
      }
    }
    return absl::OkStatus();
  }

  const std::string root_;
  const std::string id_;
  Capture capture_;
};

std::string TextOf(const HookRun& run, const HookOutcome& outcome) {
  std::string text = absl::StrFormat("%-9s %s %s: %s, after %.1f s\n", run.event,
                                     outcome.succeeded() ? "ok    " : "FAILED", Shown(run.hook),
                                     DescribeEnd(outcome), absl::ToDoubleSeconds(outcome.took));
  const std::string output =
      ShownDocument(std::string(absl::StripTrailingAsciiWhitespace(outcome.output)));
  if (!output.empty()) {
    absl::StrAppend(&text, "    ", absl::StrReplaceAll(output, {{"\n", "\n    "}}), "\n");
  }
  return text;
}

std::string JsonOf(const HookRun& run, const HookOutcome& outcome) {
  return digest::Dump({{"hook", run.hook},
                       {"event", run.event},
                       {"incident", run.incident},
                       {"ok", outcome.succeeded()},
                       {"outcome", DescribeEnd(outcome)},
                       {"seconds", absl::ToDoubleSeconds(outcome.took)},
                       {"output", outcome.output}},
                      /*pretty=*/false) +
         "\n";
}

}  // namespace

HookTestCommand::HookTestCommand(CLI::App& app)
    : Command(app, "hook-test",
              "Run hooks for an invented incident, marked as a test: where the coordinator runs, "
              "with its environment") {
  program::AddFlag(this->app(), "hook", hooks_,
                   "executable to try, as the coordinator's --hook names it; may be repeated");
  program::AddFlag(this->app(), "hook-timeout", timeout_,
                   "stops a hook that runs longer than this");
  AddFormat(format_, "output format; json: one object per run");
}

int HookTestCommand::Run() {
  if (hooks_.empty()) {
    return Fail(absl::InvalidArgumentError(
        "--hook: which hooks are to be tried? Give those of the coordinator"));
  }
  if (timeout_ <= absl::ZeroDuration()) {
    return Fail(absl::InvalidArgumentError("--hook-timeout: must be longer than 0s"));
  }
  if (absl::Status status = coordinator::CheckHooks(hooks_); !status.ok()) return Fail(status);
  absl::StatusOr<program::StopSignals> signals = program::StopSignals::Catch();
  if (!signals.ok()) return Fail(signals.status());
  const absl::Time now = absl::Now();
  const auto incident = InventedIncident::Make(now);
  if (!incident.ok()) return Fail(incident.status());
  const std::vector<std::string> environment = CallersEnvironment();
  bool all_succeeded = true;
  for (const char* event : {"opened", "changed", "recovered"}) {
    const bool opened = std::string_view(event) == "opened";
    for (const std::string& hook : hooks_) {
      HookRun run{.hook = hook,
                  .incident = (*incident)->id(),
                  .revision = opened ? 1 : 2,
                  .event = event,
                  .cause = std::string(CauseName(Cause::kBadTpuChip)),
                  .job = kTestJob,
                  .remove_hosts = {},
                  .test = true};
      if (run.event == "recovered") run.ended_at = ShownTime(absl::Now());
      run.digest = (*incident)->Json(run.revision);
      const HookOutcome outcome =
          coordinator::RunHookProcess(hook, *run.digest, HookEnvironment(run, environment),
                                      {.timeout = timeout_,
                                       .grace = coordinator::kHookGrace,
                                       .max_output = coordinator::kMaxHookOutput},
                                      signals->fd());
      all_succeeded = all_succeeded && outcome.succeeded();
      if (!Print(format_ == "json" ? JsonOf(run, outcome) : TextOf(run, outcome))) {
        return program::kExitFailure;
      }
      if (outcome.end == HookOutcome::End::kInterrupted) return program::kExitFailure;
    }
  }
  return all_succeeded ? program::kExitOk : program::kExitFailure;
}

}  // namespace rapideye::cli
