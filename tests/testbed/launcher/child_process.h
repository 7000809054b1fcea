// ChildProcess is a child process that cannot outlive this one.
#ifndef RAPIDEYE_TESTS_TESTBED_LAUNCHER_CHILD_PROCESS_H_
#define RAPIDEYE_TESTS_TESTBED_LAUNCHER_CHILD_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"

namespace rapideye::testbed {

// Runs a program in a process group of its own, so that a Ctrl-C reaches only
// its parent, which then stops it in good order. When the thread that spawned it
// ends, the kernel kills it: spawn from the main thread.
class ChildProcess {
 public:
  struct Options {
    std::vector<std::string> command;                // a path, then arguments
    std::map<std::string, std::string> environment;  // added to ours
    std::string log_path;                            // gets every line; empty: none
    // Called on the reading thread for every line of standard output and error.
    std::function<void(absl::string_view line)> on_line;
    // The beginning of a command line that ends by becoming the rest of it.
    std::vector<std::string> within = {};
  };

  // Returns once the program has been executed. UNAVAILABLE names the program and what failed. A
  // program that cannot be executed exits with 127.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Spawn(Options options);
  // Kills the child if it still runs.
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& name() const { return name_; }

  // Writes a line to the child's standard input; false if nobody reads any more.
  bool WriteLine(absl::string_view line);
  void CloseInput();

  // Signals the child's whole process group; does nothing once the child has been waited for.
  void Signal(int signal);

  // The exit status as waitpid gives it, once it has ended and all of its output
  // has been read; nullopt if that takes longer.
  std::optional<int> Wait(absl::Duration timeout);

  // Returns once it catches the signal or has ended, at the latest after `timeout`: a program that
  // is still being loaded dies of a signal that it would obey.
  void AwaitCatching(int signal, absl::Duration timeout);

  // Closes the child's input, then asks it to end, then kills it. Returns its exit status.
  int Stop(absl::Duration patience);

 private:
  ChildProcess() = default;
  void Read(int output, const std::string& log_path);

  std::string name_;
  std::function<void(absl::string_view)> on_line_;
  pid_t pid_ = -1;
  int input_ = -1;
  std::mutex writing_;
  std::optional<int> status_;
  std::thread reader_;
};

// Output of the command, once it has ended well. ABORTED holds the output if the command has
// failed, or takes longer.
absl::StatusOr<std::string> OutputOf(std::vector<std::string> command, absl::Duration timeout);

// "exited with 1", "was killed by signal 9".
std::string DescribeExit(int status);

}  // namespace rapideye::testbed

#endif  // RAPIDEYE_TESTS_TESTBED_LAUNCHER_CHILD_PROCESS_H_
