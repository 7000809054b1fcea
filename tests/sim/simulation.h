// Simulate runs a coordinator and its agents under virtual time: everything from one seed.
#ifndef RAPIDEYE_TESTS_SIM_SIMULATION_H_
#define RAPIDEYE_TESTS_SIM_SIMULATION_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tests/sim/clockwork.h"
#include "tests/sim/options.h"

namespace rapideye::sim {

struct Outcome {
  std::vector<std::string> failures;  // empty: as it should be
  std::vector<std::string> wrong_verdicts;
  uint64_t hash = 0;               // of everything that was said and done
  int hangs = 0;                   // told of
  int further_looks = 0;           // at these
  absl::Duration lasted;           // virtual time
  std::vector<std::string> trace;  // the last lines, if wanted
};

// The same options give the same outcome. `trace_lines` are kept of the trace; all that
// was said and done goes to `said`, unless it is null.
Outcome Simulate(const Options& options, size_t trace_lines = 0, std::vector<Said>* said = nullptr);

}  // namespace rapideye::sim

#endif  // RAPIDEYE_TESTS_SIM_SIMULATION_H_
