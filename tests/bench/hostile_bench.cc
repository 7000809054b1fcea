// Measures classifying and rendering a job of which half of the workers send as much of one kind
// of evidence as a message takes, against reading these messages and checking them. Whatever grows
// faster than what was sent shows as a ratio far above that of the others.
#include <benchmark/benchmark.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "digest/digest.h"
#include "digest/render_html.h"
#include "proto/wire/evidence_wire.h"
#include "proto/wire/filled_message.h"
#include "v1/capture.pb.h"
#include "v1/check.pb.h"

namespace rapideye::bench {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;

constexpr int kWorkers = 8;  // every second one is hostile
// Size of each hostile worker's list. Entries are as different as their fields allow.
constexpr size_t kListBytes = size_t{256} << 10;
constexpr char kGoal[] = "at most 10 times";

// Makes every entry of a list another one: by its texts, and by its numbers where any is legal.
void Vary(Message& message, int index) {
  const auto* reflection = message.GetReflection();
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* field = message.GetDescriptor()->field(i);
    const v1::Check& check = field->options().GetExtension(v1::check);
    if (field->is_repeated() || !reflection->HasField(message, field)) continue;
    const bool free = check.index_of().empty() && check.max() == 0;
    switch (field->cpp_type()) {
      case FieldDescriptor::CPPTYPE_MESSAGE:
        Vary(*reflection->MutableMessage(&message, field), index);
        break;
      case FieldDescriptor::CPPTYPE_STRING:
        if (field->type() != FieldDescriptor::TYPE_STRING) break;
        reflection->SetString(&message, field,
                              absl::StrCat(reflection->GetString(message, field), index));
        break;
      case FieldDescriptor::CPPTYPE_INT64:
        if (free)
          reflection->SetInt64(&message, field, reflection->GetInt64(message, field) + index);
        break;
      case FieldDescriptor::CPPTYPE_INT32:
        if (free)
          reflection->SetInt32(&message, field, reflection->GetInt32(message, field) + index);
        break;
      default:
        break;
    }
  }
}

v1::Snapshot Honest(int task) {
  v1::Snapshot snapshot;
  snapshot.mutable_worker()->set_slice(0);
  snapshot.mutable_worker()->set_task(task);
  snapshot.set_host(absl::StrCat("host-", task));
  snapshot.mutable_runtime()->set_state(v1::RuntimeHealth::SERVING);
  v1::Program& program = *snapshot.add_programs();
  program.set_module("jit_step");
  program.set_fingerprint("0123456789abcdef");
  v1::Core& core = *snapshot.add_cores();
  core.set_type(v1::Core::TENSOR_CORE);
  core.set_program(0);
  v1::Sequencer& sequencer = *core.add_sequencers();
  sequencer.set_pc(7);
  sequencer.set_hlo("all-reduce.1");
  return snapshot;
}

v1::Snapshot Hostile(int task, const FieldDescriptor* list) {
  v1::Snapshot snapshot = Honest(task);
  v1::Snapshot filled;
  wire::FillEveryField(filled);
  while (snapshot.programs_size() < filled.programs_size()) {
    *snapshot.add_programs() = filled.programs(snapshot.programs_size());
  }
  const auto most = static_cast<size_t>(list->options().GetExtension(v1::check).max_items());
  if (list->cpp_type() == FieldDescriptor::CPPTYPE_INT64) {
    for (size_t i = 0; i < std::min<size_t>(kListBytes, most); ++i) {
      snapshot.GetReflection()->AddInt64(&snapshot, list, static_cast<int64_t>(i));
    }
    return snapshot;
  }
  const Message& entry = filled.GetReflection()->GetRepeatedMessage(filled, list, 0);
  const auto count =
      static_cast<int>(std::min<size_t>(kListBytes / (entry.ByteSizeLong() + 4), most));
  for (int i = 0; i < count; ++i) {
    Message* added = snapshot.GetReflection()->AddMessage(&snapshot, list);
    added->CopyFrom(entry);
    Vary(*added, i);
  }
  return snapshot;
}

std::vector<v1::Snapshot> Job(const FieldDescriptor* list) {
  std::vector<v1::Snapshot> job;
  for (int task = 0; task < kWorkers; ++task) {
    job.push_back(task % 2 == 0 ? Honest(task) : Hostile(task, list));
  }
  return job;
}

Capture Read(const std::vector<v1::Snapshot>& job) {
  Capture capture;
  for (const v1::Snapshot& snapshot : job) {
    auto read = wire::SnapshotFromWire(snapshot);
    if (!read.ok()) throw std::runtime_error(read.status().ToString());
    capture.header.expected_workers.push_back({.id = read->worker});
    capture.snapshots.push_back(*std::move(read));
  }
  return capture;
}

void Floor(benchmark::State& state, const FieldDescriptor* list) {
  const std::vector<v1::Snapshot> job = Job(list);
  for (auto _ : state) benchmark::DoNotOptimize(Read(job));
}

void Classified(benchmark::State& state, const FieldDescriptor* list) {
  state.SetLabel(kGoal);
  const Capture capture = Read(Job(list));
  for (auto _ : state) benchmark::DoNotOptimize(Classify(capture));
}

void Rendered(benchmark::State& state, const FieldDescriptor* list) {
  state.SetLabel(kGoal);
  const Capture capture = Read(Job(list));
  const Verdict verdict = Classify(capture);
  for (auto _ : state) {
    const digest::Report report = digest::BuildReport(capture, verdict, {});
    benchmark::DoNotOptimize(digest::RenderText(report, digest::TextFormat::kGrouped));
    benchmark::DoNotOptimize(digest::RenderHtml(report));
    benchmark::DoNotOptimize(digest::RenderJson(report, false));
  }
}

const bool registered = [] {
  const auto* snapshot = v1::Snapshot::descriptor();
  for (int i = 0; i < snapshot->field_count(); ++i) {
    const FieldDescriptor* list = snapshot->field(i);
    if (!list->is_repeated()) continue;
    const auto add = [list](const char* variant,
                            void (*run)(benchmark::State&, const FieldDescriptor*)) {
      benchmark::RegisterBenchmark(absl::StrCat("hostile ", list->name(), "/", variant).c_str(),
                                   run, list)
          ->Unit(benchmark::kMillisecond);
    };
    add("floor", Floor);
    add("classified", Classified);
    add("rendered", Rendered);
  }
  return true;
}();

}  // namespace
}  // namespace rapideye::bench
