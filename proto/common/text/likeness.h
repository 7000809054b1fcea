// Finds the names that look most like a mistyped one.
#ifndef RAPIDEYE_PROTO_COMMON_TEXT_LIKENESS_H_
#define RAPIDEYE_PROTO_COMMON_TEXT_LIKENESS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rapideye::text {

// The number of bytes to insert, drop, replace or swap with their neighbour that make `b` of `a`.
// Of longer texts only the first 128 bytes count.
size_t EditDistance(std::string_view a, std::string_view b);

// The one of `known` that `wanted` was probably meant to be: not further away than a third of its
// length, at least 1; "" if none is. Among equals the first.
std::string ProbablyMeant(const std::string& wanted, const std::vector<std::string>& known);

}  // namespace rapideye::text

#endif  // RAPIDEYE_PROTO_COMMON_TEXT_LIKENESS_H_
