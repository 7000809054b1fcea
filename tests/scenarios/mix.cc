#include "tests/scenarios/mix.h"

#include <initializer_list>

namespace rapideye::scenarios {
namespace {

constexpr double kAbortedShare = 0.25;

void AddShares(double percent, std::initializer_list<Kind> kinds, std::vector<Share>& mix) {
  for (const Kind kind : kinds) {
    mix.push_back({kind, percent / static_cast<double>(kinds.size())});
  }
}

}  // namespace

std::vector<Share> FlatMix() {
  std::vector<Share> mix;
  for (const Kind kind : AllKinds()) mix.push_back({kind, 1.0});
  return mix;
}

std::vector<Share> HealthyMix() {
  std::vector<Share> mix;
  for (const Kind kind : AllKinds()) {
    if (IsHealthyKind(kind)) mix.push_back({kind, 1.0});
  }
  return mix;
}

std::vector<Share> RealisticMix() {
  std::vector<Share> mix;
  AddShares(22, {Kind::kChipCompute, Kind::kChipTail}, mix);
  AddShares(18,
            {Kind::kChipLoop, Kind::kChipTwo, Kind::kChipHaltText, Kind::kChipPcie,
             Kind::kSparseCore, Kind::kSparseCoreOffload, Kind::kRingFar},
            mix);
  AddShares(18, {Kind::kDcnLink, Kind::kDcnHost, Kind::kDcnNic, Kind::kIciLink}, mix);
  AddShares(18,
            {Kind::kInputOneHost, Kind::kInputSeveralHosts, Kind::kInputAllHosts,
             Kind::kInputAtEntry, Kind::kProgramNotQueued},
            mix);
  AddShares(8,
            {Kind::kWorkerLost, Kind::kProcessExit, Kind::kProcessKilled, Kind::kProcessStopped,
             Kind::kPreempted},
            mix);
  AddShares(10,
            {Kind::kModuleOneHost, Kind::kModuleManyHosts, Kind::kModuleSlice, Kind::kLaunchOrder,
             Kind::kLaunchGroup, Kind::kFingerprintFew, Kind::kFingerprintMany},
            mix);
  AddShares(6,
            {Kind::kHaltAssertion, Kind::kHaltUser, Kind::kOutOfMemory, Kind::kCopyFailed,
             Kind::kPower, Kind::kPipeline, Kind::kTwoFaults, Kind::kUnknownCause},
            mix);
  return mix;
}

Draw DrawFrom(const std::vector<Share>& mix, uint64_t seed) {
  constexpr uint64_t kStream = 0x5ca1ab1e;
  Random random(seed ^ kStream);
  double total = 0;
  for (const Share& share : mix) total += share.weight;
  constexpr int64_t kGrain = 1'000'000'000;
  double left = total * static_cast<double>(random.Between(0, kGrain - 1)) / kGrain;
  Draw draw{.kind = mix.back().kind};
  for (const Share& share : mix) {
    left -= share.weight;
    if (left < 0) {
      draw.kind = share.kind;
      break;
    }
  }
  draw.aborted = !IsHealthyKind(draw.kind) && random.Chance(kAbortedShare);
  return draw;
}

}  // namespace rapideye::scenarios
