#include "coordinator/cli/output.h"

#include <spdlog/spdlog.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "proto/common/flags/command_line.h"
#include "proto/common/text/safe_text.h"

namespace rapideye::cli {
namespace {

bool complain_in_json = false;  // set once, before anything is done

}  // namespace

void SetComplaintFormat(bool json) { complain_in_json = json; }

void Complain(const std::string& message) {
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

bool Print(const std::string& text) {
  errno = 0;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) Complain(std::string("cannot write standard output: ") + std::strerror(errno));
  return written;
}

}  // namespace rapideye::cli
