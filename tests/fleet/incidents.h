// Makes incidents as a fleet has them, for tests of history and policy.
#ifndef RAPIDEYE_TESTS_FLEET_INCIDENTS_H_
#define RAPIDEYE_TESTS_FLEET_INCIDENTS_H_

#include <string>

#include "coordinator/fleet/records/records.h"

namespace rapideye::testing {

inline const absl::Time kThen = absl::FromUnixSeconds(1'790'000'000);

// A bad chip by position, on the machine with this hardware, at slice 0.
inline coordinator::CulpritRecord BadChip(const std::string& hardware, int64_t task) {
  coordinator::CulpritRecord culprit;
  culprit.hardware = hardware;
  culprit.host = "host-of-" + hardware;
  culprit.machine = coordinator::MachineKey(culprit.hardware, culprit.host);
  culprit.chip = 2;
  culprit.core_type = "TENSOR_CORE";
  culprit.core_index = 0;
  culprit.grounds = coordinator::Grounds::kRepetition;
  culprit.task = task;
  culprit.module = "jit_train_step";
  culprit.fingerprint = "abcd";
  return culprit;
}

inline coordinator::IncidentRecord Incident(const std::string& id, absl::Time detected,
                                            std::vector<coordinator::CulpritRecord> culprits) {
  coordinator::IncidentRecord incident;
  incident.id = id;
  incident.job = "llama";
  incident.incarnation = "1";
  incident.cause = "BAD_TPU_CHIP";
  incident.detail = "TENSOR_CORE";
  incident.confidence = 0.9;
  incident.detected = detected;
  incident.hosts = 64;
  incident.slices = 4;
  incident.culprits = std::move(culprits);
  return incident;
}

}  // namespace rapideye::testing

#endif  // RAPIDEYE_TESTS_FLEET_INCIDENTS_H_
