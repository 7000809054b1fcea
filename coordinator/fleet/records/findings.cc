#include "coordinator/fleet/records/findings.h"

#include <algorithm>
#include <set>

namespace rapideye::coordinator {
namespace {

std::string CoreTypeName(const std::optional<CoreType>& type) {
  switch (type.value_or(CoreType::kUnspecified)) {
    case CoreType::kTensorCore:
      return "TENSOR_CORE";
    case CoreType::kSparseCore:
      return "SPARSE_CORE";
    case CoreType::kSparseCoreV0:
      return "SPARSE_CORE_V0";
    case CoreType::kUnspecified:
      break;
  }
  return "";
}

const Snapshot* SnapshotOf(const Capture& capture, WorkerId worker) {
  const auto found =
      std::find_if(capture.snapshots.begin(), capture.snapshots.end(),
                   [&](const Snapshot& snapshot) { return snapshot.worker == worker; });
  return found == capture.snapshots.end() ? nullptr : &*found;
}

bool IsCore(const Core& core, const Culprit& culprit) {
  return (!culprit.chip.has_value() || core.chip == culprit.chip) &&
         (!culprit.core_type.has_value() || core.type == *culprit.core_type) &&
         (!culprit.core_index.has_value() || core.index == *culprit.core_index);
}

// The program of the culprit's core; without one, the program of any core of its worker.
const Program* ProgramOf(const Snapshot& snapshot, const Culprit& culprit) {
  const Program* any = nullptr;
  for (const Core& core : snapshot.cores) {
    if (!core.program.has_value()) continue;
    const Program& program = snapshot.programs[static_cast<size_t>(*core.program)];
    if (IsCore(core, culprit)) return &program;
    if (any == nullptr) any = &program;
  }
  return any;
}

// The platform's names of the workers' machines; a pod may have a host name of its own.
std::map<WorkerId, std::string> NamesOf(const Capture& capture) {
  std::map<WorkerId, std::string> names;
  for (const ExpectedWorker& worker : capture.header.expected_workers) {
    names[worker.id] = worker.node.value_or(worker.host);
  }
  for (const Snapshot& snapshot : capture.snapshots) {
    names[snapshot.worker] = snapshot.node.value_or(snapshot.host);
  }
  return names;
}

// The known hardware of each worker, without names that several machines claim: such a name cannot
// tell them apart.
std::map<WorkerId, std::string> HardwareOf(const Capture& capture,
                                           std::map<WorkerId, std::string> hardware) {
  std::map<WorkerId, std::string> names = NamesOf(capture);
  for (const Snapshot& snapshot : capture.snapshots) {
    if (snapshot.hardware.has_value()) hardware[snapshot.worker] = *snapshot.hardware;
  }
  std::map<std::string, std::set<std::string>> claimed_by;
  for (const auto& [worker, number] : hardware) claimed_by[number].insert(names[worker]);
  std::erase_if(hardware, [&](const auto& entry) { return claimed_by[entry.second].size() > 1; });
  return hardware;
}

// A machine that runs several workers stands at all their places at once.
void AddHome(const Capture& capture, WorkerId worker, CulpritRecord& record) {
  const std::map<WorkerId, std::string> names = NamesOf(capture);  // by place
  const auto own = names.find(worker);
  WorkerId home = worker;
  if (own != names.end()) {
    home = std::find_if(names.begin(), names.end(), [&](const auto& other) {
             return other.second == own->second;
           })->first;
  }
  record.home_slice = home.slice;
  record.home_task = home.task;
}

CulpritRecord DescribeCulprit(const Capture& capture, const Verdict& verdict,
                              const Culprit& culprit,
                              const std::map<WorkerId, std::string>& hardware) {
  CulpritRecord record;
  record.host = culprit.host;
  record.node = culprit.node;
  if (const auto known = hardware.find(culprit.worker); known != hardware.end()) {
    record.hardware = known->second;
  }
  if (const Snapshot* snapshot = SnapshotOf(capture, culprit.worker); snapshot != nullptr) {
    if (!record.node.has_value()) record.node = snapshot->node;
    if (const Program* program = ProgramOf(*snapshot, culprit); program != nullptr) {
      record.module = program->module;
      record.fingerprint = program->fingerprint;
    }
  }
  record.machine = MachineKey(record.hardware, record.host);
  if (culprit.chip.has_value()) record.chip = *culprit.chip;
  record.core_type = CoreTypeName(culprit.core_type);
  if (culprit.core_index.has_value()) record.core_index = *culprit.core_index;
  record.nic = culprit.nic;
  record.grounds = GroundsOf(verdict, culprit);
  record.slice = culprit.worker.slice;
  record.task = culprit.worker.task;
  AddHome(capture, culprit.worker, record);
  return record;
}

bool IsTarget(const RemovalTarget& target, const Culprit& culprit) {
  const bool other_node = target.node.has_value() && culprit.node.has_value() &&
                          target.node != culprit.node;  // hosts of two slices may share one name
  return target.host == culprit.host && !other_node &&
         (!target.chip.has_value() || target.chip == culprit.chip) &&
         (!target.nic.has_value() || target.nic == culprit.nic);
}

}  // namespace

Grounds GroundsOf(const Verdict& verdict, const Culprit& culprit) {
  const bool direct =
      verdict.removal.eligible &&
      std::any_of(verdict.removal.targets.begin(), verdict.removal.targets.end(),
                  [&](const RemovalTarget& target) { return IsTarget(target, culprit); });
  return GroundsAllowed(CauseName(verdict.cause), DetailName(verdict.detail),
                        direct ? Grounds::kDirect : Grounds::kRepetition);
}

IncidentRecord Describe(const std::string& incident, const Capture& capture, const Verdict& verdict,
                        absl::Time detected, const std::map<WorkerId, std::string>& hardware) {
  IncidentRecord record;
  record.id = incident;
  record.job = capture.header.job;
  record.incarnation = capture.header.job_incarnation.value_or("");
  record.cause = std::string(CauseName(verdict.cause));
  record.detail = std::string(DetailName(verdict.detail));
  record.confidence = verdict.confidence.value_or(0);
  record.detected = detected;
  std::set<std::string> hosts;
  std::set<int32_t> slices;
  // Peers state the expected shape, and a larger job may lose more machines: only the hosts that
  // were there and answered are counted.
  for (const Snapshot& snapshot : capture.snapshots) hosts.insert(snapshot.host);
  for (const ExpectedWorker& worker : capture.header.expected_workers) {
    slices.insert(worker.id.slice);
  }
  record.hosts = static_cast<int64_t>(hosts.size());
  record.slices = static_cast<int64_t>(slices.size());
  const std::map<WorkerId, std::string> known = HardwareOf(capture, hardware);
  for (const Culprit& culprit : verdict.culprits) {
    record.culprits.push_back(DescribeCulprit(capture, verdict, culprit, known));
  }
  return record;
}

}  // namespace rapideye::coordinator
