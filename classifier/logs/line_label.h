// LineLabels reads the label that launchers put before each line of a log that workers share.
#ifndef RAPIDEYE_CLASSIFIER_LOGS_LINE_LABEL_H_
#define RAPIDEYE_CLASSIFIER_LOGS_LINE_LABEL_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"

namespace rapideye::logs {

// The label of a line, which names the worker that wrote it.
struct LineLabel {
  std::optional<int32_t> rank;
  absl::string_view pod;           // and its container: "train-slice-0-2-x2k2q/jax"
  std::string process;             // of Ray: "10.0.0.2/954", its host (or "") and number
  absl::string_view host;          // of pdsh, of Docker Compose, of a journal: "node3"
  absl::string_view path;          // of grep: "logs/rank-3.log"
  size_t text = 0;                 // where the line proper begins
  std::optional<int64_t> unix_ms;  // the time that stands before the label
};

enum class LabelForm {
  kNone,
  kNumber,   // srun --label: "2: text", "02: text"
  kPod,      // kubectl logs --prefix: "[pod/train-slice-0-2-x2k2q/jax] text"
  kTag,      // mpirun --tag-output: "[1,2]<stdout>:text", "[1,mpirank:2,algo-1]<stdout>:text"
  kBracket,  // torchrun: "[rank2]: text", "[default2]:text", "[default2]:[rank10]: text"
  kRay,      // "(RayTrainWorker pid=954, ip=10.0.0.2) text", "(RayTrainWorker pid=954) text"
  kXlaDist,  // torch_xla: "2021-06-11 00:34:32 10.164.0.13 [3] text"
  kHost,     // pdsh, clush and gcloud, on each line: "node3: text", "10.0.0.2: text"
  kBar,      // docker compose, on each line: "worker-2  | text"
  kTab,      // gcloud logging read --format="value(…)": "train-0-2-x2k2q\ttext", with the time
             // before or behind the pod
  kStern,    // on each line: "train-0-2-x2k2q jax text", the pod and its container
  kGrep,     // grep in several files: "logs/rank-3.log:text", "logs/rank-3.log:712:text"
  kOwn,      // the program's, or of a tool like kubetail, on each line: "[process 2] text",
             // "(worker1, rank=1, pid=7) text", "[train-0-2-x2k2q jax] text", "Rank 2: text",
             // "rank2[41][MainThread]: text", "2026-11-20T10:00:00 - 2 - levanter.trainer - text"
  kBare,     // likewise, a number alone: "[2] text", "[2]<stderr>:text"; from 0 on without gaps
  kJournal,  // journalctl -m, syslog, on each line: "Nov 20 10:00:00 node3 python3[4112]: text"
};
inline constexpr int kLabelForms = static_cast<int>(LabelForm::kJournal) + 1;

// The label of a line in this form; absent: the line has none.
std::optional<LineLabel> TakeLabel(absl::string_view line, LabelForm form);

// The form of the labels in a log, by its first lines: at least half of the lines must have a
// label; names of hosts stand on nearly all, and take turns. Numbers that only count the lines are
// no labels.
LabelForm FormOfLabels(const std::vector<absl::string_view>& lines);

// True if the line looks as if a program had logged it: it has a time, a severity, a step, a
// traceback, or recognised words. Prose and data have none of these.
bool IsLogLine(absl::string_view line);

}  // namespace rapideye::logs

#endif  // RAPIDEYE_CLASSIFIER_LOGS_LINE_LABEL_H_
