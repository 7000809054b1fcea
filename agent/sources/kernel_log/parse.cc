#include "agent/sources/kernel_log/parse.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "classifier/logs/limits.h"
#include "classifier/logs/recognise.h"

namespace rapideye::agent {
namespace {

// "<priority>,<sequence>,<microseconds>,<flags>[,...]"
constexpr size_t kFields = 3;
// The lower bits of the priority are the severity, the others say who wrote it.
constexpr int64_t kFacility = 8;
// KERN_ERR: drivers say that a device failed at this severity or a graver one.
constexpr int kError = 3;
constexpr size_t kMaxDigits = 18;

std::optional<int64_t> TakeNumber(absl::string_view& fields) {
  const size_t comma = std::min(fields.find(','), fields.size());
  const absl::string_view digits = fields.substr(0, comma);
  int64_t number = 0;
  if (digits.empty() || digits.size() > kMaxDigits ||
      !std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit) ||
      !absl::SimpleAtoi(digits, &number)) {
    return std::nullopt;
  }
  fields.remove_prefix(std::min(fields.size(), comma + 1));
  return number;
}

std::string AccelName(const TpuDevice& tpu) {
  return tpu.accel.has_value() ? absl::StrCat("accel", *tpu.accel) : std::string();
}

// The device of "<driver> <device>: ..." and "<device>: ..."; empty if it is neither.
absl::string_view DeviceSaying(absl::string_view text) {
  const absl::string_view who = text.substr(0, std::min(text.find(": "), text.size()));
  if (who.size() == text.size()) return "";
  const absl::string_view device = who.substr(who.rfind(' ') + 1);  // npos + 1 is 0
  const absl::string_view driver = who.substr(0, who.size() - device.size());
  return std::count(driver.begin(), driver.end(), ' ') <= 1 ? device : absl::string_view();
}

// "c261:3"
bool IsCharacterDevice(absl::string_view device) {
  if (!absl::ConsumePrefix(&device, "c")) return false;
  const size_t colon = device.find(':');
  if (colon == absl::string_view::npos) return false;
  const auto is_number = [](absl::string_view digits) {
    return !digits.empty() && std::all_of(digits.begin(), digits.end(), absl::ascii_isdigit);
  };
  return is_number(device.substr(0, colon)) && is_number(device.substr(colon + 1));
}

// The TPU whose dictionary the record carries. A device of a class with device files has their
// number there in place of its name, which then stands in the text: dev_printk() writes both.
const TpuDevice* TpuSaying(const KernelRecord& record, const std::vector<TpuDevice>& tpus) {
  const absl::string_view says = DeviceSaying(record.text);
  for (const TpuDevice& tpu : tpus) {
    if (record.subsystem == "pci" && says == tpu.address &&
        record.device == absl::StrCat("+pci:", tpu.address)) {
      return &tpu;
    }
    const std::string accel = AccelName(tpu);
    if (record.subsystem == "accel" && !accel.empty() && says == accel &&
        (record.device == absl::StrCat("+accel:", accel) || IsCharacterDevice(record.device))) {
      return &tpu;
    }
  }
  return nullptr;
}

// "python3[4211]: ...": the kernel says so of processes, whose names are of their own choice. It
// also numbers bits so ("[14] CmpltTO"), in lines that say nothing by themselves.
bool IsOfAProcess(absl::string_view text) {
  for (size_t open = text.find('['); open != absl::string_view::npos;
       open = text.find('[', open + 1)) {
    size_t end = open + 1;
    while (end < text.size() && absl::ascii_isdigit(text[end])) ++end;
    if (end > open + 1 && absl::StartsWith(text.substr(end), "]")) return true;
  }
  return false;
}

// "Memory cgroup out of memory: Killed process 4211 (python3) total-vm:…", "Out of memory: …".
std::optional<KernelLine> RecogniseKilledProcess(const KernelRecord& record) {
  absl::string_view rest = record.text;
  if (!absl::ConsumePrefix(&rest, "Memory cgroup out of memory: Killed process ") &&
      !absl::ConsumePrefix(&rest, "Out of memory: Killed process ")) {
    return std::nullopt;
  }
  int64_t pid = 0;
  if (!absl::SimpleAtoi(rest.substr(0, rest.find(' ')), &pid) || pid <= 0) return std::nullopt;
  KernelLine line;
  line.killed = pid;
  line.since_boot = record.since_boot;
  line.line.event.kind = LogKind::kOutOfMemory;
  line.line.event.source = LogSource::kKernelLog;
  // A process chooses its own name, which stands in the line.
  const absl::string_view text = record.text.substr(0, record.text.find(", UID:"));
  line.line.event.text = std::string(text.substr(0, logs::kMaxLogTextBytes));
  line.line.key = line.line.event.text;
  return line;
}

// "INFO: task python3:4211 blocked for more than 120 seconds.", "nfs: server fs not responding,
// still trying". Whichever task the line names, the training process may wait for the same.
std::optional<KernelLine> RecogniseHungTask(const KernelRecord& record) {
  if (!absl::StartsWith(record.text, "INFO: task ") &&
      !absl::StartsWith(record.text, "nfs: server ")) {
    return std::nullopt;
  }
  logs::RecogniseOptions options;
  options.source = LogSource::kKernelLog;
  std::optional<logs::LogLine> found = logs::Recognise(record.text, options);
  if (!found.has_value() || found->event.kind != LogKind::kHungTask) return std::nullopt;
  KernelLine line;
  line.line = *std::move(found);
  line.since_boot = record.since_boot;
  return line;
}

}  // namespace

std::optional<KernelRecord> ParseKernelRecord(absl::string_view line) {
  const size_t semicolon = line.find(';');
  if (semicolon == absl::string_view::npos) return std::nullopt;
  absl::string_view fields = line.substr(0, semicolon);
  std::array<int64_t, kFields> numbers;
  for (int64_t& number : numbers) {
    const std::optional<int64_t> taken = TakeNumber(fields);
    if (!taken.has_value()) return std::nullopt;
    number = *taken;
  }
  return KernelRecord{.of_kernel = numbers[0] < kFacility,
                      .severity = static_cast<int>(numbers[0] % kFacility),
                      .sequence = numbers[1],
                      .since_boot = absl::Microseconds(numbers[2]),
                      .text = line.substr(semicolon + 1)};
}

std::optional<KernelLine> RecogniseKernelLine(const KernelRecord& record,
                                              const std::vector<TpuDevice>& tpus) {
  if (!record.of_kernel) return std::nullopt;
  if (record.device.empty()) {
    if (auto killed = RecogniseKilledProcess(record)) return killed;
    return IsOfAProcess(record.text) ? std::nullopt : RecogniseHungTask(record);
  }
  if (record.severity > kError || IsOfAProcess(record.text)) return std::nullopt;
  const TpuDevice* tpu = TpuSaying(record, tpus);
  if (tpu == nullptr) return std::nullopt;
  logs::RecogniseOptions options;
  options.source = LogSource::kKernelLog;
  // The line may call the device by any name. The number of its chip may be unknown.
  options.tpu_addresses = {{tpu->address, 0}};
  if (tpu->accel.has_value()) options.tpu_addresses.emplace_back(AccelName(*tpu), 0);
  std::optional<logs::LogLine> found = logs::Recognise(record.text, options);
  if (!found.has_value() || found->event.kind != LogKind::kKernelHardware) return std::nullopt;
  KernelLine line;
  line.line = *std::move(found);
  line.line.event.chip = tpu->chip;
  line.since_boot = record.since_boot;
  line.plain_reset = absl::StrContains(record.text, "reset") &&
                     !absl::StrContains(record.text, "Fatal") &&
                     !absl::StrContains(record.text, "fail");
  return line;
}

}  // namespace rapideye::agent
