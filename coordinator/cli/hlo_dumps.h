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

// All of a file, plain or gzip; "-" is standard input. Tells of its progress on standard error
// if that is a terminal. INVALID_ARGUMENT: it cannot be read, or is broken.
absl::StatusOr<ReadText> ReadHloText(const std::string& path);

// The files that XLA wrote of one compilation.
struct DumpFiles {
  std::string module;  // as the file's name has it
  std::string build;   // of libtpu; empty: not told
  std::string after;
  std::string before;  // empty: it was not dumped
  std::string flags;   // likewise
};

// Of a text, with the files that lie beside it; of a directory, of all modules in the order in
// which they were compiled. INVALID_ARGUMENT: there is none.
absl::StatusOr<std::vector<DumpFiles>> FindDumps(const std::string& path);

struct DumpPair {
  std::optional<DumpFiles> left;  // absent: only the other side has compiled it
  std::optional<DumpFiles> right;
};

// Those of one module in the order in which they were compiled. Two texts belong together
// whatever they are called.
std::vector<DumpPair> PairDumps(std::vector<DumpFiles> left, std::vector<DumpFiles> right);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_HLO_DUMPS_H_
