// ReadHloText reads texts of HLO modules; PairDumps finds those that belong together.
#ifndef RAPIDEYE_COORDINATOR_CLI_HLO_DUMPS_H_
#define RAPIDEYE_COORDINATOR_CLI_HLO_DUMPS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace rapideye::cli {

struct ReadText {
  std::string text;
  bool cut = false;  // there was more than kMaxHloTextBytes of it
};

// Ten times the largest dumps that there are.
inline constexpr size_t kMaxHloTextBytes = size_t{1} << 30;

// Reads a whole file, plain or gzip; "-" is standard input. Shows its progress on standard error
// if that is a terminal. INVALID_ARGUMENT: the file cannot be read, or is broken.
absl::StatusOr<ReadText> ReadHloText(const std::string& path);

// The files that XLA wrote of one compilation.
struct DumpFiles {
  std::string module;  // as the file's name has it
  std::string build;   // of libtpu; empty: not told
  std::string after;
  std::string before;  // empty: it was not dumped
  std::string flags;   // likewise
};

// Finds a text and the files beside it; in a directory, all modules in the order in which they were
// compiled. INVALID_ARGUMENT: there is none.
absl::StatusOr<std::vector<DumpFiles>> FindDumps(const std::string& path);

struct DumpPair {
  std::optional<DumpFiles> left;  // absent: only the other side has compiled it
  std::optional<DumpFiles> right;
};

// Pairs dumps of one module in the order in which they were compiled. Two single texts belong
// together whatever their names.
std::vector<DumpPair> PairDumps(std::vector<DumpFiles> left, std::vector<DumpFiles> right);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_HLO_DUMPS_H_
