// Reads any bytes as text of the kernel: values stay within their bounds, whatever the
// text is taken for. The first byte chooses.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "agent/sources/kernel_log/parse.h"
#include "agent/sources/nic/parse.h"
#include "agent/sources/pcie/parse.h"
#include "agent/sources/tcp/parse.h"
#include "classifier/logs/limits.h"
#include "tests/fuzz/fuzzing.h"

namespace {

using namespace rapideye;         // NOLINT: a fuzz target
using namespace rapideye::agent;  // NOLINT

// The bytes behind the first line stand for what the dictionary says.
void TryKernelLine(absl::string_view bytes) {
  const absl::string_view line = bytes.substr(0, bytes.find('\n'));
  static const std::vector<TpuDevice> tpus = {{"0000:05:00.0", 1, 0, 1},
                                              {"0000:06:00.0", std::nullopt, 1, std::nullopt}};
  auto record = ParseKernelRecord(line);
  if (!record.has_value()) return;
  if (line.size() < bytes.size()) {
    record->device = bytes.substr(line.size() + 1);
    record->subsystem = absl::StartsWith(record->device, "+pci:") ? "pci" : "accel";
  }
  Require(record->sequence >= 0 && record->since_boot >= absl::ZeroDuration(), "not negative");
  const auto found = RecogniseKernelLine(*record, tpus);
  if (!found.has_value()) return;
  const LogEvent& event = found->line.event;
  Require(record->of_kernel, "only the kernel is believed");
  Require(event.source == LogSource::kKernelLog, "it is the kernel's word");
  if (event.kind == LogKind::kOutOfMemory) {
    Require(found->killed.value_or(0) > 0 && !event.chip.has_value(), "a process, and no chip");
  } else if (event.kind != LogKind::kHungTask) {
    Require(event.kind == LogKind::kKernelHardware && !found->killed.has_value(), "of hardware");
    Require(record->severity <= 3 && !record->device.empty(), "an error of a device");
  }
  Require(!event.chip.has_value() || event.chip == 1, "of a chip that is there");
  Require(event.text.size() <= logs::kMaxLogTextBytes && !found->line.key.empty(), "bounded");
}

void TrySockDiag(absl::string_view bytes) {
  std::vector<TcpConnection> connections;
  (void)ParseSockDiag(bytes, connections);
  for (const TcpConnection& connection : connections) {
    Require(connection.send_queue_bytes >= 0 && connection.since_ack_ms >= 0 &&
                connection.retransmits >= 0,
            "counts are not negative");
  }
}

void TryInterface(const std::string& text) {
  const auto nic = MakeNic("eth1", {text, text, text, text, text, text, true});
  if (!nic.has_value()) return;
  Require(nic->carrier_changes.value_or(0) >= 0 && nic->rx_errors.value_or(0) >= 0,
          "counts are not negative");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      TryKernelLine(text);
      break;
    case 1:
      TrySockDiag(text);
      break;
    case 2:
      Require(TotalErrors(text).value_or(0) >= 0, "counts are not negative");
      (void)IsPciAddress(text);
      break;
    default:
      TryInterface(text);
  }
  return 0;
}
