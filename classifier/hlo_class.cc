#include "classifier/hlo_class.h"

#include <array>

namespace rapideye::classifier {
namespace {

struct Pattern {
  std::string_view part;
  HloClass hlo_class;
};

// The first pattern found anywhere in the name decides: fusions are named after
// the collective they hold, and asynchronous halves end in -start or -done.
// Opcodes as in XLA's HLO documentation; names may spell '-' as '_'.
constexpr std::array kPatterns = {
    Pattern{"sparse-core", HloClass::kSparseWait},
    Pattern{"sparsecore", HloClass::kSparseWait},
    Pattern{"recv-done", HloClass::kCrossWait},
    Pattern{"send-done", HloClass::kCrossWait},
    Pattern{"recv", HloClass::kCrossWait},
    Pattern{"send", HloClass::kCrossWait},
    Pattern{"infeed", HloClass::kInput},
    Pattern{"parameter", HloClass::kInput},
    Pattern{"all-reduce", HloClass::kInSliceWait},
    Pattern{"all-gather", HloClass::kInSliceWait},
    Pattern{"all-to-all", HloClass::kInSliceWait},
    Pattern{"reduce-scatter", HloClass::kInSliceWait},
    Pattern{"collective", HloClass::kInSliceWait},
    Pattern{"barrier", HloClass::kInSliceWait},
    Pattern{"remote-dma", HloClass::kInSliceWait},
    Pattern{"remote-copy", HloClass::kInSliceWait},
    Pattern{"custom-call", HloClass::kMaybeWait},
    Pattern{"tpu-custom-call", HloClass::kMaybeWait},
    Pattern{"async-", HloClass::kMaybeWait},
    Pattern{"outfeed", HloClass::kMaybeWait},
    Pattern{"copy-done", HloClass::kMaybeWait},
    Pattern{"semaphore", HloClass::kMaybeWait},
    Pattern{"wait", HloClass::kMaybeWait},
};

// '_' counts as '-', without copying a name of any length.
bool Contains(std::string_view name, std::string_view part) {
  for (size_t start = 0; start + part.size() <= name.size(); ++start) {
    size_t i = 0;
    while (i < part.size() &&
           (name[start + i] == part[i] || (part[i] == '-' && name[start + i] == '_'))) {
      ++i;
    }
    if (i == part.size()) return true;
  }
  return false;
}

}  // namespace

HloClass ClassifyHlo(std::string_view instruction) {
  if (instruction.empty()) return HloClass::kUnknown;
  // A name is short; whatever is longer is not one.
  const std::string_view name = instruction.substr(0, 256);
  for (const Pattern& pattern : kPatterns) {
    if (Contains(name, pattern.part)) return pattern.hlo_class;
  }
  return HloClass::kCompute;
}

}  // namespace rapideye::classifier
