// Pseudonymise takes the names of people, machines and jobs out of a capture, so that it can be
// shown to others. Pure.
#ifndef RAPIDEYE_PROTO_CAPTURE_PSEUDONYMS_H_
#define RAPIDEYE_PROTO_CAPTURE_PSEUDONYMS_H_

#include "absl/status/statusor.h"
#include "proto/common/secrets/redactor.h"
#include "proto/v1/evidence.h"

namespace rapideye::wire {

struct PseudonymOptions {
  bool modules = false;  // names of programs, too: "jit_train_step" may tell of a model
};

// The same evidence with a pseudonym for each name: hosts, nodes, pods, hardware, users, the job,
// incarnations; in text those names again, addresses, directories and mail addresses; and
// without secrets, as `redactor` finds them. A name has one pseudonym throughout the capture,
// and pseudonyms of a kind sort as the names did, so that the capture gives the same verdict.
// Numbers, times, places in the job, HLO, functions and files of programs (without the
// directories of people), settings' names, metrics, and hashes stay.
//
// Names are found by their fields (proto/v1/check.proto): a name that stands only in a text, and
// looks like a word, stays. INTERNAL if the result breaks a rule of captures, which cannot happen
// to a capture that keeps the rules.
absl::StatusOr<Capture> Pseudonymise(const Capture& capture, const secrets::Redactor& redactor,
                                     const PseudonymOptions& options);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_CAPTURE_PSEUDONYMS_H_
