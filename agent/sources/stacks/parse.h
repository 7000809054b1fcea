// Parses stacks of a process, as the tools and the kernel print them, and selects those of a
// snapshot. Names of functions and files only: never arguments or variables.
#ifndef RAPIDEYE_AGENT_SOURCES_STACKS_PARSE_H_
#define RAPIDEYE_AGENT_SOURCES_STACKS_PARSE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/v1/evidence.h"

namespace rapideye::agent {

struct ThreadStack {
  int64_t tid = 0;                  // 0: unknown
  std::string name;                 // bytes; may be empty
  std::vector<std::string> frames;  // innermost first, bytes, bounded
};

// The Python threads of a process that the training process has started.
struct ChildStacks {
  int64_t pid = 0;
  std::string command;  // bytes; may be empty
  std::vector<ThreadStack> threads;
};

// Parses the output of `eu-stack -m -p PID`, which may be cut at its end.
// Lines that make no sense are skipped. Threads have no names.
std::vector<ThreadStack> ParseEuStack(absl::string_view text);

// Parses the output of `py-spy dump --json`. INVALID_ARGUMENT: it has another form.
absl::StatusOr<std::vector<ThreadStack>> ParsePySpy(absl::string_view json);

// A thread as the kernel shows it in /proc/<pid>/task/<tid>: the texts of `stack`,
// `wchan` and `syscall`, each empty if it may not be read. Only the number of a system
// call is looked at.
std::vector<std::string> ParseKernelStack(absl::string_view stack, absl::string_view wait_channel,
                                          absl::string_view system_call);

// The most telling threads first, within the limits of a snapshot: Python's main
// thread, that of the process `pid`, the children's main threads, other Python threads,
// other native ones, then the rest of the children. Of each, those that stand alike are one
// entry and the rarest come first. A child's threads are called "child <pid> (<command>):
// <thread>", so that none is taken for one of the process itself.
std::vector<Stack> SelectStacks(int64_t pid, std::vector<ThreadStack> python,
                                std::vector<ThreadStack> native,
                                std::vector<ChildStacks> children = {});

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_STACKS_PARSE_H_
