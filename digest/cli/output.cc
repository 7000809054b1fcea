#include "digest/cli/output.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace rapideye::cli {

void Complain(const std::string& message) {
  std::fprintf(stderr, "rapideye: %s\n", message.c_str());
}

bool Print(const std::string& text) {
  errno = 0;
  const bool written =
      std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!written) Complain(std::string("cannot write standard output: ") + std::strerror(errno));
  return written;
}

}  // namespace rapideye::cli
