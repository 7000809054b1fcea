// Holds the fixed sentences of the digest. Existing readers grep for them: never change a
// character.
#ifndef RAPIDEYE_DIGEST_WORDING_H_
#define RAPIDEYE_DIGEST_WORDING_H_

#include "classifier/verdict/verdict.h"
#include "digest/report_model.h"
#include "proto/v1/evidence.h"

namespace rapideye::digest {

// The first line. Of the details it tells those of a job that does not hang.
const char* Headline(Cause cause, Detail detail);

// The text before the culprits' hosts in the second line; "" for the causes
// whose second line is not a list of hosts.
const char* HostsPrefix(Cause cause);

// "Bad TPU chips", "Networking issue", ...; "None" for kNoHang. The detail tells TPUs from GPUs.
const char* PotentialCause(Cause cause, Detail detail);

const char* FirstErrorName(FirstErrorType type);  // "HANG_DETECTED" ...
const char* CoreTypeName(CoreType type);          // "TENSOR_CORE" ...; "" if unspecified

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_WORDING_H_
