// Table judges the classifier on a range of seeds and counts, by kind and noise.
#ifndef RAPIDEYE_TESTS_WORLD_TABLE_H_
#define RAPIDEYE_TESTS_WORLD_TABLE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/world/kinds.h"

namespace rapideye::world {

struct Count {
  int n = 0;
  int cause = 0;
  int detail = 0;
  int culprits = 0;
  int activity = 0;  // right, of so many for which one is stated
  int activities = 0;
  int wrong_accusations = 0;
  int wrong_removals = 0;
  int others = 0;  // faults beside the cause, of several
  int others_named = 0;
  int wrong_additions = 0;
  Count& operator+=(const Count& other);
};

// A frequent wrong verdict.
struct Mistake {
  std::string kind;
  std::string said;  // cause and detail, and "culprits" where the cause was right
  int n = 0;
  uint64_t seed = 0;  // the first one
  int noise = 0;
};

struct Figures {
  std::map<std::pair<std::string, int>, Count> by_kind;          // and noise
  std::map<std::pair<std::string, std::string>, int> confusion;  // right cause, said cause
  std::map<std::pair<std::string, std::string>, Mistake> mistakes;
  std::map<std::string, Count> by_evidence;
  std::map<std::string, Count> by_shape;
  // Verdicts that state a confidence, by its percent: its sum, and how many were right.
  std::map<int, std::pair<double, int>> stated;
  std::map<int, int> stated_n;
};

// Judges the worlds of seeds from `first` up to and without `last`.
void JudgeKind(const Kind& kind, uint64_t first, uint64_t last, int noise, Figures& figures);
// All kinds whose name contains `filter`.
void JudgeSeeds(uint64_t first, uint64_t last, int noise, const std::string& filter,
                Figures& figures);
std::string Print(const Figures& figures);
Count Total(const Figures& figures, int noise);

}  // namespace rapideye::world

#endif  // RAPIDEYE_TESTS_WORLD_TABLE_H_
