#include "coordinator/store/learnt_file.h"

#include <spdlog/spdlog.h>

#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMaxLearntBytes = 16 << 10;
constexpr char kLearntFile[] = "learnt.json";
constexpr char kIncarnation[] = "jobIncarnation";

struct Field {
  const char* key;
  absl::Duration LearntPauses::* length;
};
constexpr std::array<Field, 7> kFields = {{
    {"stepMs", &LearntPauses::step},
    {"stepLinesMs", &LearntPauses::step_lines},
    {"pauseMs", &LearntPauses::pause},
    {"unannouncedPauseMs", &LearntPauses::unannounced_pause},
    {"compileMs", &LearntPauses::compile},
    {"checkpointMs", &LearntPauses::checkpoint},
    {"evalMs", &LearntPauses::eval},
}};

std::string LearntFileIn(const std::string& state_dir) {
  return absl::StrCat(state_dir, "/", kLearntFile);
}

}  // namespace

std::string LearntText(const KeptPauses& pauses) {
  Json json = {{kIncarnation, pauses.job_incarnation}};
  for (const Field& field : kFields) {
    json[field.key] = absl::ToInt64Milliseconds(pauses.learnt.*field.length);
  }
  return json.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) +
         "\n";
}

absl::StatusOr<KeptPauses> ParseLearnt(const std::string& text) {
  const absl::Status none = absl::InvalidArgumentError("it holds no pauses of a job");
  const Json json = Json::parse(text, /*cb=*/nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return none;
  const auto incarnation = json.find(kIncarnation);
  if (incarnation == json.end() || !incarnation->is_string()) return none;
  KeptPauses pauses{.job_incarnation = incarnation->get<std::string>(), .learnt = {}};
  for (const Field& field : kFields) {
    const auto found = json.find(field.key);
    // Another version of the program may have learnt less.
    if (found == json.end()) continue;
    if (!found->is_number_unsigned()) return none;
    const auto ms = found->get<uint64_t>();
    if (ms > static_cast<uint64_t>(absl::ToInt64Milliseconds(kMaxLearntPause))) return none;
    pauses.learnt.*field.length = absl::Milliseconds(static_cast<int64_t>(ms));
  }
  return pauses;
}

std::optional<KeptPauses> ReadLearnt(const std::string& state_dir, Disk& disk) {
  const std::string path = LearntFileIn(state_dir);
  const absl::StatusOr<std::string> text = disk.ReadFile(path, kMaxLearntBytes);
  if (absl::IsNotFound(text.status())) return std::nullopt;
  absl::StatusOr<KeptPauses> pauses = text.ok() ? ParseLearnt(*text) : text.status();
  if (pauses.ok()) return *std::move(pauses);
  spdlog::error("{}: {}; the job's pauses are learnt anew", path,
                std::string(pauses.status().message()));
  return std::nullopt;
}

LearntFile::LearntFile(const std::string& state_dir, Disk* disk)
    : state_dir_(state_dir), disk_(disk) {}

LearntFile::~LearntFile() { worker_.Stop(kDiskPatience); }

void LearntFile::Write(KeptPauses pauses) {
  worker_.PostLatest([state_dir = state_dir_, disk = disk_, pauses = std::move(pauses)] {
    const absl::Status status = StoreText(*disk, state_dir, kLearntFile, LearntText(pauses));
    if (status.ok()) return;
    spdlog::error("{}: {}; the next coordinator learns the job's pauses anew",
                  LearntFileIn(state_dir), std::string(status.message()));
  });
}

}  // namespace rapideye::coordinator
