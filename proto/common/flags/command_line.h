// Adds flags and commands to a program, each in the same way.
//
// A thin layer over CLI11: every flag --some-flag can be given as
// RAPIDEYE_SOME_FLAG, --help shows each with default and variable, and wrong
// use exits 2. Only files that make an app include CLI11 itself: it takes some four
// seconds to compile.
#ifndef RAPIDEYE_PROTO_COMMON_FLAGS_COMMAND_LINE_H_
#define RAPIDEYE_PROTO_COMMON_FLAGS_COMMAND_LINE_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "proto/common/flags/byte_size.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace rapideye::program {

// Exit codes of all programs.
inline constexpr int kExitOk = 0;
inline constexpr int kExitFailure = 1;  // the program's work failed
inline constexpr int kExitUsage = 2;    // wrong use or bad input

// A flag or an argument that has been added. May be copied; of use while its app lives.
class AddedOption {
 public:
  explicit AddedOption(CLI::Option& option) : option_(&option) {}

  // Any text but these is refused; --help lists them.
  AddedOption& Among(const std::vector<std::string>& texts);
  AddedOption& Required();
  // Sets the default that --help shows, and the type ("" for none).
  AddedOption& DefaultText(const std::string& text);
  AddedOption& TypeText(const std::string& text);
  // Takes no variable: one of that name would be another program's, run in the same place.
  AddedOption& WithoutVariable();
  // True if the command line or the environment held it. After the parsing.
  bool Given() const;

 private:
  CLI::Option* option_;
};

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
// A flag that is given twice takes its last value, except for lists.
template <typename T>
AddedOption AddFlag(CLI::App& app, const std::string& name, T& value, const std::string& help);

// Adds --name, a switch without a variable that gives the text `value` to `target`, whose own flag
// has been added before.
AddedOption AddShortcut(CLI::App& app, const std::string& name, std::string& target,
                        const std::string& value, const std::string& help);

// An argument without a name on the command line; NAME is shown. T is std::string or, for
// any number of them, std::vector<std::string>.
template <typename T>
AddedOption AddArgument(CLI::App& app, const std::string& name, T& value, const std::string& help);

// `app name ...`, which has flags of its own; lives as long as `app`.
CLI::App& AddCommand(CLI::App& app, const std::string& name, const std::string& help);
// The command line must name one of its commands.
void RequireCommand(CLI::App& app);
// True if the command line named it. After the parsing.
bool Chosen(const CLI::App& command);

// Adds --version and the house's settings (help on all levels, errors; no watch over
// the order of locks). Call after all flags and subcommands have been added. `protocol`: the
// version of the messages between agent and coordinator, of a program that speaks them.
void ConfigureApp(CLI::App& app, std::optional<int> protocol = std::nullopt);

// Parses; on --help, --version or an error prints and returns the exit code to
// leave with, otherwise nullopt.
std::optional<int> Parse(CLI::App& app, int argc, char** argv);
// The same, but leaves an error of the arguments in `problem`, and prints nothing.
std::optional<int> Parse(CLI::App& app, int argc, char** argv, std::string& problem);

// The version of the release: "0.1.0".
std::string Version();
// The line that --version prints: "rapideye-agent 0.1.0 (commit 0123456789ab, protocol 2)". A build
// that was not told its commit leaves it out.
std::string VersionText(const std::string& program, std::optional<int> protocol);

}  // namespace rapideye::program

#endif  // RAPIDEYE_PROTO_COMMON_FLAGS_COMMAND_LINE_H_
