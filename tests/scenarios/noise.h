// Adds what real captures have on top of the hang: gaps, and facts about bystanders.
#ifndef RAPIDEYE_TESTS_SCENARIOS_NOISE_H_
#define RAPIDEYE_TESTS_SCENARIOS_NOISE_H_

#include <vector>

#include "proto/v1/evidence.h"
#include "tests/scenarios/random.h"

namespace rapideye::scenarios {

// Probabilities; the name of each says of what. All zero: no noise.
struct Noise {
  // Gaps, in captures.
  double no_learnt_sequence = 0;
  double no_cohorts = 0;
  double no_hlo = 0;
  double no_sockets = 0;
  double no_probes = 0;
  double no_launch_ids = 0;
  double no_module_names = 0;
  // Gaps, in workers. They spare the culprits, except in `gap_at_culprit` of the
  // captures: there the truth no longer follows from the evidence.
  double missing_worker = 0;
  double runtime_timed_out = 0;
  double worker_without_pc = 0;
  double worker_without_launch_id = 0;
  double gap_at_culprit = 0;
  // At most this share of the workers may lose the evidence that tells who waits.
  double most_missing = 0;
  // Facts about bystanders, in workers.
  double follow_on_line = 0;
  double coordination_line = 0;
  double old_error_line = 0;  // of long before, after which the job ran on
  double retransmits = 0;
  double nic_errors = 0;
  double correctable_pcie = 0;
  double short_input_wait = 0;
  double idle_sparse_cores = 0;
  double other_program_table = 0;
  double skewed_clock = 0;
};

Noise Noisy();
// About three times as much of everything: where the evidence gets thin, and
// confidence has to show it.
Noise Heavy();
inline Noise NoiseFree() { return {}; }

// Adds the part of the noise that concerns single workers, all but `culprits`. Removes
// snapshots; shuffles the rest, their cores and their program tables.
void AddNoise(const Noise& noise, const std::vector<WorkerId>& culprits, Random random,
              Capture& capture);

// Takes away what a worker showed of its cores, or all that it showed.
void AddGapAt(const WorkerId& worker, Random random, Capture& capture);

}  // namespace rapideye::scenarios

#endif  // RAPIDEYE_TESTS_SCENARIOS_NOISE_H_
