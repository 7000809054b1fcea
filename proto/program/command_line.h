// What every program of ours does the same way: flags, environment, help.
//
// A thin layer over CLI11: every flag --some-flag can be given as
// RAPIDEYE_SOME_FLAG, --help shows each with default and variable, and wrong
// use exits 2.
#ifndef RAPIDEYE_PROTO_PROGRAM_COMMAND_LINE_H_
#define RAPIDEYE_PROTO_PROGRAM_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "absl/time/time.h"

namespace rapideye::program {

// Exit codes of all programs.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // the program's work failed
inline constexpr int kExitUsage = 2;    // wrong use or bad input

// Adds --name bound to `value` (its present value is the default) with the
// environment variable RAPIDEYE_NAME. T: std::string, bool, integer, or
// absl::Duration ("5s", "500ms", "2m").
template <typename T>
CLI::Option* AddFlag(CLI::App& app, const std::string& name, T& value, const std::string& help);

// Adds --version and the house's settings (help on all levels, errors).
void ConfigureApp(CLI::App& app);

// Parses; on --help, --version or an error prints and returns the exit code to
// leave with, otherwise nullopt.
std::optional<int> Parse(CLI::App& app, int argc, char** argv);

// The version that --version prints.
std::string Version();

}  // namespace rapideye::program

#endif  // RAPIDEYE_PROTO_PROGRAM_COMMAND_LINE_H_
