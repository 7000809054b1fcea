// ProgramOrder orders the launches of a cohort's programs.
#ifndef RAPIDEYE_CLASSIFIER_JOB_PROGRAM_ORDER_H_
#define RAPIDEYE_CLASSIFIER_JOB_PROGRAM_ORDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"

namespace rapideye::classifier {

// One launch of one program (its number in Topology::programs; -1: unknown).
struct Launch {
  int program = -1;
  std::optional<int32_t> id;
  bool operator==(const Launch&) const = default;
};

// Later minus earlier by serial arithmetic: right across the wrap of the 32-bit
// counter as long as the two are less than 2^31 launches apart.
int64_t SerialDistance(int32_t later, int32_t earlier);

// Maps a launch to its place in the endless row "step by step, program by
// program". Learnt or given as the programs of one step, each with the launch id
// it had in that same step. A program may stand there several times.
class ProgramOrder {
 public:
  ProgramOrder() = default;
  // Entries with an unknown program or without id are ignored.
  explicit ProgramOrder(const std::vector<Launch>& step, bool complete = true);

  bool empty() const { return length_ == 0; }
  int64_t length() const { return length_; }  // launches of a step
  // All programs of a step are known: given as such, or learnt as a closed circle.
  bool complete() const { return complete_; }
  bool Holds(int program) const { return slots_.contains(program); }
  // Absent if the program is not part of the step or has no launch id. Two
  // ordinals of one order compare: the smaller ran, or should have run, first.
  std::optional<int64_t> Ordinal(const Launch& launch) const;

 private:
  struct Slots {
    int32_t first_id = 0;
    std::vector<int64_t> at;  // positions within the step, ascending
  };
  int64_t length_ = 0;
  bool complete_ = false;
  absl::flat_hash_map<int, Slots> slots_;
};

// Learns the order from launch queues: each chain is one core's current
// launch and the launches behind it. Weigh each worker once by giving one chain per
// worker. Empty if the chains do not settle it.
ProgramOrder LearnProgramOrder(const std::vector<std::vector<Launch>>& chains);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_JOB_PROGRAM_ORDER_H_
