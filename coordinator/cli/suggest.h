// Suggests names close to one that was mistyped.
#ifndef RAPIDEYE_COORDINATOR_CLI_SUGGEST_H_
#define RAPIDEYE_COORDINATOR_CLI_SUGGEST_H_

#include <string>
#include <vector>

namespace rapideye::cli {

// "; closest: a, b, c": the names of `known` that look most like `wanted`, the earlier ones
// first among equals, made safe to show; empty if `known` is.
std::string Closest(const std::string& wanted, const std::vector<std::string>& known);

}  // namespace rapideye::cli

#endif  // RAPIDEYE_COORDINATOR_CLI_SUGGEST_H_
