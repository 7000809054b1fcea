// ContentHash computes a stable fingerprint of a capture's content.
#ifndef RAPIDEYE_DIGEST_CONTENT_HASH_H_
#define RAPIDEYE_DIGEST_CONTENT_HASH_H_

#include <cstdint>

#include "proto/v1/evidence.h"

namespace rapideye::digest {

// The same evidence gives the same value on any machine and in any version of
// the standard library; the order of expected workers, snapshots, cores and
// program tables changes nothing. Not cryptographic: it names an incident, it
// protects nothing.
uint64_t ContentHash(const Capture& capture);

}  // namespace rapideye::digest

#endif  // RAPIDEYE_DIGEST_CONTENT_HASH_H_
