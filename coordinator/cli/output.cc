#include "coordinator/cli/output.h"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_replace.h"
#include "coordinator/cli/progress.h"
#include "proto/common/flags/command_line.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::cli {
namespace {

bool complain_in_json = false;  // set once, before anything is done

// Makes visible what a terminal would obey: C0 and C1 controls, characters that reorder text.
std::string ShownLine(const std::string& line) {
  std::string escaped = text::EscapeText(line, std::max<size_t>(line.size() * 8, 64));
  // A backslash is no danger, and the digest's own backslashes must stay as they are.
  return absl::StrReplaceAll(escaped, {{"\\\\", "\\"}});
}

}  // namespace

void SetComplaintFormat(bool json) { complain_in_json = json; }

void Complain(const std::string& message) {
  WipeProgress();
  if (complain_in_json) {
    spdlog::error("{}", message);
  } else {
    std::fprintf(stderr, "rapideye: %s\n", message.c_str());
  }
}

int Fail(const absl::Status& error) {
  Complain(std::string(error.message()));
  return absl::IsInvalidArgument(error) ? program::kExitUsage : program::kExitFailure;
}

std::string ShownPath(const std::string& path) {
  constexpr size_t kMaxPathBytes = 4096;
  return text::EscapeText(path, kMaxPathBytes);
}

bool ObeysColours() {
  const char* forbidden = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && (forbidden == nullptr || *forbidden == '\0') &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

bool Print(const std::string& text) {
  WipeProgress();
  errno = 0;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) Complain(std::string("cannot write standard output: ") + std::strerror(errno));
  return written;
}

std::string ShownDocument(const std::string& document) {
  std::string safe;
  size_t begin = 0;
  while (begin < document.size()) {
    const size_t end = std::min(document.find('\n', begin), document.size());
    safe += ShownLine(document.substr(begin, end - begin));
    if (end < document.size()) safe += '\n';
    begin = end + 1;
  }
  return safe;
}

bool PrintDocument(const std::string& document, const std::string& format) {
  const bool as_it_is = format != "text" && isatty(STDOUT_FILENO) == 0;
  return Print(as_it_is ? document : ShownDocument(document));
}

}  // namespace rapideye::cli
