// Matches any bytes, as a pattern and a name: the result is that of the plainest matcher, in time
// that does not grow with the number of ways to match.
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/common/text/pattern.h"
#include "tests/fuzz/fuzzing.h"

namespace {

// Row by row: which beginnings of the name the pattern so far takes.
bool Plainly(std::string_view pattern, std::string_view name) {
  std::vector<bool> takes(name.size() + 1, false);
  takes[0] = true;
  for (const char p : pattern) {
    std::vector<bool> next(name.size() + 1, false);
    for (size_t i = 0; i <= name.size(); ++i) {
      if (p == '*') {
        next[i] = takes[i] || (i > 0 && next[i - 1]);
      } else {
        next[i] = i > 0 && takes[i - 1] && (p == '?' || p == name[i - 1]);
      }
    }
    takes = std::move(next);
  }
  return takes[name.size()];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const size_t length = data[0] % size;
  const std::string_view pattern = bytes.substr(0, length);
  const std::string_view name = bytes.substr(length);
  const absl::string_view text(name.data(), name.size());
  const absl::string_view wild(pattern.data(), pattern.size());
  rapideye::Require(rapideye::text::MatchesPattern(text, wild) == Plainly(pattern, name),
                    "a pattern matches as it says");
  return 0;
}
