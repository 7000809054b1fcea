#include "agent/sources/stacks/fetch_tool.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "agent/sources/limits.h"
#include "agent/sources/stacks/limits.h"
#include "proto/common/process/run_process.h"

namespace rapideye::agent {
namespace {

// The last line says what went wrong.
std::string LastLine(const std::string& text) {
  const std::vector<std::string> lines = absl::StrSplit(text, '\n', absl::SkipWhitespace());
  return lines.empty() ? "" : lines.back().substr(0, kMaxDetailBytes);
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
    if (run.error.size() > 2 * kMaxDetailBytes) run.error.erase(0, run.error.size() / 2);
    return true;
  };
  options.timeout = deadline;
  options.interrupt = cancel;
  options.cpu_seconds = kToolCpuSeconds;
  // It may hold the process that it inspects: it must go on if its output is closed.
  options.survives_closed_output = true;
  const ProcessOutcome outcome = RunProcess(options);
  if (!outcome.not_started.empty()) {
    run.error = std::strerror(outcome.error);
    return run;
  }
  run.in_time = outcome.stopped != ProcessOutcome::Stopped::kTimedOut;
  run.killed = outcome.signal.has_value();
  run.exit_code = outcome.exit_status;
  run.error = LastLine(run.error);
  return run;
}

std::optional<std::string> FindTool(const std::string& name, const std::string& path) {
  for (const absl::string_view folder : absl::StrSplit(path, ':', absl::SkipEmpty())) {
    std::string file = absl::StrCat(folder, "/", name);
    // A relative folder would be whatever we happen to stand in.
    if (folder.front() == '/' && access(file.c_str(), X_OK) == 0) return file;
  }
  return std::nullopt;
}

}  // namespace rapideye::agent
