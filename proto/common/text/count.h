// Count puts a number and its noun into words.
#ifndef RAPIDEYE_PROTO_COMMON_TEXT_COUNT_H_
#define RAPIDEYE_PROTO_COMMON_TEXT_COUNT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace rapideye::text {

// "1 core", "3 cores": of nouns with a regular plural.
inline std::string Count(int64_t n, std::string_view noun) {
  return absl::StrCat(n, " ", std::string(noun), n == 1 ? "" : "s");
}

}  // namespace rapideye::text

#endif  // RAPIDEYE_PROTO_COMMON_TEXT_COUNT_H_
