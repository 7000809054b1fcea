#include "coordinator/store/incident_archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "coordinator/core/limits.h"
#include "coordinator/store/incident_files.h"
#include "proto/capture/capture_reader.h"
#include "proto/common/file/descriptor.h"

namespace rapideye::coordinator {
namespace {

namespace fs = std::filesystem;

struct FileFacts {
  int64_t modified_ns = 0;
  int64_t bytes = 0;
};

absl::Status Failed(const std::string& path, int error) {
  if (error == ENOENT || error == ENOTDIR) {
    return absl::NotFoundError(absl::StrCat(path, " is not there"));
  }
  // The store makes no symbolic links: another program made this one.
  if (error == ELOOP) return absl::DataLossError(absl::StrCat(path, " is not a file"));
  return absl::UnavailableError(
      absl::StrCat("cannot read ", path, ": ", std::generic_category().message(error)));
}

// Opens a regular file without blocking (a FIFO could block).
absl::StatusOr<int> OpenFile(const std::string& path, FileFacts& facts) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return Failed(path, errno);
  struct stat info{};
  if (fstat(file, &info) != 0 || !S_ISREG(info.st_mode)) {
    close(file);
    return absl::DataLossError(absl::StrCat(path, " is not a file"));
  }
  facts = {.modified_ns = info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec,
           .bytes = info.st_size};
  return file;
}

absl::StatusOr<std::string> ReadFile(const std::string& path,
                                     int64_t max_bytes = kMaxIncidentBytes) {
  FileFacts facts;
  const absl::StatusOr<int> file = OpenFile(path, facts);
  if (!file.ok()) return file.status();
  const absl::Cleanup closer = [&file] { close(*file); };
  if (facts.bytes > max_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat(path, " has ", facts.bytes,
                                                     " bytes, more than is passed on (", max_bytes,
                                                     "); copy the file itself"));
  }
  std::string bytes;  // fewer, if the file has shrunk
  const int error = file::ReadUpTo(*file, static_cast<size_t>(facts.bytes), bytes);
  if (error != 0) return Failed(path, error);
  return bytes;
}

absl::StatusOr<std::string> ReadNote(const std::string& path) {
  constexpr int64_t kMaxNote = 16 << 10;  // a note is one line
  return ReadFile(path, kMaxNote);
}

}  // namespace

IncidentArchive::IncidentArchive(const std::string& state_dir)
    : incidents_(absl::StrCat(state_dir, "/incidents")) {}

std::string IncidentArchive::PathOf(const std::string& id, const char* file) const {
  return absl::StrCat(incidents_, "/", id, "/", file);
}

absl::StatusOr<std::vector<std::string>> IncidentArchive::Ids() const {
  std::vector<std::string> ids;
  std::error_code error;
  fs::directory_iterator entry(incidents_, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    std::string name = entry->path().filename();
    if (IsIncidentId(name)) ids.push_back(std::move(name));
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return Failed(incidents_, error.value());
  }
  return ids;
}

absl::StatusOr<std::vector<IncidentSummary>> IncidentArchive::List(size_t limit) const {
  absl::StatusOr<std::vector<std::string>> ids = Ids();
  if (!ids.ok()) return ids.status();
  // The id begins with the time.
  std::sort(ids->begin(), ids->end(), std::greater<>());
  ids->resize(std::min(ids->size(), limit));
  std::vector<IncidentSummary> summaries;
  summaries.reserve(ids->size());
  for (const std::string& id : *ids) summaries.push_back(Summarise(id));
  if (!summaries.empty()) summaries.front().newest = true;

  // Incidents that are no longer on disk need not be remembered.
  const MutexLock lock(mutex_);
  std::erase_if(known_, [&ids](const auto& known) {
    return !std::binary_search(ids->begin(), ids->end(), known.first, std::greater<>());
  });
  return summaries;
}

std::optional<EndedIncident> IncidentArchive::EndOf(const std::string& id) const {
  if (!IsIncidentId(id)) return std::nullopt;
  const absl::StatusOr<std::string> text = ReadNote(PathOf(id, kEndedFile));
  absl::StatusOr<EndedIncident> ended = text.ok() ? ParseEnd(*text) : text.status();
  if (!ended.ok()) return std::nullopt;
  ended->id = id;
  return *std::move(ended);
}

std::optional<Acknowledgement> IncidentArchive::AcknowledgementOf(const std::string& id) const {
  if (!IsIncidentId(id)) return std::nullopt;
  const absl::StatusOr<std::string> text = ReadNote(PathOf(id, kAcknowledgedFile));
  absl::StatusOr<Acknowledgement> by = text.ok() ? ParseAcknowledgement(*text) : text.status();
  if (!by.ok()) return std::nullopt;
  return *std::move(by);
}

IncidentSummary IncidentArchive::Summarise(const std::string& id) const {
  IncidentSummary summary = SummariseDigestOf(id);
  summary.ended = EndOf(id);
  summary.acknowledged = AcknowledgementOf(id);
  return summary;
}

IncidentSummary IncidentArchive::SummariseDigestOf(const std::string& id) const {
  const std::string path = PathOf(id, kJsonFile);
  IncidentSummary broken;
  broken.id = id;
  broken.detected_at = TimeOfId(id);
  FileFacts facts;
  const absl::StatusOr<int> file = OpenFile(path, facts);
  if (file.ok()) close(*file);
  if (absl::IsNotFound(file.status())) {
    broken.problem = absl::StrCat(kJsonFile, " is missing");
    return broken;
  }
  {
    const MutexLock lock(mutex_);
    const auto found = known_.find(id);
    if (file.ok() && found != known_.end() && found->second.modified_ns == facts.modified_ns &&
        found->second.bytes == facts.bytes) {
      return found->second.summary;
    }
  }
  const absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) {
    broken.problem = std::string(bytes.status().message());
    return broken;
  }
  absl::StatusOr<IncidentSummary> summary = SummariseDigest(*bytes);
  if (!summary.ok()) {
    broken.problem =
        absl::StrCat(kJsonFile, " cannot be used: ", std::string(summary.status().message()));
    return broken;
  }
  summary->id = id;
  if (summary->detected_at.empty()) summary->detected_at = TimeOfId(id);
  const MutexLock lock(mutex_);
  known_[id] = {facts.modified_ns, facts.bytes, *summary};
  return *std::move(summary);
}

absl::StatusOr<std::string> IncidentArchive::Read(const std::string& id, IncidentForm form) const {
  if (!IsIncidentId(id)) {
    return absl::InvalidArgumentError(
        "not an incident id; one looks like 20261120T124419Z-5dc4d1c8");
  }
  std::error_code error;
  const fs::file_status directory = fs::status(absl::StrCat(incidents_, "/", id), error);
  if (directory.type() == fs::file_type::not_found) {
    return absl::NotFoundError(absl::StrCat("no incident ", id, " in ", incidents_));
  }
  if (error) return Failed(absl::StrCat(incidents_, "/", id), error.value());
  absl::StatusOr<std::string> bytes = ReadFile(PathOf(id, FileOf(form)));
  if (!absl::IsNotFound(bytes.status())) return bytes;
  if (form == IncidentForm::kCapture) {
    return absl::DataLossError(absl::StrCat("incident ", id, " has no ", kCaptureFile));
  }
  if (form == IncidentForm::kHooks) {
    return absl::NotFoundError(
        absl::StrCat("nothing has been decided or done about incident ", id, " yet"));
  }
  return Render(id, form);
}

absl::StatusOr<std::string> IncidentArchive::Render(const std::string& id,
                                                    IncidentForm form) const {
  const std::string path = PathOf(id, kCaptureFile);
  const absl::StatusOr<Capture> capture = wire::ReadCaptureFile(path);
  if (!capture.ok()) {
    return absl::DataLossError(absl::StrCat("incident ", id, " has no ", FileOf(form),
                                            ", and its capture cannot be used to make one: ", path,
                                            ": ", std::string(capture.status().message())));
  }
  const digest::Report report =
      digest::BuildReport(*capture, Classify(*capture),
                          {.incident_id = id,
                           .timings = {},
                           .files = {.capture = path, .json = {}, .text = {}, .html = {}}});
  return RenderAs(report, form, digest::TextFormat::kClassic);
}

}  // namespace rapideye::coordinator
