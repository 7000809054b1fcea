#include "agent/sources/stacks/fetch_tool.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/sources/limits.h"
#include "agent/sources/stacks/limits.h"
#include "proto/common/file/small_file.h"
#include "proto/common/process/run_process.h"

namespace rapideye::agent {
namespace {

// The line that says what went wrong: py-spy prints a trace of its own behind it, others
// end with it.
std::string ErrorLine(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipWhitespace());
  if (lines.empty()) return "";
  const auto error = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return absl::StartsWith(line, "Error: ");
  });
  return (error == lines.end() ? lines.back() : *error).substr(0, kMaxDetailBytes);
}

// Explains, for this machine's settings, who may trace the process.
std::string WhoMayLook(const std::string& proc_root) {
  int64_t scope = 0;
  const std::string text =
      file::ReadSmallFile(proc_root + "/sys/kernel/yama/ptrace_scope", kMaxProcFileBytes)
          .value_or("");
  if (!absl::SimpleAtoi(absl::StripAsciiWhitespace(text), &scope) || scope == 0) {
    return "the agent must be of the process's user, or have CAP_SYS_PTRACE";
  }
  if (scope == 1) {
    return "kernel.yama.ptrace_scope=1: the training command must be started by rapideye-agent "
           "exec, which opens it but not its children, or the agent have CAP_SYS_PTRACE";
  }
  return absl::StrCat("kernel.yama.ptrace_scope=", scope,
                      scope == 2 ? ": the agent must have CAP_SYS_PTRACE" : ": nobody may look");
}

}  // namespace

ToolRun RunTool(const std::vector<std::string>& command, absl::Duration deadline, size_t max_bytes,
                int cancel) {
  ToolRun run;
  ProcessOptions options;
  options.command = command;
  // No DEBUGINFOD_URLS, above all: symbols are not fetched from anywhere.
  options.environment = {"LC_ALL=C"};
  options.output = [&](std::string_view bytes) {
    run.output.append(bytes);
    if (run.output.size() <= max_bytes) return true;
    run.output.resize(max_bytes);
    return false;
  };
  options.error_output = [&](std::string_view bytes) {
    run.error.append(bytes);
    if (run.error.size() > kMaxErrorBytes) run.error.erase(0, run.error.size() / 2);
    return true;
  };
  options.timeout = deadline;
  options.interrupt = cancel;
  options.cpu_seconds = kToolCpuSeconds;
  // The tool may hold the process that it inspects: it must go on if its output is closed.
  options.survives_closed_output = true;
  const ProcessOutcome outcome = RunProcess(options);
  if (!outcome.not_started.empty()) {
    run.error = std::strerror(outcome.error);
    return run;
  }
  run.in_time = outcome.stopped != ProcessOutcome::Stopped::kTimedOut;
  run.killed = outcome.signal.has_value();
  run.exit_code = outcome.exit_status;
  run.error = ErrorLine(run.error);
  return run;
}

std::string WhyNoOutput(const std::string& name, const ToolRun& run, absl::Duration deadline,
                        const std::string& proc_root) {
  if (!run.in_time && run.killed) {
    return absl::StrCat(name, " was not done within ", absl::FormatDuration(deadline));
  }
  if (!run.output.empty() && run.exit_code.value_or(0) <= 1) return "";
  return absl::StrCat(name, ": ", run.error.empty() ? "no output" : run.error, " (",
                      WhoMayLook(proc_root), ")");
}

}  // namespace rapideye::agent
