#include "agent/sources/progress_page/parse.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/progress/rapideye_progress.h"
#include "agent/sources/progress_page/limits.h"

namespace rapideye::agent {
namespace {

using Page = rapideye_progress_page;

absl::Status CheckFormat(const Page& page, size_t file_bytes) {
  if (page.magic == 0 && page.version == 0) {
    return absl::FailedPreconditionError("no training process has written it yet");
  }
  if (page.magic != RAPIDEYE_PROGRESS_MAGIC) {
    return absl::InvalidArgumentError("it is no progress page: it begins otherwise");
  }
  if (page.version != RAPIDEYE_PROGRESS_VERSION) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has version ", page.version, ", this agent reads version ",
                     RAPIDEYE_PROGRESS_VERSION, ": use the writer that came with the agent"));
  }
  if (page.bytes != RAPIDEYE_PROGRESS_BYTES || file_bytes != RAPIDEYE_PROGRESS_BYTES) {
    return absl::InvalidArgumentError(absl::StrCat("it says that it has ", page.bytes,
                                                   " bytes and has ", file_bytes, ", not ",
                                                   RAPIDEYE_PROGRESS_BYTES));
  }
  return absl::OkStatus();
}

// Refuses a page whose times are of another clock.
absl::Status CheckClock(const Page& page, const PageReader& reader) {
  const absl::string_view boot(page.boot_id, strnlen(page.boot_id, sizeof(page.boot_id)));
  if (!reader.boot_id.empty() && boot != reader.boot_id) {
    return absl::FailedPreconditionError(
        "it was written before this machine started, or by another machine: it has to lie on a "
        "file system of this host alone, such as $XDG_RUNTIME_DIR");
  }
  if (reader.time_namespace != 0 && page.time_namespace != 0 &&
      reader.time_namespace != page.time_namespace) {
    return absl::InvalidArgumentError(
        "its writer is in another time namespace, whose clock says nothing here: run agent and "
        "training process in the same one");
  }
  return absl::OkStatus();
}

// When it began, as an age; absent for "not now".
absl::StatusOr<std::optional<absl::Duration>> Age(const char* field, int64_t since,
                                                  absl::Duration now) {
  if (since == 0) return std::nullopt;
  const absl::Duration age = now - absl::Nanoseconds(since);
  if (since < 0 || age < -kProgressClockSlack) {
    return absl::InvalidArgumentError(
        absl::StrCat(field, " lies in the future or before the machine started"));
  }
  return std::max(age, absl::ZeroDuration());
}

Phase PhaseOf(int64_t phase) {
  switch (phase) {
    case RAPIDEYE_PHASE_COMPILE:
      return Phase::kCompile;
    case RAPIDEYE_PHASE_INPUT:
      return Phase::kInput;
    case RAPIDEYE_PHASE_STEP:
      return Phase::kStep;
    case RAPIDEYE_PHASE_CHECKPOINT:
      return Phase::kCheckpoint;
    case RAPIDEYE_PHASE_EVAL:
      return Phase::kEval;
    default:  // none, or one of a newer writer
      return Phase::kUnspecified;
  }
}

// Empty unless every number can be one of a device, and stands there once.
std::vector<int64_t> DevicesOf(const Page& page) {
  if (page.device_count <= 0 || page.device_count > RAPIDEYE_PROGRESS_DEVICES) return {};
  std::vector<int64_t> devices(page.devices, page.devices + page.device_count);
  std::sort(devices.begin(), devices.end());
  const bool once = std::adjacent_find(devices.begin(), devices.end()) == devices.end();
  if (!once || devices.front() < 0 || devices.back() > kMaxDeviceNumber) return {};
  return devices;
}

// Empty unless it holds all devices of the process.
DeviceRange SliceDevicesOf(const Page& page, const std::vector<int64_t>& devices) {
  const DeviceRange range = {page.slice_first, page.slice_end};
  if (devices.empty() || range.first < 0 || range.end > kMaxDeviceNumber + 1) return {};
  return range.Holds(devices.front()) && range.Holds(devices.back()) ? range : DeviceRange();
}

}  // namespace

const size_t kProgressPageSaid = sizeof(Page);

absl::StatusOr<ProgressPage> ParseProgressPage(absl::string_view bytes, size_t file_bytes,
                                               const PageReader& reader) {
  Page page;
  if (bytes.size() < sizeof(page)) {
    if (file_bytes == 0) {
      return absl::FailedPreconditionError("no training process has written it yet");
    }
    return absl::InvalidArgumentError(
        absl::StrCat("it is no progress page: it has only ", bytes.size(), " bytes"));
  }
  std::memcpy(&page, bytes.data(), sizeof(page));
  if (absl::Status status = CheckFormat(page, file_bytes); !status.ok()) return status;
  if (page.sequence % 2 != 0) {
    return absl::AbortedError("it was left half written: its writer was stopped or has ended");
  }
  if (absl::Status status = CheckClock(page, reader); !status.ok()) return status;
  if (page.pid <= 0) return absl::FailedPreconditionError("its writer has closed it");

  ProgressPage result;
  result.writer = {page.pid, page.start_ticks};
  if (page.step >= 0) result.sample.step = page.step;
  result.sample.phase = PhaseOf(page.phase);
  const auto phase_for = Age("phase_since", page.phase_since, reader.now);
  if (!phase_for.ok()) return phase_for.status();
  const auto input_wait = Age("input_wait_since", page.input_wait_since, reader.now);
  if (!input_wait.ok()) return input_wait.status();
  if (result.sample.phase != Phase::kUnspecified) result.sample.phase_for = *phase_for;
  result.sample.input_wait = *input_wait;
  result.sample.devices = DevicesOf(page);
  result.sample.slice_devices = SliceDevicesOf(page, result.sample.devices);
  return result;
}

}  // namespace rapideye::agent
