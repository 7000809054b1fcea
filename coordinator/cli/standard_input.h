// StandardInput makes a file of standard input, which readers may open more than once.
#ifndef RAPIDEYE_COORDINATOR_CLI_STANDARD_INPUT_H_
#define RAPIDEYE_COORDINATOR_CLI_STANDARD_INPUT_H_

#include <cstdio>
#include <memory>
#include <string>

#include "absl/status/status.h"

namespace rapideye::cli {

// Stands for standard input among the files of a command.
constexpr char kStandardInput[] = "-";

class StandardInput {
 public:
  // Copies standard input to its end into a temporary file without a name, in bounded memory. Of an
  // input that is no log, only as much as a capture may have: the reader of captures then refuses
  // it. INVALID_ARGUMENT: it cannot be read; INTERNAL: there is no room for the copy.
  absl::Status Copy();
  // The copy's path, for this process alone, as long as this object lives. Empty before Copy.
  const std::string& path() const { return path_; }

 private:
  absl::Status CopyUpTo(int64_t bytes);

  std::unique_ptr<std::FILE, int (*)(std::FILE*)> file_{nullptr, std::fclose};
  std::string path_;
  int64_t copied_ = 0;
  bool at_end_ = false;
};

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_STANDARD_INPUT_H_
