#include "agent/sources/runtime/parse.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "agent/sources/limits.h"
#include "agent/sources/runtime/hlo_text.h"
#include "agent/sources/runtime/limits.h"
#include "proto/wire/record_budget.h"
#include "v1/runtime_status.pb.h"

namespace rapideye::agent {
namespace {

using tpu::monitoring::runtime::GetTpuRuntimeStatusResponse;
using CoreState = tpu_telemetry::CurrentCoreStateSummary;

// The errors of an answer: the first few spelled out, the rest counted.
class Complaints {
 public:
  void Add(std::string text) {
    if (texts_.size() < kMaxComplaints) texts_.push_back(std::move(text));
    ++count_;
  }

  std::optional<std::string> Text() const {
    if (count_ == 0) return std::nullopt;
    std::string text =
        absl::StrCat("parts of the answer were left out: ", absl::StrJoin(texts_, "; "));
    if (count_ > texts_.size()) absl::StrAppend(&text, "; and ", count_ - texts_.size(), " more");
    return text;
  }

 private:
  std::vector<std::string> texts_;
  size_t count_ = 0;
};

CoreType CoreTypeOf(tpu_telemetry::TpuCoreTypeProto type) {
  switch (type) {
    case tpu_telemetry::TPU_CORE_TYPE_TENSOR_CORE:
      return CoreType::kTensorCore;
    case tpu_telemetry::TPU_CORE_TYPE_SPARSE_CORE_V0:
      return CoreType::kSparseCoreV0;
    case tpu_telemetry::TPU_CORE_TYPE_SPARSE_CORE:
      return CoreType::kSparseCore;
    default:
      return CoreType::kUnspecified;
  }
}

SequencerType SequencerTypeOf(tpu_telemetry::TpuSequencerTypeProto type) {
  switch (type) {
    case tpu_telemetry::TPU_SEQUENCER_TYPE_TENSOR_CORE_SEQUENCER:
      return SequencerType::kTensorCoreSequencer;
    case tpu_telemetry::TPU_SEQUENCER_TYPE_SPARSE_CORE_V0_SEQUENCER:
      return SequencerType::kSparseCoreV0Sequencer;
    case tpu_telemetry::TPU_SEQUENCER_TYPE_SPARSE_CORE_V0_ADDRESS_HANDLER:
      return SequencerType::kSparseCoreV0AddressHandler;
    case tpu_telemetry::TPU_SEQUENCER_TYPE_SPARSE_CORE_SEQUENCER:
      return SequencerType::kSparseCoreSequencer;
    case tpu_telemetry::TPU_SEQUENCER_TYPE_SPARSE_CORE_TILE_ACCESS_CORE_SEQUENCER:
      return SequencerType::kSparseCoreTileAccessCoreSequencer;
    case tpu_telemetry::TPU_SEQUENCER_TYPE_SPARSE_CORE_TILE_EXECUTE_CORE_SEQUENCER:
      return SequencerType::kSparseCoreTileExecuteCoreSequencer;
    default:
      return SequencerType::kUnspecified;
  }
}

// A core's kind shows in its sequencers, too.
CoreType CoreTypeOf(SequencerType type) {
  switch (type) {
    case SequencerType::kTensorCoreSequencer:
      return CoreType::kTensorCore;
    case SequencerType::kSparseCoreV0Sequencer:
    case SequencerType::kSparseCoreV0AddressHandler:
      return CoreType::kSparseCoreV0;
    case SequencerType::kSparseCoreSequencer:
    case SequencerType::kSparseCoreTileAccessCoreSequencer:
    case SequencerType::kSparseCoreTileExecuteCoreSequencer:
      return CoreType::kSparseCore;
    case SequencerType::kUnspecified:
      break;
  }
  return CoreType::kUnspecified;
}

class Reader {
 public:
  RuntimeReading Read(const GetTpuRuntimeStatusResponse& response);

 private:
  void AddCore(int32_t id, const CoreState& state, RuntimeSample& sample);

  // False: the core claims a place that another core has.
  bool ReadCoreId(const tpu_telemetry::TpuCoreIdentifier& message, CoreSample& core);
  void ReadSequencers(const CoreState& state, CoreSample& core);
  void ReadHlo(const tpu_telemetry::SequencerInfo& info, SequencerSample& sequencer);
  void ReadQueue(const CoreState& state, CoreSample& core);
  std::optional<std::string> Fingerprint(bool present, const std::string& bytes);

  // Queues carry the signed 32-bit counter in 64 bits, with or without its sign.
  std::optional<int32_t> LaunchId(int64_t value);

  // Chips count from 0 in the order of their ids. One core without an id, and
  // every ordinal would be a guess.
  static void SetChipOrdinals(RuntimeSample& sample);

  Complaints complaints_;
  std::string where_;
  std::set<std::tuple<int32_t, CoreType, int32_t>> places_;
  size_t hlo_bytes_ = 0;
  bool hlo_limit_reached_ = false;
};

RuntimeReading Reader::Read(const GetTpuRuntimeStatusResponse& response) {
  RuntimeSample sample;
  if (response.has_host_name()) {
    sample.host_name = response.host_name().substr(0, kMaxNameBytes);
  }
  std::vector<int32_t> ids;
  ids.reserve(response.core_states().size());
  for (const auto& [id, state] : response.core_states()) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  for (const int32_t id : ids) {
    if (sample.cores.size() == kMaxCores) {
      complaints_.Add(absl::StrCat("it names ", ids.size(), " cores, more than ", kMaxCores));
      break;
    }
    AddCore(id, response.core_states().at(id), sample);
  }
  SetChipOrdinals(sample);

  RuntimeReading reading;
  reading.health.state = RuntimeState::kServing;
  reading.health.detail = complaints_.Text();
  reading.sample = std::move(sample);
  return reading;
}

void Reader::AddCore(int32_t id, const CoreState& state, RuntimeSample& sample) {
  if (id < 0 || id > kMaxCoreId) {
    complaints_.Add(absl::StrCat("core id ", id, " is out of range"));
    return;
  }
  where_ = absl::StrCat("core ", id);
  CoreSample core;
  core.id = id;
  ReadSequencers(state, core);
  if (!ReadCoreId(state.core_id(), core)) return;
  core.fingerprint = Fingerprint(state.has_program_fingerprint(), state.program_fingerprint());
  if (state.has_launch_id()) core.launch_id = state.launch_id();
  ReadQueue(state, core);
  if (state.has_error_message() && !state.error_message().empty()) {
    core.error = state.error_message().substr(0, kMaxCoreErrorBytes);
  }
  sample.cores.push_back(std::move(core));
}

bool Reader::ReadCoreId(const tpu_telemetry::TpuCoreIdentifier& message, CoreSample& core) {
  if (message.has_global_core_id() && message.global_core_id() != core.id) {
    complaints_.Add(absl::StrCat(where_, " calls itself ", message.global_core_id()));
  }
  if (message.has_chip_id() && message.chip_id() >= 0) core.chip_id = message.chip_id();
  core.type = CoreTypeOf(message.core_on_chip().type());
  if (core.type == CoreType::kUnspecified && !core.sequencers.empty()) {
    core.type = CoreTypeOf(core.sequencers.front().type);
  }
  const int32_t index = message.core_on_chip().index();
  if (index < 0) {
    complaints_.Add(absl::StrCat(where_, " has the index ", index));
    return false;
  }
  core.index = index;
  if (core.chip_id.has_value() && !places_.emplace(*core.chip_id, core.type, core.index).second) {
    complaints_.Add(absl::StrCat(where_, " is at the same place as another core"));
    return false;
  }
  return true;
}

void Reader::ReadSequencers(const CoreState& state, CoreSample& core) {
  std::set<std::pair<SequencerType, int32_t>> seen;
  for (const auto& info : state.sequencer_info()) {
    if (core.sequencers.size() == kMaxSequencersPerCore) {
      complaints_.Add(absl::StrCat(where_, " has ", state.sequencer_info_size(),
                                   " sequencers, more than ", kMaxSequencersPerCore));
      return;
    }
    SequencerSample sequencer;
    sequencer.type = SequencerTypeOf(info.sequencer_type());
    sequencer.index = info.sequencer_index();
    if (sequencer.index < 0 || !seen.emplace(sequencer.type, sequencer.index).second) {
      complaints_.Add(absl::StrCat(where_, " has a negative sequencer or one twice (index ",
                                   sequencer.index, ")"));
      continue;
    }
    if (info.has_pc()) sequencer.pc = info.pc();
    if (info.has_tag()) sequencer.tag = info.tag();
    if (info.has_tracemark()) sequencer.tracemark = info.tracemark();
    if (info.has_run_id()) sequencer.run_id = info.run_id();
    ReadHlo(info, sequencer);
    core.sequencers.push_back(std::move(sequencer));
  }
}

void Reader::ReadHlo(const tpu_telemetry::SequencerInfo& info, SequencerSample& sequencer) {
  const std::string& text =
      info.hlo_location().empty() ? info.hlo_detailed_info() : info.hlo_location();
  if (text.empty()) return;
  HloNames names = NamesFromHlo(info.hlo_location(), info.hlo_detailed_info());
  sequencer.hlo = std::move(names.instruction);
  sequencer.module = std::move(names.module);
  sequencer.hlo_waits = names.waits;
  const size_t size = std::min(text.size(), kMaxHloTextBytes);
  if (hlo_bytes_ + size > kMaxHloTextBytesPerSample) {
    if (!hlo_limit_reached_) {
      complaints_.Add(absl::StrCat("HLO text beyond ", kMaxHloTextBytesPerSample, " bytes"));
    }
    hlo_limit_reached_ = true;
    return;
  }
  hlo_bytes_ += size;
  sequencer.hlo_text = text.substr(0, size);
}

void Reader::ReadQueue(const CoreState& state, CoreSample& core) {
  for (const auto& info : state.queued_program_info()) {
    if (core.queued.size() == kMaxQueuedPerCore) {
      complaints_.Add(absl::StrCat(where_, " has ", state.queued_program_info_size(),
                                   " programs queued, more than ", kMaxQueuedPerCore));
      return;
    }
    QueuedSample queued;
    std::optional<std::string> fingerprint =
        Fingerprint(info.has_program_fingerprint(), info.program_fingerprint());
    if (!fingerprint.has_value()) {
      complaints_.Add(absl::StrCat(where_, " has a program queued without a fingerprint"));
      continue;
    }
    queued.fingerprint = *std::move(fingerprint);
    if (info.has_launch_id()) queued.launch_id = LaunchId(info.launch_id());
    if (info.has_run_id()) queued.run_id = info.run_id();
    core.queued.push_back(std::move(queued));
  }
}

std::optional<std::string> Reader::Fingerprint(bool present, const std::string& bytes) {
  if (!present || bytes.empty()) return std::nullopt;
  if (bytes.size() > kMaxFingerprintBytes) {
    complaints_.Add(absl::StrCat(where_, " has a fingerprint of ", bytes.size(), " bytes"));
    return std::nullopt;
  }
  return absl::BytesToHexString(bytes);
}

std::optional<int32_t> Reader::LaunchId(int64_t value) {
  if (value < std::numeric_limits<int32_t>::min() || value > std::numeric_limits<uint32_t>::max()) {
    complaints_.Add(absl::StrCat(where_, " has the launch id ", value, " queued"));
    return std::nullopt;
  }
  return static_cast<int32_t>(static_cast<uint32_t>(value));
}

void Reader::SetChipOrdinals(RuntimeSample& sample) {
  std::set<int32_t> ids;
  for (const CoreSample& core : sample.cores) {
    if (!core.chip_id.has_value()) return;
    ids.insert(*core.chip_id);
  }
  for (CoreSample& core : sample.cores) {
    core.chip = static_cast<int32_t>(std::distance(ids.begin(), ids.find(*core.chip_id)));
  }
}

}  // namespace

RuntimeReading ReadRuntimeStatus(const GetTpuRuntimeStatusResponse& response) {
  return Reader().Read(response);
}

RuntimeReading ParseRuntimeStatus(absl::string_view bytes) {
  wire::RecordBudget budget(kMaxStatusMemory);
  absl::Status error;
  const std::string_view answer(bytes.data(), bytes.size());
  if (!wire::ChargeSerialised(*GetTpuRuntimeStatusResponse::descriptor(), answer, budget, error) &&
      !budget.Charge(1)) {
    RuntimeReading reading;
    reading.health.state = RuntimeState::kServing;
    reading.health.detail =
        absl::StrCat("its answer of ", bytes.size(), " bytes would take more than ",
                     kMaxStatusMemory, " bytes of memory; no TPU host has so many cores");
    return reading;
  }
  GetTpuRuntimeStatusResponse response;
  if (bytes.size() <= static_cast<size_t>(std::numeric_limits<int>::max()) &&
      response.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    return ReadRuntimeStatus(response);
  }
  RuntimeReading reading;
  reading.health.state = RuntimeState::kServing;
  reading.health.detail = absl::StrCat("its answer of ", bytes.size(),
                                       " bytes is not a GetTpuRuntimeStatusResponse; is another "
                                       "service listening on the port of --runtime?");
  return reading;
}

RuntimeHealth HealthFromError(const absl::Status& error, absl::Duration deadline) {
  RuntimeHealth health;
  const std::string text(error.message().substr(0, kMaxDetailBytes));
  switch (error.code()) {
    case absl::StatusCode::kDeadlineExceeded:
      health.state = RuntimeState::kTimedOut;
      health.detail = absl::StrCat("no answer within ", absl::FormatDuration(deadline));
      break;
    case absl::StatusCode::kUnavailable:
      health.state = RuntimeState::kUnavailable;
      health.detail = text;
      break;
    case absl::StatusCode::kUnimplemented:
      health.state = RuntimeState::kUnimplemented;
      health.detail = text;
      break;
    case absl::StatusCode::kResourceExhausted:
      health.state = RuntimeState::kServing;
      health.detail = absl::StrCat("its answer is too large: ", text);
      break;
    default:
      // A process listens and answers, with an error.
      health.state = RuntimeState::kServing;
      health.detail = absl::StrCat(
          "it answered with an error: ", absl::StatusCodeToString(error.code()), ": ", text);
      break;
  }
  return health;
}

}  // namespace rapideye::agent
