// Computes SHA-256 as text.
#ifndef RAPIDEYE_TESTS_FREEZE_SHA256_H_
#define RAPIDEYE_TESTS_FREEZE_SHA256_H_

#include <string>
#include <string_view>

namespace rapideye::freeze {

// 64 lower-case hex digits.
std::string Sha256(std::string_view bytes);

}  // namespace rapideye::freeze

#endif  // RAPIDEYE_TESTS_FREEZE_SHA256_H_
