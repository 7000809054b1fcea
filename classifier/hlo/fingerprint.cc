#include "classifier/hlo/fingerprint.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "classifier/hlo/module.h"
#include "classifier/hlo/token.h"

namespace rapideye::classifier {
namespace {

// FNV-1a: the same everywhere, unlike the hashes of containers.
class StableHash {
 public:
  void Add(std::string_view bytes) {
    for (const char c : bytes) AddByte(static_cast<unsigned char>(c));
    AddByte(kEnd);
  }
  void Add(char kind, int number) {
    AddByte(static_cast<unsigned char>(kind));
    for (int shift = 0; shift < 32; shift += 8) {
      AddByte(static_cast<unsigned char>((static_cast<uint32_t>(number) >> shift) & 0xff));
    }
  }
  uint64_t value() const { return value_; }

 private:
  static constexpr unsigned char kEnd = 0xff;  // in no UTF-8
  void AddByte(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3ULL; }

  uint64_t value_ = 0xcbf29ce484222325ULL;
};

// Opcodes, also as the first half of an asynchronous one.
constexpr std::array<std::string_view, 7> kCollectives = {
    "all-reduce",     "all-gather",         "all-to-all",          "ragged-all-to-all",
    "reduce-scatter", "collective-permute", "collective-broadcast"};
constexpr std::string_view kStart = "-start";
constexpr std::string_view kBetweenSlices = "xla_megascale_runtime";

// "all-reduce" of "(f32[8]{0:T(8,128)}, f32[]) all-reduce(%a, %b), …": the word behind the shape.
std::string_view OpcodeOf(std::string_view instruction) {
  int depth = 0;
  size_t at = 0;
  for (; at < instruction.size(); ++at) {
    const char c = instruction[at];
    if (c == '(' || c == '{' || c == '[') ++depth;
    if (c == ')' || c == '}' || c == ']') --depth;
    if (c == ' ' && depth == 0) break;
  }
  instruction.remove_prefix(std::min(at + 1, instruction.size()));
  return instruction.substr(0, instruction.find('('));
}

bool WaitsForOthers(std::string_view instruction) {
  std::string_view opcode = OpcodeOf(instruction);
  // Transfers to and from the worker's own host bear the same opcodes.
  if (opcode == "send" || opcode == "recv") {
    return instruction.find(kBetweenSlices) != std::string_view::npos;
  }
  if (opcode.ends_with(kStart)) opcode.remove_suffix(kStart.size());
  return std::find(kCollectives.begin(), kCollectives.end(), opcode) != kCollectives.end();
}

std::optional<uint64_t> NumberAtStart(std::string_view text) {
  uint64_t value = 0;
  const std::from_chars_result end = std::from_chars(text.data(), text.data() + text.size(), value);
  return end.ec == std::errc() ? std::optional(value) : std::nullopt;
}

// Callbacks of older versions of JAX pass the address of an object to their custom call.
bool IsAddress(std::string_view instruction) {
  constexpr uint64_t kLeastAddress = uint64_t{1} << 32;
  if (!instruction.starts_with("u64[] constant(") && !instruction.starts_with("s64[] constant(")) {
    return false;
  }
  instruction.remove_prefix(instruction.find('(') + 1);
  return NumberAtStart(instruction).value_or(0) >= kLeastAddress;
}

// The value of "name=4" in the module's attributes; 1 if it is not there.
int64_t CountOfConfiguration(std::string_view attributes, std::string_view name) {
  const size_t at = attributes.find(name);
  if (at == std::string_view::npos) return 1;
  constexpr uint64_t kMostDevices = 1'000'000;  // of either: their product is no overflow
  const uint64_t count = NumberAtStart(attributes.substr(at + name.size())).value_or(1);
  return static_cast<int64_t>(std::min(count, kMostDevices));
}

class Walk {
 public:
  explicit Walk(const HloModule& module) : module_(module) {}

  // Starts at the entry computation and takes each computation once, in the order of calls: the
  // order in the text, and the names of computations, do not matter.
  HloFingerprint Run() {
    HloFingerprint result;
    result.module = std::string(module_.name);
    result.devices = CountOfConfiguration(module_.attributes, "replica_count=") *
                     CountOfConfiguration(module_.attributes, "num_partitions=");
    hash_.Add(module_.name);
    AddTokens(module_.attributes);
    NumberOf(module_.entry);
    for (size_t i = 0; i < called_.size(); ++i) AddComputation(called_[i]);
    result.has_collective = has_collective_;
    result.digits = absl::StrCat(absl::Hex(hash_.value(), absl::kZeroPad16));
    return result;
  }

 private:
  int NumberOf(int computation) {
    const auto [it, added] = numbers_.try_emplace(computation, static_cast<int>(called_.size()));
    if (added) called_.push_back(computation);
    return it->second;
  }

  void AddComputation(int index) {
    const HloComputation& computation = module_.computations[static_cast<size_t>(index)];
    names_.clear();
    for (const HloInstruction& instruction : computation.instructions) {
      names_.try_emplace(instruction.name, static_cast<int>(names_.size()));
    }
    hash_.Add('{', static_cast<int>(computation.instructions.size()));
    for (const HloInstruction& instruction : computation.instructions) {
      has_collective_ = has_collective_ || WaitsForOthers(instruction.text);
      if (IsAddress(instruction.text)) {
        hash_.Add("address");
      } else {
        AddTokens(instruction.text);
      }
    }
    names_.clear();
  }

  void AddTokens(std::string_view text) {
    HloTokens tokens(text, HloTokens::Skipped::kHowAsWell);
    for (HloToken token = tokens.Next(); !token.text.empty(); token = tokens.Next())
      AddToken(token);
    hash_.Add("");
  }

  void AddToken(const HloToken& token) {
    if (token.reference) {
      if (const auto it = names_.find(token.text); it != names_.end()) {
        return hash_.Add('%', it->second);
      }
      if (const auto it = module_.by_name.find(token.text); it != module_.by_name.end()) {
        return hash_.Add('@', NumberOf(it->second));
      }
    }
    hash_.Add(token.text);
  }

  const HloModule& module_;
  StableHash hash_;
  bool has_collective_ = false;
  std::vector<int> called_;                           // by number
  absl::flat_hash_map<int, int> numbers_;             // of computations
  absl::flat_hash_map<std::string_view, int> names_;  // instructions of the present one
};

bool IsWhole(const HloModule& module) {
  return module.complete && module.entry >= 0 &&
         std::all_of(module.computations.begin(), module.computations.end(),
                     [](const HloComputation& computation) { return computation.complete; });
}

}  // namespace

std::optional<HloFingerprint> FingerprintHlo(std::string_view text) {
  const std::optional<HloModule> module = ParseHloModule(text);
  if (!module.has_value() || !IsWhole(*module)) return std::nullopt;
  return Walk(*module).Run();
}

}  // namespace rapideye::classifier
