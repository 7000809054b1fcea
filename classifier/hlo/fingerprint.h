// FingerprintHlo computes a fingerprint of a compiled HLO module from its text, for jobs whose
// runtime gives none.
#ifndef RAPIDEYE_CLASSIFIER_HLO_FINGERPRINT_H_
#define RAPIDEYE_CLASSIFIER_HLO_FINGERPRINT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rapideye::classifier {

struct HloFingerprint {
  std::string module;  // as the text names it
  std::string digits;  // 64 bits as 16 lower-case hex digits
  // Devices that run it together: replicas times partitions.
  int64_t devices = 1;
  // The module holds a collective, or a transfer between slices: a worker that runs another
  // program in its place keeps the others waiting.
  bool has_collective = false;
};

// Two compilations of one program have the same fingerprint on every machine and in every
// version of this function's callers, because hosts compare fingerprints. Spellings that two
// compilations of one program may choose freely make no difference: names of instructions and
// computations, metadata such as source lines, comments; nor does data that a backend has
// embedded (backend configurations hold results of autotuning and the sources' paths of
// kernels), nor frontend attributes, nor constants that are addresses in a process. Everything
// else counts: shapes, layouts, opcodes, constants, attributes, channel ids, the order.
//
// Absent unless the whole module is there, up to the end of its entry computation: a text that
// is still being written has no fingerprint. Time and memory are linear in the text.
std::optional<HloFingerprint> FingerprintHlo(std::string_view text);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_FINGERPRINT_H_
