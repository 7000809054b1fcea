// What every program of ours does the same way: flags, environment, help.
//
// A thin layer over CLI11: every flag --some-flag can be given as
// RAPIDEYE_SOME_FLAG, --help shows each with default and variable, and wrong
// use exits 2.
#ifndef RAPIDEYE_PROTO_COMMON_FLAGS_COMMAND_LINE_H_
#define RAPIDEYE_PROTO_COMMON_FLAGS_COMMAND_LINE_H_

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "proto/common/flags/byte_size.h"

namespace rapideye::program {

// Exit codes of all programs.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // the program's work failed
inline constexpr int kExitUsage = 2;    // wrong use or bad input

// Adds --name bound to `value` (its present value is the default) with the
// environment variable RAPIDEYE_NAME; the flag wins over the variable, and an
// empty variable counts as unset. `value` must outlive the parsing.
//
// T is one of
//   std::string
//   bool             --name, --name=true|false; the variable: 1, true, yes, on, ...
//   int32_t int64_t uint32_t uint64_t double
//   absl::Duration   "5s", "500ms", "1h30m"; never negative or infinite
//   ByteSize         "10GiB", "500MB"
//   std::optional of one of int32_t, int64_t, std::string, absl::Duration: empty
//                    by default; a duration also takes "auto", which means empty
//   std::vector<std::string>   --name=a --name=b; commas separate in the variable
// Of a flag given twice the last one counts, except for lists.
template <typename T>
CLI::Option* AddFlag(CLI::App& app, const std::string& name, T& value, const std::string& help);

// Adds --version and the house's settings (help on all levels, errors; no watch over
// the order of locks). Call after all flags and subcommands have been added.
void ConfigureApp(CLI::App& app);

// Parses; on --help, --version or an error prints and returns the exit code to
// leave with, otherwise nullopt.
std::optional<int> Parse(CLI::App& app, int argc, char** argv);

// The version that --version prints.
std::string Version();

}  // namespace rapideye::program

#endif  // RAPIDEYE_PROTO_COMMON_FLAGS_COMMAND_LINE_H_
