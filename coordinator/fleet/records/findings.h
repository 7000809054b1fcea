// Describes an incident as a record of the fleet history.
#ifndef RAPIDEYE_COORDINATOR_FLEET_RECORDS_FINDINGS_H_
#define RAPIDEYE_COORDINATOR_FLEET_RECORDS_FINDINGS_H_

#include <map>
#include <string>

#include "absl/time/time.h"
#include "classifier/verdict/verdict.h"
#include "coordinator/fleet/records/records.h"
#include "proto/v1/evidence.h"

namespace rapideye::coordinator {

// The removal that a verdict allows of one of its culprits, without any history
// (classifier/CAUSES.md, "Removal"). Direct: only a culprit that the classifier named as a
// target, by evidence from beyond the job's reach.
Grounds GroundsOf(const Verdict& verdict, const Culprit& culprit);

// `hardware`: of workers without a snapshot, as far as it is known. The record's digest is
// left empty. `verdict` must be of `capture`.
IncidentRecord Describe(const std::string& incident, const Capture& capture, const Verdict& verdict,
                        absl::Time detected, const std::map<WorkerId, std::string>& hardware);

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_FLEET_RECORDS_FINDINGS_H_
