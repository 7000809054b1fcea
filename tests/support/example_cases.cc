#include "tests/support/example_cases.h"

#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::digest {
namespace {

constexpr int kChips = 4;
constexpr int64_t kFrozenMs = 60'000;
constexpr int64_t kDetectedUnixMs = 1'790'999'660'139;
constexpr char kFingerprint[] = "546cf960f488fbb06cb55381c762f061";
constexpr char kOtherFingerprint[] = "111310349a2cb0fe2db1ccf8f6a48480";

std::string HostName(int slice, int task) {
  return "tpu-" + std::to_string(slice) + "-" + std::to_string(task);
}

Core FrozenCore(int chip) {
  Core core;
  core.chip = chip;
  core.type = CoreType::kTensorCore;
  core.program = 0;
  core.launch_id = 804;
  core.stuck_ms = kFrozenMs;
  Sequencer sequencer;
  sequencer.type = SequencerType::kTensorCoreSequencer;
  sequencer.pc = 0x1f03;
  sequencer.tag = 2;
  // HLO is asked of few: here of one chip a host.
  if (chip == 0) sequencer.hlo = "all-reduce.3";
  sequencer.frozen_ms = kFrozenMs;
  core.sequencers.push_back(sequencer);
  return core;
}

Culprit CulpritAt(int slice, int task, std::string why) {
  Culprit culprit;
  culprit.worker = {slice, task};
  culprit.host = HostName(slice, task);
  culprit.why = std::move(why);
  return culprit;
}

Verdict VerdictOf(Cause cause, Detail detail, double confidence, const std::string& next_step) {
  Verdict verdict;
  verdict.cause = cause;
  verdict.detail = detail;
  const bool states = cause != Cause::kUnknown && cause != Cause::kNoHang;
  if (states) verdict.confidence = confidence;
  if (!next_step.empty()) verdict.actions.push_back({next_step, std::nullopt});
  verdict.removal.reason = "this finding never removes a host by itself";
  return verdict;
}

// Two groups of cores, of which one waits for the other.
WaitChain ChainToOneChip() {
  ChainGroup many;
  many.wait = WaitKind::kCollective;
  many.cores = 31;
  for (int slice = 0; slice < 2; ++slice) {
    for (int task = 0; task < 4; ++task) many.workers.push_back({slice, task});
  }
  many.module = "jit_train_step";
  many.fingerprint = "3daf1e27";
  many.launch_id = 4711;
  many.tag = 2;
  many.pc = 0x21b1;
  many.instruction = "all-reduce.3";
  many.since_ms = kFrozenMs;
  ChainGroup one;
  one.wait = WaitKind::kCompute;
  one.head = true;
  one.cores = 1;
  one.workers = {{1, 2}};
  one.chip = 2;
  one.core_type = CoreType::kTensorCore;
  one.core_index = 0;
  one.pc = 0x11;
  one.instruction = "fusion.212";
  one.queue = {"jit_train_step"};
  one.host_place = "is within a step by its progress page";
  WaitChain chain;
  chain.groups = {many, one};
  chain.edges = {{0, 1, WaitEdgeKind::kCollective}};
  chain.more_groups = 1;
  chain.more_cores = 4;
  chain.more_workers = 1;
  return chain;
}

ExampleCase BadChip() {
  ExampleCase example{"bad-tpu-chip",
                      "2 slices of 4 workers; chip 2 of slice 1 task 2 stands at a plain fusion "
                      "before the all-reduce where all others wait; fatal PCIe error on it",
                      FrozenJob(2, 4),
                      VerdictOf(Cause::kBadTpuChip, Detail::kTensorCore, 0.93,
                                "Remove host tpu-1-2 and restart the job.")};
  Sequencer& stuck = SequencerAt(example.capture, 1, 2, 2);
  stuck.pc = 0x11;
  stuck.hlo = "fusion.212";
  stuck.frozen_ms = kFrozenMs + 5'000;
  Culprit culprit = CulpritAt(1, 2, "stands at fusion.212, which its peers have passed");
  culprit.chip = 2;
  culprit.core_type = CoreType::kTensorCore;
  culprit.core_index = 0;
  example.verdict.culprits.push_back(culprit);
  example.verdict.evidence = {
      {"PCIe reports 1 fatal error on chip 2 of tpu-1-2.", Strength::kDirect, {{1, 2}}},
      {"31 of 32 cores wait at all-reduce.3; 1 has not arrived.", Strength::kStrong, {{1, 2}}}};
  Alternative other;
  other.cause = Cause::kNetworkingIssue;
  other.detail = Detail::kIciLink;
  other.confidence = 0.04;
  other.culprits.push_back(CulpritAt(1, 2, ""));
  other.why = "a link of the same chip would look alike";
  example.verdict.alternatives.push_back(other);
  example.verdict.removal = {
      true, {{"tpu-1-2", std::nullopt, std::nullopt, 2}}, "fatal PCIe error on that chip"};
  example.verdict.reasons = {{"wait_graph", "1 core is waited for by 31"},
                             {"bad_chip", "it stands at no wait"}};
  example.verdict.chain = ChainToOneChip();
  Considered lost;
  lost.cause = Cause::kDataInputStall;
  lost.detail = Detail::kProgramNotQueued;
  lost.why = WhyNot::kLessCertain;
  lost.certainty = 0.4;
  lost.by = Cause::kBadTpuChip;
  lost.by_detail = Detail::kTensorCore;
  lost.workers = {{1, 2}};
  Considered not_found;
  not_found.cause = Cause::kNetworkingIssue;
  not_found.why = WhyNot::kLinksWork;
  not_found.count = 48;
  example.verdict.considered = {lost, not_found};
  return example;
}

ExampleCase Networking() {
  ExampleCase example{
      "networking-issue",
      "2 slices of 4 workers; tpu-0-3 and tpu-1-3 cannot reach each other over eth1",
      FrozenJob(2, 4),
      VerdictOf(Cause::kNetworkingIssue, Detail::kDcnLink, 0.88,
                "Look at the link between tpu-0-3 and tpu-1-3 (eth1).")};
  example.verdict.culprits = {CulpritAt(0, 3, "131072 bytes unacknowledged for 61 s"),
                              CulpritAt(1, 3, "probe to tpu-0-3 failed")};
  example.verdict.links.push_back({{0, 3}, {1, 3}, "eth1", "unacknowledged bytes, failed probes"});
  example.verdict.evidence = {
      {"tpu-0-3 holds 131072 unacknowledged bytes for tpu-1-3.", Strength::kStrong, {{0, 3}}}};
  return example;
}

ExampleCase DifferentModule() {
  ExampleCase example{"different-module", "1 slice of 4 workers; tpu-0-1 runs jit_eval_step",
                      FrozenJob(1, 4),
                      VerdictOf(Cause::kDifferentModule, Detail::kModuleDivergence, 0.9,
                                "Compare the programs of tpu-0-0 and tpu-0-1.")};
  SnapshotOf(example.capture, 0, 1).programs = {{"jit_eval_step", kOtherFingerprint}};
  for (int chip = 0; chip < kChips; ++chip) {
    Sequencer& sequencer = SequencerAt(example.capture, 0, 1, chip);
    sequencer.pc = 0x900;
    sequencer.hlo = std::nullopt;
  }
  example.verdict.culprits = {CulpritAt(0, 1, "runs jit_eval_step, the others jit_train_step")};
  return example;
}

ExampleCase FingerprintMismatch() {
  ExampleCase example{"fingerprint-mismatch",
                      "1 slice of 2 workers; both run jit_train_step with different fingerprints",
                      FrozenJob(1, 2),
                      VerdictOf(Cause::kFingerprintMismatch, Detail::kNone, 0.97,
                                "Compare the HLO of tpu-0-0 and tpu-0-1.")};
  SnapshotOf(example.capture, 0, 1).programs[0].fingerprint = kOtherFingerprint;
  example.verdict.culprits = {CulpritAt(0, 0, "fingerprint 546cf960"),
                              CulpritAt(0, 1, "fingerprint 11131034")};
  HloComparison& comparison = example.capture.header.hlo_comparison.emplace();
  comparison.outcome = HloOutcome::kDifferent;
  comparison.position = 4;
  for (int task = 0; task < 2; ++task) {
    HloSide& side = comparison.sides.emplace_back();
    side.worker = {0, task};
    side.module = "jit_train_step";
    side.fingerprint = task == 0 ? kFingerprint : kOtherFingerprint;
    side.dump = "module_0003.jit_train_step.after_optimizations.txt";
    side.match = HloMatch::kOnlyDump;
    side.computation = "main.12_spmd";
    side.instruction =
        absl::StrCat("copy.9 = f32[8]{0} ", task == 0 ? "copy" : "negate", "(all-reduce.3)");
    example.verdict.sides.push_back({side.module, side.fingerprint, {side.worker}});
  }
  comparison.inputs = {{.kind = InputKind::kFlag,
                        .name = "xla_tpu_scoped_vmem_limit_kib",
                        .more = 2,
                        .values = {"16384", "65536"}},
                       {.kind = InputKind::kProgram,
                        .name = "train.py:106",
                        .more = std::nullopt,
                        .values = {"dot: bf16[64,128]", "dot: bf16[32,128]"}}};
  return example;
}

ExampleCase DataStall() {
  ExampleCase example{"data-input-stall",
                      "1 slice of 4 workers; tpu-0-2 is idle and waits for input", FrozenJob(1, 4),
                      VerdictOf(Cause::kDataInputStall, Detail::kInputPipeline, 0.91,
                                "Check the data source of tpu-0-2.")};
  Snapshot& snapshot = SnapshotOf(example.capture, 0, 2);
  for (Core& core : snapshot.cores) {
    core.program = std::nullopt;
    core.launch_id = std::nullopt;
    core.sequencers[0].pc = 0;
    core.sequencers[0].tag = 0;
    core.sequencers[0].hlo = std::nullopt;
    core.sequencers[0].frozen_ms = 63'000;
  }
  snapshot.progress = Progress{100, Phase::kInput, 63'000, 63'000};
  example.verdict.culprits = {CulpritAt(0, 2, "has waited 63 s for input")};
  return example;
}

ExampleCase Unrecoverable() {
  ExampleCase example{"unrecoverable-error",
                      "2 slices of 2 workers; the process of tpu-1-0 exited with status 1, and "
                      "tpu-1-1 has no snapshot",
                      FrozenJob(2, 2),
                      VerdictOf(Cause::kUnrecoverableError, Detail::kProcessExit, 0.95,
                                "Read the log of tpu-1-0 before its exit.")};
  Process process;
  process.pid = 4711;
  process.state = ProcessState::kExited;
  process.exit_code = 1;
  process.exited_ms_ago = 71'500;
  SnapshotOf(example.capture, 1, 0).processes.push_back(process);
  example.capture.snapshots.pop_back();
  example.verdict.missing = {{1, 1}};
  example.verdict.culprits = {CulpritAt(1, 0, "process 4711 exited with status 1")};
  example.verdict.runtime_verdict =
      RuntimeVerdict{Cause::kUnrecoverableError, {WorkerId{1, 0}}, true};
  Process leftover;
  leftover.pid = 4000;
  leftover.user = "tpu";
  leftover.started_ms_ago = 86'400'000;
  leftover.command = "python3";
  example.verdict.holders = {ForeignHolder{WorkerId{1, 0}, leftover}};
  return example;
}

ExampleCase Unknown() {
  ExampleCase example{
      "unknown", "2 slices of 4 workers; all wait at the same all-reduce", FrozenJob(2, 4),
      VerdictOf(Cause::kUnknown, Detail::kNone, 0.3, "Collect the health of ICI links next time.")};
  example.verdict.lacking = {"No worker reported the health of its ICI links."};
  return example;
}

ExampleCase NoHang() {
  ExampleCase example{"no-hang", "1 slice of 2 workers; cores move", FrozenJob(1, 2),
                      VerdictOf(Cause::kNoHang, Detail::kNone, 0.99, "")};
  example.capture.header.trigger = "operator";
  example.verdict.evidence = {
      {"All 8 cores completed a launch within the last second.", Strength::kDirect, {}}};
  return example;
}

}  // namespace

Capture FrozenJob(int slices, int tasks) {
  Capture capture;
  capture.header.job = "llama-70b";
  capture.header.job_incarnation = "f96a957a86b6";
  capture.header.trigger = "no-progress";
  capture.header.hang_threshold_ms = kFrozenMs;
  capture.header.detected_unix_ms = kDetectedUnixMs;
  for (int slice = 0; slice < slices; ++slice) {
    for (int task = 0; task < tasks; ++task) {
      const std::string host = HostName(slice, task);
      capture.header.expected_workers.push_back({{slice, task}, host, std::nullopt});
      Snapshot snapshot;
      snapshot.worker = {slice, task};
      snapshot.host = host;
      snapshot.runtime.state = RuntimeState::kServing;
      snapshot.programs = {{"jit_train_step", kFingerprint}};
      for (int chip = 0; chip < kChips; ++chip) snapshot.cores.push_back(FrozenCore(chip));
      capture.snapshots.push_back(std::move(snapshot));
    }
  }
  return capture;
}

Snapshot& SnapshotOf(Capture& capture, int slice, int task) {
  for (Snapshot& snapshot : capture.snapshots) {
    if (snapshot.worker == WorkerId{slice, task}) return snapshot;
  }
  throw std::out_of_range("no such worker");
}

Sequencer& SequencerAt(Capture& capture, int slice, int task, int chip) {
  return SnapshotOf(capture, slice, task).cores.at(static_cast<size_t>(chip)).sequencers.at(0);
}

std::vector<ExampleCase> ExampleCases() {
  return {BadChip(),   Networking(),    DifferentModule(), FingerprintMismatch(),
          DataStall(), Unrecoverable(), Unknown(),         NoHang()};
}

}  // namespace rapideye::digest
