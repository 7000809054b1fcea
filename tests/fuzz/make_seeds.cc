// Writes what the fuzzers start from: make_fuzz_seeds SAMPLES OUT makes a folder
// of OUT for each fuzzer, and a dictionary of the names that captures use.
#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_format.h"
#include "agent/progress/rapideye_progress.h"
#include "classifier/logs/signatures.h"
#include "proto/capture/capture_reader.h"
#include "proto/capture/capture_writer.h"
#include "proto/wire/evidence_wire.h"
#include "proto/wire/filled_message.h"
#include "v1/agent.pb.h"
#include "v1/runtime_status.pb.h"

namespace rapideye {
namespace {

namespace fs = std::filesystem;
using google::protobuf::Descriptor;
using google::protobuf::FieldDescriptor;

// A fuzzer explores a seed of a few KiB far better than a seed of a hundred.
constexpr size_t kWorkersPerSeed = 2;

constexpr char kHlo[] =
    "HloModule m, frontend_attributes={fingerprint=\"00112233445566778899aabbccddeeff\"}\n"
    "f.1 {\n  ROOT a = f32[] add(p.1, q), metadata={op_name=\"x\"}\n}\n"
    "ENTRY main {\n  p = f32[8]{0} parameter(0)\n  ROOT r = f32[] fusion(p), calls=f.1\n}\n";
constexpr char kAsynchronousHlo[] = R"(HloModule m, num_partitions=8

%c (p: f32[8]) -> f32[8] {
  ROOT %r = f32[8] all-reduce(%p), replica_groups=mesh['a'=2,'b'=4] {'b':(2)2,'a'}
}, execution_thread="sparsecore"

ENTRY %e (p: f32[8]) -> f32[8] {
  %p = f32[8]{0:S(5)} parameter(0), metadata={op_name="p[\'w\']" stack_frame_id=1}
  %a = ((f32[8]), f32[8]) async-start(%p), async_execution_thread="sparsecore", calls=%c
  %d = f32[8] async-done(%a)
  %s = (f32[8], u32[], token[]) send(%d), channel_id=1, is_host_transfer=true, frontend_attributes={_xla_host_transfer_handler_name="xla_megascale_runtime",kernel_metadata={
"mesh_axes":"[\"x\"]"
}}
  %sd = token[] send-done(%s), channel_id=1
  %w = f32[8] while(%d), condition=%c, body=%c
  ROOT %f = f32[8] fusion(%w), kind=kCustom, calls=%c, backend_config={"custom_call_config":{"body":"TUzvUg=="}}
}
)";
constexpr char kOtherHlo[] =
    "HloModule m\n"
    "%f.2 (p: f32[]) -> f32[] {\n  ROOT %a = f32[] multiply(f32[] %p.1, /*index=1*/ %q)\n}\n"
    "ENTRY %main {\n  %p = f32[8]{0} parameter(0)\n  ROOT %r = f32[] fusion(%p), calls=%f.2\n}\n";

void Write(const fs::path& path, const std::string& bytes) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

void WriteCaptures(const Capture& capture, const fs::path& folder, const std::string& name) {
  for (wire::Encoding encoding : {wire::Encoding::kJsonLines, wire::Encoding::kBinary}) {
    for (bool gzip : {false, true}) {
      const char* ending = encoding == wire::Encoding::kJsonLines ? ".jsonl" : ".pb";
      Write(folder / (name + ending + (gzip ? ".gz" : "")),
            wire::WriteCapture(capture, {.encoding = encoding, .gzip = gzip}).value());
    }
  }
}

// One file for each member of the oneof, every field set.
template <typename Message>
void WriteOneOfEach(const fs::path& folder) {
  const auto* oneof = Message::descriptor()->oneof_decl(0);
  for (int i = 0; i < oneof->field_count(); ++i) {
    Message message;
    wire::FillEveryField(*message.GetReflection()->MutableMessage(&message, oneof->field(i)));
    Write(folder / oneof->field(i)->name(), message.SerializeAsString());
  }
}

// Writes the state that an agent leaves on disk, without its first line: each message behind its
// length (agent/daemon/state_file.cc).
void WriteKeptState(const fs::path& folder) {
  v1::AgentMessage hello;
  wire::FillEveryField(*hello.mutable_hello());
  v1::AgentMessage snapshot;
  wire::FillEveryField(*snapshot.mutable_snapshot());
  v1::AgentMessage alarm;
  wire::FillEveryField(*alarm.mutable_alarm());
  std::string body;
  for (const v1::AgentMessage& message : {hello, snapshot, alarm}) {
    const std::string bytes = message.SerializeAsString();
    absl::StrAppendFormat(&body, "%08x", bytes.size());
    body += bytes;
  }
  Write(folder / "filled", body);
}

// Stacks as eu-stack, py-spy and the kernel print them.
void WriteStacks(const fs::path& folder) {
  Write(
      folder / "eu-stack",
      "PID 7 - process\nTID 7:\n#0  0x00007fdd1dfdf503 clock_nanosleep@GLIBC_2.2.5 - "
      "/usr/lib/libc.so.6\n#1  0x000055bb50a664af - /usr/bin/sleep\nTID 8:\n#0  0x1 f - [vdso]\n");
  Write(folder / "py-spy",
        R"([{"pid":7,"thread_name":"MainThread","os_thread_id":7,"frames":[{"name":"get",)"
        R"("filename":"/usr/lib/queue.py","short_filename":"queue.py","line":180}]}])");
  Write(folder / "kernel", "[<0>] hrtimer_nanosleep+0x74/0xf0\n[<0>] do_syscall_64+0x71/0x280\n");
  Write(folder / "system-call", "202 0x7f 0x0 0x0\n");
}

// Names of fields and of enum values, of this message and those in it.
void CollectNames(const Descriptor& type, std::set<std::string>& names) {
  for (int i = 0; i < type.field_count(); ++i) {
    const FieldDescriptor& field = *type.field(i);
    names.insert("\"\\\"" + field.json_name() + "\\\":\"");
    if (field.message_type() != nullptr) CollectNames(*field.message_type(), names);
    if (field.enum_type() == nullptr) continue;
    for (int value = 0; value < field.enum_type()->value_count(); ++value) {
      names.insert("\"\\\"" + field.enum_type()->value(value)->name() + "\\\"\"");
    }
  }
}

constexpr char kExportedObjects[] =
    R"([{"textPayload": "step 1 loss 2.0", "timestamp": "2026-01-01T00:00:01Z",
  "resource": {"labels": {"pod_name": "train-0-1-abcde"}}, "insertId": "a"},
 {"jsonPayload": {"message": "Connection reset by peer\n"}, "timestamp": "2026-01-01T00:00:02Z",
  "labels": {"k8s-pod/job-index": "1"}}])";
constexpr char kNewestFirst[] =
    R"({"log": "Connection reset by peer", "ts": 1767225602000, "host": "b"}
{"log": "step 2", "ts": 1767225601000, "host": "a"}
)";
constexpr char kExportedTable[] =
    "timestamp,message,pod_name\r\n\"2026-01-01T00:00:01Z\",\"a \"\"word\"\", and\n"
    "more\",train-0\r\n2026-01-01T00:00:02Z,Killed,train-1";

// Before each its form, and the length of the pieces in which it comes.
void WriteExports(const fs::path& out) {
  Write(out / "objects", std::string(2, '\0') + kExportedObjects);
  Write(out / "newest_first", std::string("\0\x10", 2) + kNewestFirst);
  Write(out / "table", std::string("\1\x07", 2) + kExportedTable);
}

// The logs of real jobs: before each, how many logs its lines are of, and their labels.
void WriteJobLogs(const fs::path& samples, const fs::path& out) {
  fs::create_directories(out);
  for (const auto& job : fs::directory_iterator(samples.parent_path() / "field" / "job-logs")) {
    if (!job.is_directory()) continue;
    for (const auto& log : fs::directory_iterator(job.path())) {
      const bool labelled = log.path().extension() == ".out";
      std::ifstream in(log.path());
      const std::string text((std::istreambuf_iterator<char>(in)),
                             std::istreambuf_iterator<char>());
      Write(out / (job.path().filename().string() + "-" + log.path().stem().string()),
            std::string(1, '\3') + std::string(1, labelled ? '\1' : '\0') + text.substr(0, 16000));
    }
  }
}

// The built-in table, a line at a time and whole.
void WriteSignatures(const fs::path& out) {
  const std::string table = logs::kBuiltInSignatures;
  std::istringstream lines(table);
  int number = 0;
  std::string dictionary;
  for (std::string line; std::getline(lines, line); ++number) {
    if (line.empty() || line[0] == '#') continue;
    Write(out / "log_signatures" / std::to_string(number), line);
    dictionary += "\"" + line.substr(0, line.find(' ')) + " \"\n";
  }
  Write(out / "log_signatures" / "all", table);
  Write(out / "log_signatures.dict", dictionary);
}

// The first byte says which kind of text follows.
void WriteKernelTexts(const fs::path& folder) {
  const std::string fatal = "severity=Uncorrected (Fatal), type=Transaction Layer";
  Write(folder / "fatal", "0" + ("3,17,5000000,-;vfio-pci 0000:05:00.0: " + fatal));
  Write(folder / "port",
        "03,18,6000000,-;pcieport 0000:00:1c.0: AER: Uncorrected (Fatal) error "
        "received: 0000:05:00.0");
  Write(folder / "reset", "06,19,7000000,-,caller=T1;accel accel1: reset");
  Write(folder / "memory",
        "03,20,8000000,-;Memory cgroup out of memory: Killed process 4211 (python3) "
        "total-vm:2078564kB, UID:0");
  Write(folder / "counters", "2DLP 1\nTLP 1\nTOTAL_ERR_FATAL 2\n");
  Write(folder / "carrier", "31\n");
}

// The first byte says which format follows.
std::string MetricSeed() {
  tpu::monitoring::runtime::MetricResponse response;
  tpu::monitoring::runtime::Metric& entry = *response.mutable_metric()->add_metrics();
  entry.mutable_attribute()->set_key("core_id");
  entry.mutable_attribute()->mutable_value()->set_int_attr(1);
  entry.mutable_distribution()->set_count(7);
  entry.mutable_distribution()->set_mean(2.5);
  return "r" + response.SerializeAsString();
}

// A page written at hour 99, for a reader whose clock shows hour 100.
void WriteProgressPage(const fs::path& path) {
  constexpr int64_t kHour = 3'600'000'000'000;
  rapideye_progress_page page = {};
  page.magic = RAPIDEYE_PROGRESS_MAGIC;
  page.version = RAPIDEYE_PROGRESS_VERSION;
  page.bytes = RAPIDEYE_PROGRESS_BYTES;
  page.pid = 4711;
  page.step = 12;
  page.phase = RAPIDEYE_PHASE_INPUT;
  page.phase_since = page.input_wait_since = 99 * kHour;
  Write(path, std::string(reinterpret_cast<const char*>(&page), sizeof(page)));
}

// The first byte says which text follows.
void WriteHostTexts(const fs::path& folder) {
  Write(folder / "process",
        "04211 (py (a) b) Z 1 4211 4211 0 -1 4194304 1 2 3 4 70 30 0 0 20 0 9 0 12345 1 2 "
        "18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0 0 0 0 9\n");
  Write(folder / "socket", "1socket:[4711]");
  Write(folder / "device", "1/dev/vfio/3");
  Write(folder / "passwd", "1root:x:0:0::/root:/bin/sh\ntpu:x:1000:1000:,,,:/home/tpu:/bin/sh\n");
  Write(
      folder / "tcp",
      "2  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n"
      "   0: 0100007F:20EF 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000 0 71 1\n"
      "   1: 0100007F:C001 0100007F:20EF 01 00000000:00000000 00:00000000 00000000  1000 0 72 1\n");
  Write(folder / "rights",
        "3Uid:\t1000\t1000\t1000\t1000\nGid:\t100\t100\t100\t100\nGroups:\t4 24 \n"
        "CapEff:\t0000000000000002\n");
  Write(folder / "node",
        R"(4{"spec":{"taints":[{"key":"cloud.google.com/impending-node-termination",)"
        R"("effect":"NoSchedule","timeAdded":"2026-09-21T10:00:00Z"}]},"status":{"conditions":)"
        R"([{"type":"Ready","status":"Unknown","lastTransitionTime":"2026-09-21T10:00:00Z"}]}})");
  Write(folder / "events",
        R"(4{"items":[{"reason":"OOMKilling","message":"Memory cgroup out of memory",)"
        R"("lastTimestamp":"2026-09-21T10:00:00Z","involvedObject":{"kind":"Node"}}]})");
  Write(folder / "slurm", "4NodeName=n1 State=DOWN*+DRAIN Reason=Not responding [slurm@2026]");
  Write(folder / "maintenance",
        R"(4{"type":"SCHEDULED","windowStartTime":"2026-09-21T10:00:00Z"})");
}

// The first byte is even for an answer, odd for the texts of an instruction.
void WriteRuntimeTexts(const fs::path& folder) {
  tpu::monitoring::runtime::GetTpuRuntimeStatusResponse response;
  wire::FillEveryField(response);
  Write(folder / "filled", "0" + response.SerializeAsString());
  Write(folder / "hlo",
        std::string("1jit_f/%all-reduce.3 = f32[8] all-reduce(%p)\0", 45) +
            R"([{"name":"all-reduce.3","module":"jit_f","replica_groups":"{{0,1}}"}])");
}

// The files that a coordinator or a remover reads back; the first byte says which.
void WriteStateFiles(const fs::path& folder) {
  Write(folder / "hooks",
        R"(0{"incident":"20261120T124411Z-5dc4d1c8","mode":"enforce","decisions":[{"host":"h",)"
        R"("machine":"hardware:a","action":"remove","rule":"repetition","reason":"4"}],"hooks":[)"
        R"({"hook":"/h","machine":"hardware:a","event":"opened","state":"done","attempts":1,)"
        R"("outcome":"","output":""},{"hook":"/u","event":"changed","revision":2,"state":"due",)"
        R"("attempts":0,"outcome":"","output":"","notBefore":"2026-11-20T12:44:19.123Z",)"
        R"("expires":"2026-11-20T18:44:19.123Z"}],"revision":2,"published":1})");
  Write(folder / "record",
        R"(1{"incident":"i","job":"j","incarnation":"1","cause":"BAD_TPU_CHIP","detail":)"
        R"("TENSOR_CORE","confidence":0.9,"detectedUnixMs":1790000000000,"hosts":8,"slices":2,)"
        R"("culprits":[{"machine":"hardware:a","host":"h","hardware":"a","chip":1,"coreType":)"
        R"("TENSOR_CORE","grounds":"direct","slice":0,"task":1}]})");
  Write(folder / "digest",
        R"(2{"schemaVersion":1,"cause":"BAD_TPU_CHIP","detail":"","headline":"x","confidence":0.9,)"
        R"("detectedAt":"2026-11-20T12:44:19Z","revision":2,"culprits":[{"host":"h"}]})");
  Write(folder / "learnt", R"(3{"jobIncarnation":"1","stepMs":7,"pauseMs":100,"evalMs":5})");
  Write(folder / "pause", R"(4{"until":"2026-11-20T12:44:19Z","reason":"r","by":"b"})");
  Write(folder / "end", R"(5{"ended":"2026-11-20T12:44:19Z","why":"w"})");
  Write(folder / "acknowledged",
        R"(6{"acknowledged":"2026-11-20T12:44:19Z","reason":"r","by":"b"})");
  Write(folder / "machines", "7tenant_a host-1 node-1 # why\ntenant_b host-* \n");
}

// Bytes from which rows are drawn.
void WriteHistoryRows(const fs::path& folder) {
  for (const int step : {1, 7, 31, 101}) {
    std::string bytes;
    for (int i = 0; i < 600; ++i) bytes += static_cast<char>(i * step % 256);
    Write(folder / std::to_string(step), bytes);
  }
}

void WriteHlo(const fs::path& out) {
  Write(out / "pair", std::string(kHlo) + '\xff' + kOtherHlo);
  Write(out / "waits", kAsynchronousHlo);
  Write(out / "name", "module_0001.jit_f.cl_5.after_optimizations.txt");
}

int Main(const fs::path& samples, const fs::path& out) {
  for (const auto& entry : fs::directory_iterator(samples)) {
    if (entry.path().extension() != ".jsonl") continue;
    absl::StatusOr<Capture> capture = wire::ReadCaptureFile(entry.path());
    if (!capture.ok()) {
      std::fprintf(stderr, "%s: %s\n", entry.path().c_str(),
                   std::string(capture.status().message()).c_str());
      return 1;
    }
    capture->snapshots.resize(std::min(capture->snapshots.size(), kWorkersPerSeed));
    const std::string name = entry.path().stem();
    WriteCaptures(*capture, out / "capture", name);
    Write(out / "classify" / name, wire::WriteCapture(*capture, {}).value());
    Write(out / "snapshot" / name,
          wire::SnapshotToWire(capture->snapshots.at(0)).SerializeAsString());
  }
  WriteKernelTexts(out / "kernel");
  fs::create_directories(out / "log");
  for (const auto& entry : fs::directory_iterator(samples / "logs")) {
    if (entry.path().extension() == ".log") {
      fs::copy_file(entry.path(), out / "log" / entry.path().filename());
    }
  }
  WriteJobLogs(samples, out / "job_logs");
  WriteSignatures(out);
  WriteExports(out / "log_export");
  WriteHlo(out / "hlo");
  WriteCaptures(wire::FilledCapture(), out / "capture", "filled");
  Write(out / "classify" / "filled", wire::WriteCapture(wire::FilledCapture(), {}).value());
  Write(out / "secrets" / "command", "train --token=abc123 --db-password 'two words' API_KEY=x");
  Write(out / "secrets" / "header", "Authorization: Basic dTpw\nCookie: a=b; c=d\n");
  Write(out / "secrets" / "json", R"({"private_key": "-----BEGIN PRIVATE KEY-----\nMII", "a": 1})");
  Write(out / "secrets" / "url",
        "https://u:p@h/x?X-Amz-Signature=ab&sig=cd eyJhbGciOi.eyJzdWIiOi.x");
  Write(out / "pattern" / "stars", std::string("\x07", 1) + "*a*b?c*aabbxcc");
  v1::Snapshot snapshot;
  wire::FillEveryField(snapshot);
  Write(out / "snapshot" / "filled", snapshot.SerializeAsString());
  Write(out / "metrics" / "grain",
        "p# TYPE a_count counter\na_count{dataset=\"x\\\"y\",n=\"1\"} 3.5e2 1700000000\nb NaN\n");
  Write(out / "metrics" / "runtime", MetricSeed());
  WriteProgressPage(out / "progress_page" / "waiting");
  WriteOneOfEach<v1::AgentMessage>(out / "agent_message");
  WriteOneOfEach<v1::CoordinatorMessage>(out / "coordinator_message");
  WriteKeptState(out / "kept_state");
  WriteStacks(out / "stacks");
  WriteHostTexts(out / "host");
  WriteRuntimeTexts(out / "runtime");
  WriteStateFiles(out / "state_dir");
  WriteHistoryRows(out / "history");

  std::set<std::string> names;
  CollectNames(*v1::CaptureRecord::descriptor(), names);
  std::string dictionary;
  for (const std::string& name : names) dictionary += name + "\n";
  Write(out / "capture.dict", dictionary);
  Write(out / "classify.dict", dictionary);
  return 0;
}

}  // namespace
}  // namespace rapideye

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: make_fuzz_seeds SAMPLES OUT\n");
    return 2;
  }
  return rapideye::Main(argv[1], argv[2]);
}
