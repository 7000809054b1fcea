// CompareHloDumps finds where two workers' compilations of one module differ, by cheap evidence
// first: the build of libtpu, the compiler's flags, the program as it was written, the
// program as it was compiled.
#ifndef RAPIDEYE_CLASSIFIER_HLO_LAYERS_H_
#define RAPIDEYE_CLASSIFIER_HLO_LAYERS_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "classifier/hlo/difference.h"
#include "proto/v1/evidence.h"

namespace rapideye::classifier {

// A dump holds the files of one compilation by XLA. Its views are into texts that outlive it.
struct HloDump {
  std::string build;                       // of libtpu, "cl_933746096"; empty: not told
  std::optional<std::string_view> flags;   // the .flagfile: --name=value, one a line
  std::optional<std::string_view> before;  // ….before_optimizations.txt
  HloText after;                           // ….after_optimizations.txt
};

enum class HloLayer {
  kBuild,
  kFlags,
  kBefore,
  kAfter,
};

// "build", "flagfile", "before_optimizations", "after_optimizations".
std::string_view HloLayerName(HloLayer layer);

struct HloLayerDifference {
  HloLayer layer = HloLayer::kAfter;
  // For kBuild and kFlags: the values on either side; for a flag that only one side has, the
  // other's value is empty.
  std::string flag;
  std::array<std::string, 2> values;
  int64_t more_flags = 0;  // that differ beside this one
  // For kBefore and kAfter.
  HloDifference difference;
  // A clause: "flag xla_tpu_scoped_vmem_limit_kib is 16384 here and 65536 there".
  std::string sentence;
};

struct HloDumpDifference {
  HloOutcome outcome = HloOutcome::kNotComparable;  // of `after` alone
  // The cheapest first. Empty: nothing differs, as far as both sides were dumped.
  std::vector<HloLayerDifference> layers;
  std::string sentence;  // the whole finding, for people
};

// `sides`: the names of the two sides in the sentences. Time and memory are linear in the texts.
// Leaves out flags that name places for dumps, because they change no program.
HloDumpDifference CompareHloDumps(const HloDump& left, const HloDump& right,
                                  const std::array<std::string, 2>& sides);

// The build in the name of a dump, "cl_933746096" of
// "module_0000.jit_step.cl_933746096.after_optimizations.txt"; empty if there is none.
std::string HloBuildOf(std::string_view file);

}  // namespace rapideye::classifier

#endif  // RAPIDEYE_CLASSIFIER_HLO_LAYERS_H_
