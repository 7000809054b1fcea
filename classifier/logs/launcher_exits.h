// LauncherExits reads the lines in which launchers tell which of their processes has ended, and
// how.
//
// Facts: messages of Slurm's srun, PyTorch's elastic and older launchers and its
// multiprocessing.spawn, Open MPI's mpirun, Horovod's launcher, DeepSpeed's launch.py, Lightning's
// observer of child processes and vLLM's executors, whose sources are public, and of IBM's jsrun,
// as its users show them.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_LAUNCHER_EXITS_H_
#define RAPIDEYE_CLASSIFIER_LOGS_LAUNCHER_EXITS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/string_view.h"
#include "classifier/logs/said.h"

namespace rapideye::logs {

// The end of a task, in the words of its launcher.
struct TaskExit {
  int32_t task = 0;
  // Neither of the two: not told.
  std::optional<int32_t> signal{};
  std::optional<int32_t> exit_code{};
  bool of_node = false;  // the number counts on its node alone
  bool by_slurm = false;
  SaidAt at{};
};

// Bounded, whatever the lines hold. Not synchronised.
class LauncherExits {
 public:
  // Takes the next line, without blanks at its ends. `complains`: whether the line complains of
  // other processes. True: a launcher's line tells of one of its processes, in words that a process
  // could use of itself.
  bool Take(absl::string_view line, const SaidAt& at, absl::FunctionRef<bool()> complains);

  // Of all tasks that Slurm names, or of the first that another launcher names: that ends the
  // others itself.
  const std::vector<TaskExit>& exits() const { return exits_; }

 private:
  void TakeSlurm(absl::string_view line);
  void TakeRootCause(absl::string_view line);
  bool TakeSpawn(absl::string_view line, absl::FunctionRef<bool()> complains);
  bool TakeName(absl::string_view line);
  // Add takes only the first failure that a launcher tells of, Keep every exit.
  void Add(TaskExit exit);
  void Keep(TaskExit exit);

  std::vector<TaskExit> exits_;
  SaidAt at_;                // of this line
  bool aborting_ = false;    // Slurm ends the tasks that are left
  bool root_cause_ = false;  // torchrun tells of the first failure
  std::optional<int32_t> failed_rank_;
  std::optional<int32_t> named_;   // the next line tells its status
  std::optional<int32_t> raised_;  // its traceback follows
};

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_LAUNCHER_EXITS_H_
