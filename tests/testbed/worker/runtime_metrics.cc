#include "tests/testbed/worker/runtime_metrics.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/time/clock.h"
#include "tests/testbed/model/reduction.h"

namespace rapideye::testbed {
namespace {

namespace runtime = tpu::monitoring::runtime;

constexpr int64_t kMiB = 1024 * 1024;
// Memory of a device that a loaded program and a waiting batch take, in this model.
constexpr int64_t kProgramBytes = 512 * kMiB;
constexpr int64_t kBatchBytes = 16 * kMiB;

void Stamp(runtime::Metric& entry) {
  const int64_t now = absl::ToUnixMillis(absl::Now());
  entry.mutable_timestamp()->set_seconds(now / 1000);
  entry.mutable_timestamp()->set_nanos(static_cast<int32_t>(now % 1000 * 1'000'000));
}

// Adds the row of a device.
runtime::Metric& AddForDevice(int64_t device, runtime::TPUMetric& metric) {
  runtime::Metric& entry = *metric.add_metrics();
  entry.mutable_attribute()->set_key("device-id");
  entry.mutable_attribute()->mutable_value()->set_int_attr(device);
  Stamp(entry);
  return entry;
}

void AddAttribute(const std::string& key, const std::string& value, runtime::Metric& entry) {
  runtime::Attribute& one =
      *entry.mutable_attribute()->mutable_value()->mutable_kvlist_attr()->add_attributes();
  one.set_key(key);
  one.mutable_value()->set_string_attr(value);
}

runtime::Metric& AddForCore(int device, runtime::TPUMetric& metric) {
  runtime::Metric& entry = *metric.add_metrics();
  entry.mutable_attribute()->set_key("attributes");
  AddAttribute("device_ordinal", absl::StrCat(device), entry);
  AddAttribute("core_type", "TPU_CORE_TYPE_TENSOR_CORE", entry);
  Stamp(entry);
  return entry;
}

// One entry: all transfers of this job are of one size.
void AddTransfers(const Durations& durations, runtime::TPUMetric& metric) {
  runtime::Metric& entry = *metric.add_metrics();
  entry.mutable_attribute()->set_key("attributes");
  AddAttribute("buffer-size", absl::StrCat(kVectorLength * sizeof(int64_t), "B+"), entry);
  Stamp(entry);
  *entry.mutable_distribution() = durations.Distribution();
}

// Calls `use` for each device with the TensorCore that speaks for it: some generations join two
// TensorCores to one device, and both do the same at the same time.
void ForDevices(const Worker& worker, const std::function<void(int device, const Core&)>& use) {
  const int devices = worker.options().shape.generation.devices;
  for (const std::unique_ptr<Core>& core : worker.cores()) {
    if (core->id().type != CoreType::kTensorCore || core->id().index >= devices) continue;
    use(core->id().chip * devices + core->id().index, *core);
  }
}

int64_t MemoryOf(const Worker& worker) {
  const Generation& generation = worker.options().shape.generation;
  return generation.hbm_gib * 1024 * kMiB / generation.devices;
}

int64_t MemoryUsed(const Worker& worker, const Core& core) {
  return static_cast<int64_t>(worker.step().size()) * kProgramBytes +
         static_cast<int64_t>(core.QueueLength()) * kBatchBytes;
}

void QueueSizes(const Worker& worker, absl::Time, runtime::TPUMetric& metric) {
  ForDevices(worker, [&](int device, const Core& core) {
    AddForCore(device, metric)
        .mutable_gauge()
        ->set_as_int(static_cast<int64_t>(core.QueueLength()));
  });
}

void Executions(const Worker& worker, absl::Time, runtime::TPUMetric& metric) {
  ForDevices(worker, [&](int device, const Core& core) {
    *AddForCore(device, metric).mutable_distribution() = core.executions().Distribution();
  });
}

void IdleTimes(const Worker& worker, absl::Time started, runtime::TPUMetric& metric) {
  ForDevices(worker, [&](int device, const Core& core) {
    const absl::Time last = std::max(core.Use().last_completion, started);
    AddForDevice(device, metric)
        .mutable_gauge()
        ->set_as_double(absl::ToDoubleSeconds(absl::Now() - last));
  });
}

void DutyCycles(const Worker& worker, absl::Time started, runtime::TPUMetric& metric) {
  const absl::Duration since = std::max(absl::Now() - started, absl::Milliseconds(1));
  ForDevices(worker, [&](int device, const Core& core) {
    const double share = absl::FDivDuration(core.Use().busy, since);
    AddForDevice(device, metric)
        .mutable_gauge()
        ->set_as_double(std::clamp(100 * share, 0.0, 100.0));
  });
}

void TotalMemory(const Worker& worker, absl::Time, runtime::TPUMetric& metric) {
  ForDevices(worker, [&](int device, const Core&) {
    AddForDevice(device, metric).mutable_gauge()->set_as_int(MemoryOf(worker));
  });
}

void UsedMemory(const Worker& worker, absl::Time, runtime::TPUMetric& metric) {
  ForDevices(worker, [&](int device, const Core& core) {
    AddForDevice(device, metric).mutable_gauge()->set_as_int(MemoryUsed(worker, core));
  });
}

void Uptime(const Worker&, absl::Time started, runtime::TPUMetric& metric) {
  AddForDevice(0, metric).mutable_gauge()->set_as_int(absl::ToInt64Seconds(absl::Now() - started));
}

void InboundTransfers(const Worker& worker, absl::Time, runtime::TPUMetric& metric) {
  AddTransfers(worker.inbound_transfers(), metric);
}

void EndToEnd(const Worker& worker, absl::Time, runtime::TPUMetric& metric) {
  AddTransfers(worker.end_to_end(), metric);
}

struct Known {
  absl::string_view name;
  absl::string_view description;
  void (*fill)(const Worker&, absl::Time started, runtime::TPUMetric&);
};

constexpr std::array<Known, 9> kKnown = {{
    {"hlo.queue.size.gauge", "Programs that wait for a core.", QueueSizes},
    {"hlo.execution.timing.distribution.microseconds", "Durations of programs on a core.",
     Executions},
    {"tpu.runtime.tensorcore.idle_duration.seconds",
     "Seconds since a TensorCore last completed a program.", IdleTimes},
    {"tpu.runtime.tensorcore.dutycycle.percent",
     "Share of the time since the start for which a program was on the TensorCore.", DutyCycles},
    {"tpu.runtime.hbm.memory.total.bytes", "Memory of a device.", TotalMemory},
    {"tpu.runtime.hbm.memory.usage.bytes", "Memory of a device that is in use.", UsedMemory},
    {"tpu.runtime.uptime.seconds.gauge", "Seconds since the runtime started.", Uptime},
    {"megascale.dcn_inbound_transfer_latencies.microsecond.cumulative.distribution",
     "Time for which a core waited for what another slice sent.", InboundTransfers},
    {"megascale.collective_end_to_end_latencies.microsecond.cumulative.distribution",
     "Time from a send to other slices until theirs have come.", EndToEnd},
}};

}  // namespace

std::vector<std::string> RuntimeMetricNames() {
  std::vector<std::string> names;
  for (const Known& known : kKnown) names.emplace_back(known.name);
  return names;
}

absl::StatusOr<runtime::TPUMetric> RuntimeMetric(const Worker& worker, const std::string& name,
                                                 absl::Time started) {
  for (const Known& known : kKnown) {
    if (name != known.name) continue;
    runtime::TPUMetric metric;
    metric.set_name(name);
    metric.set_description(std::string(known.description));
    known.fill(worker, started, metric);
    return metric;
  }
  return absl::NotFoundError(absl::StrCat("no metric '", name, "', see ListSupportedMetrics"));
}

}  // namespace rapideye::testbed
