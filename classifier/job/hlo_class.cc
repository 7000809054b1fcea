#include "classifier/job/hlo_class.h"

#include <array>

namespace rapideye::classifier {
namespace {

struct Pattern {
  std::string_view part;
  HloClass hlo_class;
};

// The first pattern found anywhere in the name decides: fusions are named after
// the collective in them, and asynchronous halves end in -start or -done.
// Opcodes as in XLA's HLO documentation; names may spell '-' as '_'. A callback of JAX waits for
// its own host.
constexpr std::array kPatterns = {
    Pattern{"sparse-core", HloClass::kSparseWait},
    Pattern{"sparsecore", HloClass::kSparseWait},
    Pattern{"io-callback", HloClass::kInput},
    Pattern{"pure-callback", HloClass::kInput},
    Pattern{"debug-callback", HloClass::kInput},
    Pattern{"debug-print", HloClass::kInput},
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
    // Chips hand blocks on to each other in kernels with these names.
    Pattern{"ring-attention", HloClass::kMaybeWait},
    Pattern{"ring-attn", HloClass::kMaybeWait},
    Pattern{"custom-call", HloClass::kKernel},
    // An asynchronous call goes on elsewhere on the chip: on its SparseCores.
    Pattern{"call-done", HloClass::kSparseWait},
    Pattern{"async-", HloClass::kMaybeWait},
    Pattern{"outfeed", HloClass::kMaybeWait},
    Pattern{"copy-done", HloClass::kMaybeWait},
    Pattern{"semaphore", HloClass::kMaybeWait},
    Pattern{"wait", HloClass::kMaybeWait},
};

// JAX's primitives, after which it names instructions: mostly collectives, within a slice or
// between slices, but at times a reshape beside them.
constexpr std::array<std::string_view, 6> kPrimitives = {"psum",     "pmax",       "pmin",
                                                         "ppermute", "pbroadcast", "pgather"};

// "psum", "psum.7", "psum_invariant.1".
bool IsOfPrimitive(std::string_view name) {
  for (const std::string_view primitive : kPrimitives) {
    if (!name.starts_with(primitive)) continue;
    const std::string_view rest = name.substr(primitive.size());
    if (rest.empty() || rest.front() == '.' || rest.front() == '_') return true;
  }
  return false;
}

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

HloClass ClassifyHlo(HloWaits waits) {
  switch (waits) {
    case HloWaits::kCompute:
    // A copy within its own chip's memory waits for no other core.
    case HloWaits::kOwnDma:
      return HloClass::kCompute;
    // The text of one instruction does not show the work of its kernel.
    case HloWaits::kKernel:
      return HloClass::kKernel;
    case HloWaits::kInSlice:
      return HloClass::kInSliceWait;
    case HloWaits::kComputeWithCollective:
    case HloWaits::kKernelInSlice:
      return HloClass::kMaybeWait;
    case HloWaits::kOtherSlice:
      return HloClass::kCrossWait;
    case HloWaits::kOwnHost:
      return HloClass::kInput;
    case HloWaits::kSparseCore:
      return HloClass::kSparseWait;
    case HloWaits::kNothing:
    case HloWaits::kCalls:
    case HloWaits::kUnspecified:
      break;
  }
  return HloClass::kUnknown;
}

HloClass ClassifyHlo(std::string_view instruction) {
  if (instruction.empty()) return HloClass::kUnknown;
  // Names are short; a longer text is no name.
  const std::string_view name = instruction.substr(0, 256);
  for (const Pattern& pattern : kPatterns) {
    if (Contains(name, pattern.part)) return pattern.hlo_class;
  }
  if (IsOfPrimitive(name)) return HloClass::kMaybeWait;
  return HloClass::kCompute;
}

}  // namespace rapideye::classifier
