#include "classifier/hlo/waits.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>

namespace rapideye::classifier {
namespace {

// Computations call each other a few levels deep; deeper computations are not looked at.
constexpr int kMaxWaitDepth = 64;
// So many asynchronous halves are followed from a value back to its start.
constexpr int kMostHalves = 64;

template <size_t N>
bool IsOneOf(std::string_view word, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

constexpr std::array<std::string_view, 8> kCollectiveOpcodes = {
    "all-reduce",     "all-gather",         "all-to-all",           "ragged-all-to-all",
    "reduce-scatter", "collective-permute", "collective-broadcast", "partition-barrier"};
// Opcodes that take no time of their own.
constexpr std::array<std::string_view, 12> kTimeless = {"parameter",
                                                        "constant",
                                                        "get-tuple-element",
                                                        "tuple",
                                                        "bitcast",
                                                        "after-all",
                                                        "iota",
                                                        "partition-id",
                                                        "replica-id",
                                                        "opt-barrier",
                                                        "optimization-barrier",
                                                        "add-dependency"};
constexpr std::array<std::string_view, 3> kCallers = {"while", "conditional", "call"};
// Opcodes within a fusion that move data, or compute the places to move data to.
constexpr std::array<std::string_view, 12> kMoves = {
    "copy",      "slice",   "dynamic-slice", "dynamic-update-slice", "concatenate", "pad",
    "broadcast", "reshape", "transpose",     "bitcast-convert",      "domain",      "reverse"};
// Opcodes that compute, whatever their shape.
constexpr std::array<std::string_view, 10> kWork = {
    "convolution", "dot",    "fusion", "reduce",        "sort",
    "scatter",     "gather", "map",    "reduce-window", "select-and-scatter"};
constexpr std::array<std::string_view, 6> kCopies = {
    "copy", "slice", "dynamic-slice", "dynamic-update-slice", "concatenate", "pad"};

// Custom calls that libtpu carries out in no time.
constexpr std::array<std::string_view, 15> kTimelessTargets = {"AllocateBuffer",
                                                               "ConcatBitcast",
                                                               "SliceId",
                                                               "AssumeGatherIndicesInBound",
                                                               "ZeroCrop",
                                                               "CreateBuffer",
                                                               "GatherScatterIndicesBitpacked",
                                                               "Sharding",
                                                               "LayoutConstraint",
                                                               "annotate_device_placement",
                                                               "X64Combine",
                                                               "X64SplitLow",
                                                               "X64SplitHigh",
                                                               "SPMDFullToShardShape",
                                                               "SPMDShardToFullShape"};
constexpr std::array<std::string_view, 2> kKernelTargets = {"tpu_custom_call", "mosaic"};
constexpr std::string_view kHostMemory = "S(5)";
constexpr std::string_view kHandler = "_xla_host_transfer_handler_name";
constexpr std::string_view kMegascale = "xla_megascale_runtime";
constexpr std::string_view kStartSuffix = "-start";
constexpr std::string_view kDone = "-done";
constexpr std::string_view kUpdate = "-update";

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The opcode of the whole asynchronous operation, of which `opcode` may be a half.
std::string_view WholeOpcode(std::string_view opcode) {
  for (const std::string_view half : {kStartSuffix, kDone, kUpdate}) {
    if (opcode.ends_with(half)) return opcode.substr(0, opcode.size() - half.size());
  }
  return opcode;
}

bool IsTransfer(std::string_view opcode) {
  const std::string_view whole = WholeOpcode(opcode);
  return whole == "send" || whole == "recv";
}

std::optional<int64_t> NumberIn(std::string_view text) {
  int64_t value = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
  return read.ec == std::errc() ? std::optional(value) : std::nullopt;
}

bool IsLaterHalf(std::string_view opcode) {
  return opcode.ends_with(kDone) || opcode.ends_with(kUpdate);
}

// True for an opcode that is classified without looking at any other instruction.
bool IsComplete(std::string_view opcode) {
  return !opcode.empty() && opcode != "fusion" && opcode != "custom-call" && !IsTransfer(opcode) &&
         !IsOneOf(opcode, kCopies);
}

// True for a single element, in whatever layout: "s32[]{:T(128)}", "u32[1]".
bool IsScalar(std::string_view shape) {
  const size_t bracket = shape.find('[');
  if (bracket == std::string_view::npos || shape.starts_with('(')) return false;
  const std::string_view dimensions = InHloBrackets(shape.substr(bracket));
  return dimensions.empty() || dimensions == "1";
}

// True for a kernel that exchanges data or semaphores with other chips.
bool TalksToOthers(std::string_view config) {
  constexpr std::string_view kCommunicates = "has_communication";
  for (size_t at = config.find(kCommunicates); at != std::string_view::npos;
       at = config.find(kCommunicates, at + 1)) {
    std::string_view value = config.substr(at + kCommunicates.size(), 8);
    value.remove_prefix(std::min(value.find_first_of("tf"), value.size()));
    if (value.starts_with("true")) return true;
  }
  // A kernel that runs its own barrier with other chips needs an id.
  return Contains(config, "\"collective_id\"");
}

bool OnSparseCore(std::string_view config) {
  return Contains(config, "DEVICE_TYPE_SPARSECORE") ||
         Contains(config, "\"sparse_core_config\":{\"");
}

}  // namespace

struct HloWaitAnalysis::Attributes {
  std::string_view kind;
  std::string_view calls;  // or to_apply
  std::string_view target;
  std::string_view thread;
  std::string_view frontend;
  std::string_view config;
  std::string_view channel;
  std::string_view groups;
  std::string_view pairs;
  bool host_transfer = false;
  std::array<std::string_view, 5> others;  // body, condition, branches

  explicit Attributes(std::string_view attributes) {
    ForEachHloAttribute(attributes,
                        [this](std::string_view key, std::string_view value) { Take(key, value); });
  }

 private:
  static std::string_view Unquoted(std::string_view value) {
    if (!value.starts_with('"')) return value;
    return value.substr(1, EndOfHloString(value, 0) - 2);
  }

  void Take(std::string_view key, std::string_view value) {
    if (key == "kind") kind = value;
    if (key == "calls" || key == "to_apply") calls = value;
    if (key == "custom_call_target") target = Unquoted(value);
    if (key == "async_execution_thread") thread = Unquoted(value);
    if (key == "frontend_attributes") frontend = value;
    if (key == "backend_config") config = value;
    if (key == "channel_id") channel = value;
    if (key == "replica_groups") groups = value;
    if (key == "source_target_pairs") pairs = value;
    if (key == "is_host_transfer") host_transfer = value == "true";
    if (key == "body") others[0] = value;
    if (key == "condition") others[1] = value;
    if (key == "branch_computations") others[2] = value;
    if (key == "true_computation") others[3] = value;
    if (key == "false_computation") others[4] = value;
  }
};

std::string_view HloWaitsName(HloWaits waits) {
  switch (waits) {
    case HloWaits::kUnspecified:
      break;
    case HloWaits::kCompute:
      return "compute";
    case HloWaits::kInSlice:
      return "in-slice";
    case HloWaits::kComputeWithCollective:
      return "compute-with-collective";
    case HloWaits::kOtherSlice:
      return "other-slice";
    case HloWaits::kOwnHost:
      return "own-host";
    case HloWaits::kSparseCore:
      return "sparse-core";
    case HloWaits::kKernel:
      return "kernel";
    case HloWaits::kKernelInSlice:
      return "kernel-in-slice";
    case HloWaits::kOwnDma:
      return "own-dma";
    case HloWaits::kNothing:
      return "nothing";
    case HloWaits::kCalls:
      return "calls";
  }
  return "";
}

HloWaits HloWaitsOfLine(std::string_view instruction) {
  const size_t equals = instruction.find(" = ");
  const std::string_view text =
      equals == std::string_view::npos ? instruction : instruction.substr(equals + 3);
  const HloParts parts = ParseHloInstruction(text);
  const std::string_view whole = WholeOpcode(parts.opcode);
  const HloWaitAnalysis::Attributes attributes(parts.attributes);
  const bool told = IsOneOf(whole, kCollectiveOpcodes) || whole == "infeed" || whole == "outfeed" ||
                    (parts.opcode == "custom-call" && !attributes.target.empty()) ||
                    (IsTransfer(parts.opcode) && Contains(attributes.frontend, kHandler)) ||
                    (whole == parts.opcode && IsComplete(parts.opcode));
  if (!told) return HloWaits::kUnspecified;
  HloModule module;
  module.entry = 0;
  module.by_name.try_emplace("entry", 0);
  HloComputation& entry = module.computations.emplace_back();
  entry.name = "entry";
  entry.instructions.push_back({"instruction", text});
  return HloWaitAnalysis(module).Of(0, 0);
}

HloWaitAnalysis::HloWaitAnalysis(const HloModule& module)
    : module_(module),
      devices_(HloDevices(module.attributes)),
      reached_(module.computations.size(), false) {
  FindReached();
}

int HloWaitAnalysis::Called(std::string_view name) const {
  if (name.starts_with('%')) name.remove_prefix(1);
  const auto found = module_.by_name.find(name);
  return found == module_.by_name.end() ? -1 : found->second;
}

// Starts at the entry and follows loops, branches and calls. If the text was cut before its entry,
// starts at each computation that is no part of a fusion, reduction or asynchronous operation.
void HloWaitAnalysis::FindReached() {
  std::vector<int> pending;
  if (module_.entry >= 0) {
    Reach(module_.entry, pending);
  } else {
    ReachWhatNobodyHolds(pending);
  }
  while (!pending.empty()) {
    const HloComputation& computation = module_.computations[static_cast<size_t>(pending.back())];
    pending.pop_back();
    for (const HloInstruction& instruction : computation.instructions) {
      const HloParts parts = ParseHloInstruction(instruction.text);
      if (!IsOneOf(parts.opcode, kCallers)) continue;
      const Attributes attributes(parts.attributes);
      // A call that runs elsewhere is no place where this core stands.
      if (Contains(attributes.frontend, "_xla_compute_type=")) continue;
      std::vector<std::string_view> lists(attributes.others.begin(), attributes.others.end());
      if (parts.opcode == "call") lists.push_back(attributes.calls);
      for (std::string_view list : lists) {
        if (list.starts_with('{')) list = InHloBrackets(list);
        for (std::string_view name = NextHloName(list); !name.empty(); name = NextHloName(list)) {
          const int callee = Called(name);
          if (callee < 0) {
            lacks_computations_ = true;
          } else if (module_.computations[static_cast<size_t>(callee)].execution_thread ==
                     computation.execution_thread) {
            Reach(callee, pending);
          }
        }
      }
    }
  }
}

void HloWaitAnalysis::ReachWhatNobodyHolds(std::vector<int>& pending) {
  std::vector<bool> held(module_.computations.size(), false);
  for (const HloComputation& computation : module_.computations) {
    for (const HloInstruction& instruction : computation.instructions) {
      const HloParts parts = ParseHloInstruction(instruction.text);
      if (IsOneOf(parts.opcode, kCallers)) continue;
      const int callee = Called(Attributes(parts.attributes).calls);
      if (callee >= 0) held[static_cast<size_t>(callee)] = true;
    }
  }
  for (size_t i = 0; i < held.size(); ++i) {
    if (!held[i]) Reach(static_cast<int>(i), pending);
  }
}

void HloWaitAnalysis::Reach(int computation, std::vector<int>& pending) {
  if (reached_[static_cast<size_t>(computation)]) return;
  reached_[static_cast<size_t>(computation)] = true;
  pending.push_back(computation);
}

HloWaits HloWaitAnalysis::Of(int computation, int index) {
  if (!reached_[static_cast<size_t>(computation)]) return HloWaits::kUnspecified;
  const HloComputation& where = module_.computations[static_cast<size_t>(computation)];
  return Classify(computation, where.instructions[static_cast<size_t>(index)], 0);
}

void HloWaitAnalysis::NameStanding() {
  if (standing_.has_value()) return;
  standing_.emplace();
  for (int c = 0; c < static_cast<int>(module_.computations.size()); ++c) {
    if (!reached_[static_cast<size_t>(c)]) continue;
    const auto& all = module_.computations[static_cast<size_t>(c)].instructions;
    for (int i = 0; i < static_cast<int>(all.size()); ++i) {
      (*standing_)[all[static_cast<size_t>(i)].name].push_back({c, i});
    }
  }
}

HloPartners HloWaitAnalysis::PartnersOfName(std::string_view instruction) {
  NameStanding();
  const auto found = standing_->find(instruction);
  if (found == standing_->end() || found->second.size() != 1) return {};
  return PartnersOf(found->second.front().computation, found->second.front().index);
}

HloWaits HloWaitAnalysis::OfName(std::string_view instruction) {
  NameStanding();
  const auto found = standing_->find(instruction);
  if (found == standing_->end()) return HloWaits::kUnspecified;
  HloWaits waits = HloWaits::kUnspecified;
  for (const Place& place : found->second) {
    const HloWaits here = Of(place.computation, place.index);
    if (waits != HloWaits::kUnspecified && here != waits) return HloWaits::kUnspecified;
    waits = here;
  }
  return waits;
}

HloWaits HloWaitAnalysis::Classify(int computation, const HloInstruction& instruction, int depth) {
  const HloParts parts = ParseHloInstruction(instruction.text);
  const std::string_view opcode = parts.opcode;
  if (opcode.empty() || IsOneOf(opcode, kTimeless)) return HloWaits::kUnspecified;
  const Attributes attributes(parts.attributes);
  if (attributes.thread == "sparsecore") return HloWaits::kSparseCore;
  if (attributes.thread == "host") return HloWaits::kOwnHost;
  const std::string_view type = QuotedHloValue(attributes.frontend, "_xla_compute_type");
  if (type == "host") return HloWaits::kOwnHost;
  if (type.starts_with("sparse")) return HloWaits::kSparseCore;
  if (OnSparseCore(attributes.config)) return HloWaits::kSparseCore;
  const std::string_view whole = WholeOpcode(opcode);
  if (IsOneOf(whole, kCollectiveOpcodes)) return HloWaits::kInSlice;
  if (whole == "send" || whole == "recv") return ClassifyTransfer(computation, parts, attributes);
  if (whole == "infeed" || whole == "outfeed") return HloWaits::kOwnHost;
  if (whole.size() < opcode.size()) return ClassifyAsync(computation, parts, attributes, depth);
  if (IsOneOf(opcode, kCallers)) return HloWaits::kCalls;
  if (opcode == "custom-call") return ClassifyCustomCall(attributes);
  if (opcode == "fusion") return ClassifyFusion(computation, parts, attributes, depth);
  if (IsOneOf(opcode, kCopies) && InHostMemory(computation, parts)) return HloWaits::kOwnHost;
  return HloWaits::kCompute;
}

HloWaits HloWaitAnalysis::ClassifyCustomCall(const Attributes& attributes) {
  const std::string_view target = attributes.target;
  if (IsOneOf(target, kTimelessTargets)) return HloWaits::kNothing;
  if (target == "AsyncCollectiveStart" || target == "AsyncCollectiveDone") {
    return HloWaits::kInSlice;
  }
  // These targets announce a call to the SparseCores, or wait until they know of it.
  if (target == "PrepareAsyncCallStart" || target == "PrepareAsyncCallDone" ||
      target.starts_with("Sparse")) {
    return HloWaits::kSparseCore;
  }
  if (IsOneOf(target, kKernelTargets)) {
    return TalksToOthers(attributes.config) ? HloWaits::kKernelInSlice : HloWaits::kKernel;
  }
  if (target == "MoveToHost" || target == "MoveToDevice" || target == "HostExecute" ||
      Contains(target, "callback")) {
    return HloWaits::kOwnHost;
  }
  return HloWaits::kCompute;
}

HloWaits HloWaitAnalysis::OfContents(const Contents& contents) {
  if (contents.sparse_core) return HloWaits::kSparseCore;
  if (contents.collective) {
    const bool beside = (contents.works || contents.carries) && !contents.begins_or_ends_one;
    return beside ? HloWaits::kComputeWithCollective : HloWaits::kInSlice;
  }
  if (contents.begins_or_ends_one) return HloWaits::kInSlice;
  if (contents.other_slice) return HloWaits::kOtherSlice;
  if (contents.own_host) return HloWaits::kOwnHost;
  if (contents.kernel_in_slice) return HloWaits::kKernelInSlice;
  if (contents.kernel) return HloWaits::kKernel;
  return HloWaits::kCompute;
}

HloWaits HloWaitAnalysis::ClassifyFusion(int computation, const HloParts& parts,
                                         const Attributes& attributes, int depth) {
  const int callee = Called(attributes.calls);
  if (callee < 0) {
    lacks_computations_ = true;
    return HloWaits::kUnspecified;
  }
  const Contents contents = ContentsOf(callee, depth + 1);
  const HloWaits waits = OfContents(contents);
  const bool moves = waits == HloWaits::kCompute && contents.moves_only;
  return moves && InHostMemory(computation, parts) ? HloWaits::kOwnHost : waits;
}

HloWaits HloWaitAnalysis::ClassifyAsync(int computation, const HloParts& parts,
                                        const Attributes& attributes, int depth) {
  const std::string_view whole = WholeOpcode(parts.opcode);
  if (IsOneOf(whole, kCopies)) return ClassifyCopy(computation, parts);
  if (IsLaterHalf(parts.opcode) && attributes.calls.empty() && attributes.target.empty()) {
    const Place start = StartOf(computation, parts);
    if (depth > kMaxWaitDepth) return HloWaits::kCompute;
    if (start.computation < 0) return OfAnyStart(whole, depth);
    return Classify(computation, InstructionAt(start), depth + 1);
  }
  if (whole == "custom-call") return ClassifyCustomCall(attributes);
  const int callee = Called(attributes.calls);
  if (callee < 0) {
    lacks_computations_ = lacks_computations_ || !attributes.calls.empty();
    return HloWaits::kCompute;
  }
  const HloComputation& called = module_.computations[static_cast<size_t>(callee)];
  if (called.execution_thread == "sparsecore") return HloWaits::kSparseCore;
  if (called.execution_thread == "host") return HloWaits::kOwnHost;
  const Contents contents = ContentsOf(callee, depth + 1);
  const HloWaits waits = OfContents(contents);
  if (waits == HloWaits::kCompute && contents.moves_only) return ClassifyCopy(computation, parts);
  return waits;
}

HloWaits HloWaitAnalysis::ClassifyTransfer(int computation, const HloParts& parts,
                                           const Attributes& attributes) {
  std::string_view handler = QuotedHloValue(attributes.frontend, kHandler);
  bool host = attributes.host_transfer;
  if (handler.empty()) {
    Place start = StartOf(computation, parts);
    if (start.computation < 0) start = StartByChannel(attributes.channel);
    if (start.computation >= 0) {
      const Attributes of_start(ParseHloInstruction(InstructionAt(start).text).attributes);
      handler = QuotedHloValue(of_start.frontend, kHandler);
      host = host || of_start.host_transfer;
    }
  }
  if (handler == kMegascale) return HloWaits::kOtherSlice;
  // A transfer to the worker's own host names its handler (pjrt_rendezvous); a wait for another
  // slice that passed for such a transfer would accuse the host.
  if (handler.empty()) return host ? HloWaits::kOtherSlice : HloWaits::kInSlice;
  return HloWaits::kOwnHost;
}

HloWaits HloWaitAnalysis::ClassifyCopy(int computation, const HloParts& parts) {
  return InHostMemory(computation, parts) ? HloWaits::kOwnHost : HloWaits::kOwnDma;
}

// True if the copy reads from or writes to the host's memory.
bool HloWaitAnalysis::InHostMemory(int computation, const HloParts& parts) {
  if (Contains(parts.shape, kHostMemory) || Contains(parts.operands, kHostMemory)) return true;
  std::string_view operands = parts.operands;
  for (std::string_view name = NextHloName(operands); !name.empty(); name = NextHloName(operands)) {
    const int operand = Find(computation, name);
    if (operand < 0) continue;
    const HloParts of_operand = ParseHloInstruction(InstructionAt({computation, operand}).text);
    if (!Contains(of_operand.shape, kHostMemory)) continue;
    // Of a tuple that is handed on, the copy may touch a part only.
    if (!of_operand.shape.starts_with('(') || IsLaterHalf(parts.opcode)) return true;
  }
  return false;
}

int HloWaitAnalysis::Find(int computation, std::string_view name) {
  const auto& all = module_.computations[static_cast<size_t>(computation)].instructions;
  auto [names, added] = names_.try_emplace(computation);
  if (added) {
    names->second.reserve(all.size());
    for (size_t i = 0; i < all.size(); ++i) {
      names->second.try_emplace(all[i].name, static_cast<int>(i));
    }
  }
  const auto found = names->second.find(name);
  return found == names->second.end() ? -1 : found->second;
}

const HloInstruction& HloWaitAnalysis::InstructionAt(Place place) const {
  return module_.computations[static_cast<size_t>(place.computation)]
      .instructions[static_cast<size_t>(place.index)];
}

HloWaitAnalysis::Place HloWaitAnalysis::StartOf(int computation, const HloParts& parts) {
  Place found;
  std::string_view operands = parts.operands;
  std::string_view opcode = parts.opcode;
  for (int i = 0; i < kMostHalves && (IsLaterHalf(opcode) || opcode == "get-tuple-element"); ++i) {
    const int next = Find(computation, NextHloName(operands));
    if (next < 0) return {};
    found = {computation, next};
    const HloParts of_next = ParseHloInstruction(InstructionAt(found).text);
    operands = of_next.operands;
    opcode = of_next.opcode;
  }
  const bool starts = opcode.ends_with(kStartSuffix) || opcode == "send" || opcode == "recv";
  return starts ? found : Place{};
}

HloWaitAnalysis::Place HloWaitAnalysis::StartByChannel(std::string_view channel) {
  if (!channels_.has_value()) {
    channels_.emplace();
    for (int c = 0; c < static_cast<int>(module_.computations.size()); ++c) {
      const auto& all = module_.computations[static_cast<size_t>(c)].instructions;
      for (int i = 0; i < static_cast<int>(all.size()); ++i) {
        const HloParts parts = ParseHloInstruction(all[static_cast<size_t>(i)].text);
        if (parts.opcode != "send" && parts.opcode != "recv") continue;
        channels_->try_emplace(Attributes(parts.attributes).channel, Place{c, i});
      }
    }
  }
  const auto found = channels_->find(channel);
  return channel.empty() || found == channels_->end() ? Place{} : found->second;
}

// Classifies an asynchronous operation that a loop hands on from round to round: by the operations
// of that opcode that begin in the module, and as a collective if any of these is a collective.
HloWaits HloWaitAnalysis::OfAnyStart(std::string_view whole, int depth) {
  const auto [memo, added] = of_any_start_.try_emplace(whole, HloWaits::kCompute);
  if (!added) return memo->second;
  HloWaits waits = HloWaits::kUnspecified;
  for (int c = 0; c < static_cast<int>(module_.computations.size()); ++c) {
    if (!reached_[static_cast<size_t>(c)]) continue;
    for (const HloInstruction& one : module_.computations[static_cast<size_t>(c)].instructions) {
      const std::string_view opcode = ParseHloInstruction(one.text).opcode;
      if (WholeOpcode(opcode) != whole || !opcode.ends_with(kStartSuffix)) continue;
      const HloWaits here = Classify(c, one, depth + 1);
      if (waits == HloWaits::kUnspecified || here == HloWaits::kInSlice) waits = here;
    }
  }
  if (waits == HloWaits::kUnspecified) waits = HloWaits::kCompute;
  return of_any_start_[whole] = waits;
}

HloWaitAnalysis::Contents HloWaitAnalysis::ContentsOf(int computation, int depth) {
  if (depth > kMaxWaitDepth) return {};
  if (const auto found = contents_.find(computation); found != contents_.end()) {
    return found->second;
  }
  contents_[computation] = {};  // for a computation that calls itself
  Contents contents;
  for (const HloInstruction& instruction :
       module_.computations[static_cast<size_t>(computation)].instructions) {
    AddTo(contents, instruction, depth);
  }
  return contents_[computation] = contents;
}

void HloWaitAnalysis::AddTo(Contents& contents, const HloInstruction& instruction, int depth) {
  const HloParts parts = ParseHloInstruction(instruction.text);
  if (parts.opcode.empty() || IsOneOf(parts.opcode, kTimeless)) return;
  const Attributes attributes(parts.attributes);
  const std::string_view whole = WholeOpcode(parts.opcode);
  contents.sparse_core = contents.sparse_core || OnSparseCore(attributes.config);
  if (IsOneOf(whole, kCollectiveOpcodes)) {
    contents.collective = true;
    const size_t carried = attributes.config.find("\"async_collective_fusion_config\":{");
    // The steps of a split collective are numbered; -1 marks a start or an unsplit collective.
    contents.carries =
        contents.carries || (carried != std::string_view::npos &&
                             !attributes.config.substr(carried).starts_with(
                                 "\"async_collective_fusion_config\":{\"flag_start\":\"-1\""));
    return;
  }
  if (whole == "send" || whole == "recv") {
    const bool between = Contains(attributes.frontend, kMegascale);
    contents.other_slice = contents.other_slice || between;
    contents.own_host = contents.own_host || (!between && attributes.host_transfer);
    contents.collective = contents.collective || (!between && !attributes.host_transfer);
    return;
  }
  if (whole == "infeed" || whole == "outfeed") contents.own_host = true;
  if (parts.opcode == "custom-call") {
    const HloWaits waits = ClassifyCustomCall(attributes);
    contents.begins_or_ends_one = contents.begins_or_ends_one || waits == HloWaits::kInSlice;
    contents.kernel = contents.kernel || waits == HloWaits::kKernel;
    contents.kernel_in_slice = contents.kernel_in_slice || waits == HloWaits::kKernelInSlice;
    contents.sparse_core = contents.sparse_core || waits == HloWaits::kSparseCore;
    contents.own_host = contents.own_host || waits == HloWaits::kOwnHost;
    contents.works = contents.works || waits == HloWaits::kCompute;
    contents.moves_only = contents.moves_only && waits == HloWaits::kNothing;
    return;
  }
  const int callee = parts.opcode == "fusion" || parts.opcode == "call" || whole == "async"
                         ? Called(attributes.calls)
                         : -1;
  if (callee >= 0) {
    const Contents called = ContentsOf(callee, depth + 1);
    contents.collective = contents.collective || called.collective;
    contents.begins_or_ends_one = contents.begins_or_ends_one || called.begins_or_ends_one;
    contents.carries = contents.carries || called.carries;
    contents.kernel = contents.kernel || called.kernel;
    contents.kernel_in_slice = contents.kernel_in_slice || called.kernel_in_slice;
    contents.sparse_core = contents.sparse_core || called.sparse_core;
    contents.other_slice = contents.other_slice || called.other_slice;
    contents.own_host = contents.own_host || called.own_host;
    contents.works = contents.works || called.works;
    contents.moves_only = contents.moves_only && called.moves_only;
    return;
  }
  if (IsOneOf(whole, kMoves)) return;
  if (IsOneOf(parts.opcode, kWork)) contents.works = true;
  if (!IsScalar(parts.shape)) contents.moves_only = false;
}

HloPartners HloWaitAnalysis::PartnersOf(int computation, int index) {
  HloPartners partners;
  Place at{computation, index};
  for (int depth = 0; depth < kMaxWaitDepth && at.computation >= 0; ++depth) {
    const HloInstruction& instruction = InstructionAt(at);
    const HloParts parts = ParseHloInstruction(instruction.text);
    if (parts.opcode.empty() || IsOneOf(parts.opcode, kTimeless)) break;
    const Attributes attributes(parts.attributes);
    if (!partners.channel.has_value()) partners.channel = NumberIn(attributes.channel);
    if (partners.rendezvous.empty() && IsTransfer(parts.opcode)) {
      partners.rendezvous = QuotedHloValue(attributes.frontend, "_xla_host_transfer_rendezvous");
    }
    if (!attributes.pairs.empty() || !attributes.groups.empty()) {
      partners.pairs = !attributes.pairs.empty();
      partners.groups =
          ParseHloGroups(attributes.pairs.empty() ? attributes.groups : attributes.pairs, devices_);
      break;
    }
    at = NextTelling(at, parts, attributes);
  }
  return partners;
}

// The place that tells more of the participants: the first half, or a place in the callee.
HloWaitAnalysis::Place HloWaitAnalysis::NextTelling(Place at, const HloParts& parts,
                                                    const Attributes& attributes) {
  if (parts.opcode == "fusion" || WholeOpcode(parts.opcode) == "async" ||
      (parts.opcode == "call" && !reached_[static_cast<size_t>(at.computation)])) {
    if (const int callee = Called(attributes.calls); callee >= 0) return FirstTelling(callee);
  }
  if (!IsLaterHalf(parts.opcode)) return {};
  const Place start = StartOf(at.computation, parts);
  const bool found = start.computation >= 0 &&
                     ParseHloInstruction(InstructionAt(start).text).opcode.ends_with(kStartSuffix);
  if (found || !IsTransfer(parts.opcode)) return found ? start : Place{};
  return StartByChannel(attributes.channel);
}

// The first collective or transfer of a computation, or the first instruction that calls a
// computation with a collective.
HloWaitAnalysis::Place HloWaitAnalysis::FirstTelling(int computation) {
  const auto [memo, added] = first_telling_.try_emplace(computation);
  if (!added) return memo->second;
  Place found;
  const auto& all = module_.computations[static_cast<size_t>(computation)].instructions;
  for (size_t i = 0; i < all.size() && found.computation < 0; ++i) {
    const HloParts parts = ParseHloInstruction(all[i].text);
    bool tells = IsOneOf(WholeOpcode(parts.opcode), kCollectiveOpcodes) || IsTransfer(parts.opcode);
    if (!tells && (parts.opcode == "fusion" || parts.opcode == "call")) {
      const int callee = Called(Attributes(parts.attributes).calls);
      tells = callee >= 0 && ContentsOf(callee, 0).collective;
    }
    if (tells) found = {computation, static_cast<int>(i)};
  }
  return first_telling_[computation] = found;
}

}  // namespace rapideye::classifier
