#include "coordinator/store/pause_file.h"

#include <spdlog/spdlog.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxBytes = 16 << 10;
constexpr char kName[] = "pause.json";

std::string PathIn(const std::string& state_dir) { return absl::StrCat(state_dir, "/", kName); }

}  // namespace

std::string PauseText(const KeptPause& pause) {
  const Json json = {
      {"until", absl::FormatTime(absl::RFC3339_full, pause.until, absl::UTCTimeZone())},
      {"reason", pause.reason},
      {"by", pause.by}};
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) +
         "\n";
}

absl::StatusOr<KeptPause> ParsePause(const std::string& text) {
  const Json json = Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  KeptPause pause;
  if (!json.is_object() || !json.contains("until") || !json["until"].is_string() ||
      !json.contains("reason") || !json["reason"].is_string() || !json.contains("by") ||
      !json["by"].is_string() ||
      !absl::ParseTime(absl::RFC3339_full, json["until"].get<std::string>(), &pause.until,
                       /*err=*/nullptr)) {
    return absl::InvalidArgumentError("it is no pause of the watch");
  }
  pause.reason = json["reason"].get<std::string>();
  pause.by = json["by"].get<std::string>();
  return pause;
}

std::optional<KeptPause> ReadPause(const std::string& state_dir, Disk& disk) {
  const std::string path = PathIn(state_dir);
  const absl::StatusOr<std::string> text = disk.ReadFile(path, kMaxBytes);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  const absl::StatusOr<KeptPause> pause = text.ok() ? ParsePause(*text) : text.status();
  if (pause.ok()) return *pause;
  spdlog::error("{}: {}; the job is watched", path, std::string(pause.status().message()));
  return std::nullopt;
}

PauseFile::PauseFile(const std::string& state_dir, Disk* disk)
    : state_dir_(state_dir), disk_(disk) {}

PauseFile::~PauseFile() { worker_.Stop(kDiskPatience); }

void PauseFile::Write(std::optional<KeptPause> pause) {
  worker_.PostLatest([state_dir = state_dir_, disk = disk_, pause = std::move(pause)] {
    const absl::Status status =
        StoreText(*disk, state_dir, kName,
                  pause.has_value() ? std::optional(PauseText(*pause)) : std::nullopt);
    if (status.ok()) return;
    spdlog::error("{}: {}; the next coordinator {}", PathIn(state_dir),
                  std::string(status.message()),
                  pause.has_value() ? "will not know that the watch is paused"
                                    : "may take the pause for one that lasts");
  });
}

}  // namespace rapideye::coordinator
