#include "agent/sources/hlo_dump/fetch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/hlo_dump/limits.h"
#include "agent/sources/hlo_dump/parse.h"
#include "proto/common/gzip/gzip.h"
#include "proto/wire/limits.h"

namespace rapideye::agent {
namespace {

using SteadyClock = std::chrono::steady_clock;

// HLO shrinks to a tenth at any level; the default takes twice as long for the last
// fifth of that.
constexpr int kGzipLevel = 4;

class Deadline {
 public:
  explicit Deadline(absl::Duration patience)
      : end_(SteadyClock::now() + absl::ToChronoNanoseconds(patience)) {}
  bool passed() const { return SteadyClock::now() >= end_; }

 private:
  const SteadyClock::time_point end_;
};

struct Dump {
  std::string file;
  DumpName name;
  timespec written{};
};

absl::Status FromErrno(const std::string& what) {
  const std::string reason = absl::StrCat(what, ": ", std::strerror(errno));
  switch (errno) {
    case ENOENT:
      return absl::NotFoundError(
          absl::StrCat(reason,
                       "; does the training process run with --xla_dump_to, and does the "
                       "agent see that directory?"));
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(absl::StrCat(reason, "; let the agent read it"));
    case ENOTDIR:
    case ELOOP:
      return absl::FailedPreconditionError(reason);
    default:
      return absl::UnavailableError(reason);
  }
}

// Owns the descriptor of the directory: what is opened in it stays in it.
class Directory {
 public:
  static absl::StatusOr<Directory> Open(const std::string& path) {
    DIR* handle = opendir(path.c_str());
    if (handle == nullptr) return FromErrno(path);
    return Directory(path, handle);
  }
  Directory(Directory&& other) noexcept
      : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, nullptr)) {}
  Directory& operator=(Directory&&) = delete;
  ~Directory() {
    if (handle_ != nullptr) closedir(handle_);
  }

  const std::string& path() const { return path_; }

  // The latest first.
  absl::StatusOr<std::vector<Dump>> List(const Deadline& deadline) {
    std::vector<Dump> dumps;
    for (size_t i = 0; i < kMaxDumpEntries; ++i) {
      errno = 0;
      const dirent* entry = readdir(handle_);
      if (entry == nullptr) {
        if (errno != 0) return FromErrno(path_);
        break;
      }
      if (deadline.passed()) {
        return absl::DeadlineExceededError(absl::StrCat(path_, " takes too long to be listed"));
      }
      Add(entry->d_name, dumps);
    }
    std::sort(dumps.begin(), dumps.end(), [](const Dump& a, const Dump& b) {
      return std::tie(a.written.tv_sec, a.written.tv_nsec, a.name.id, a.file) >
             std::tie(b.written.tv_sec, b.written.tv_nsec, b.name.id, b.file);
    });
    return dumps;
  }

  // -1 unless it is a regular file.
  int OpenFile(const std::string& file, int64_t* size) const {
    const int descriptor = openat(dirfd(handle_), file.c_str(),
                                  O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    struct stat status{};
    if (descriptor < 0) return -1;
    if (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
      close(descriptor);
      return -1;
    }
    *size = status.st_size;
    return descriptor;
  }

  std::string Beginning(const std::string& file) const {
    int64_t size = 0;
    const int descriptor = OpenFile(file, &size);
    if (descriptor < 0) return "";
    std::string bytes(kMaxDumpBeginningBytes, '\0');
    const ssize_t count = read(descriptor, bytes.data(), bytes.size());
    close(descriptor);
    bytes.resize(count < 0 ? 0 : static_cast<size_t>(count));
    return bytes;
  }

 private:
  Directory(std::string path, DIR* handle) : path_(std::move(path)), handle_(handle) {}

  void Add(const char* file, std::vector<Dump>& dumps) const {
    std::optional<DumpName> name = ParseDumpName(file);
    if (!name.has_value()) return;
    struct stat status{};
    if (fstatat(dirfd(handle_), file, &status, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISREG(status.st_mode)) dumps.push_back({file, *std::move(name), status.st_mtim});
  }

  std::string path_;
  DIR* handle_;
};

struct Choice {
  const Dump* dump = nullptr;
  HloMatch match = HloMatch::kUnspecified;
};

bool Holds(const Directory& directory, const Dump& dump, const std::string& fingerprint) {
  const std::vector<std::string> held = FingerprintsIn(directory.Beginning(dump.file));
  return std::find(held.begin(), held.end(), fingerprint) != held.end();
}

Choice Choose(const Directory& directory, const std::vector<Dump>& dumps,
              const std::optional<std::string>& module, const std::string& fingerprint,
              const Deadline& deadline) {
  std::vector<const Dump*> candidates;
  for (const Dump& dump : dumps) {
    if (!module.has_value() || IsDumpOf(dump.name, *module)) candidates.push_back(&dump);
  }
  const size_t looked_into = std::min(candidates.size(), kMaxDumpsLookedInto);
  for (size_t i = 0; i < looked_into && !deadline.passed(); ++i) {
    if (Holds(directory, *candidates[i], fingerprint)) {
      return {candidates[i], HloMatch::kFingerprint};
    }
  }
  // Without its name nothing tells which of them it is.
  if (!module.has_value() || candidates.empty()) return {};
  return {candidates[0], candidates.size() == 1 ? HloMatch::kOnlyDump : HloMatch::kLatestDump};
}

absl::Status NotThere(const Directory& directory, size_t dumps,
                      const std::optional<std::string>& module, const std::string& fingerprint) {
  if (!module.has_value()) {
    return absl::NotFoundError(absl::StrCat("nobody knows which module has the fingerprint ",
                                            fingerprint, ", and none of ", dumps, " dumps in ",
                                            directory.path(), " names it"));
  }
  return absl::NotFoundError(
      absl::StrCat("none of ", dumps, " dumps in ", directory.path(), " is of module ", *module));
}

// All of the file as it is now; what is written to it meanwhile is not waited for.
absl::Status Compress(int descriptor, int64_t size, const Deadline& deadline,
                      wire::ModuleText& text) {
  gzip::Compressor compressor(kGzipLevel, wire::ModuleText::kMaxGzipBytes);
  std::string chunk(kDumpReadBytes, '\0');
  int64_t total = 0;
  for (;;) {
    if (deadline.passed()) return absl::DeadlineExceededError("its dump was not read in time");
    const int64_t room = static_cast<int64_t>(wire::kMaxModuleTextBytes) - total;
    const ssize_t count =
        read(descriptor, chunk.data(), std::min(chunk.size(), static_cast<size_t>(room)));
    if (count < 0) return FromErrno(text.dump);
    if (count == 0) break;
    if (!compressor.Add({chunk.data(), static_cast<size_t>(count)}).ok()) break;
    total += count;
  }
  // Also of one that has grown meanwhile, or was cut short.
  text.cut = total != size;
  absl::StatusOr<std::string> compressed = compressor.Finish();
  if (!compressed.ok()) return compressed.status();
  text.gzip = *std::move(compressed);
  if (total == 0) return absl::NotFoundError(absl::StrCat(text.dump, " is empty"));
  return absl::OkStatus();
}

}  // namespace

HloDumpReading ListHloDumps(const std::string& directory, absl::Duration patience) {
  const Deadline deadline(patience);
  HloDumpReading reading;
  absl::StatusOr<Directory> opened = Directory::Open(directory);
  if (!opened.ok()) return {{}, std::string(opened.status().message())};
  const absl::StatusOr<std::vector<Dump>> dumps = opened->List(deadline);
  if (!dumps.ok()) return {{}, std::string(dumps.status().message())};
  if (dumps->empty()) {
    return {{},
            absl::StrCat(directory,
                         " holds no module_*.after_optimizations.txt; does the "
                         "training process run with --xla_dump_to=",
                         directory, " (and text among its formats)?")};
  }
  const size_t looked_into = std::min(dumps->size(), kMaxDumpsLookedInto);
  for (size_t i = 0; i < looked_into && !deadline.passed(); ++i) {
    const Dump& dump = (*dumps)[i];
    if (dump.name.module.empty()) continue;
    for (std::string& fingerprint : FingerprintsIn(opened->Beginning(dump.file))) {
      reading.programs.push_back({dump.name.module, std::move(fingerprint)});
    }
  }
  return reading;
}

absl::StatusOr<wire::ModuleText> ReadModuleText(const std::string& directory,
                                                const std::optional<std::string>& module,
                                                const std::string& fingerprint,
                                                absl::Duration patience) {
  const Deadline deadline(patience);
  absl::StatusOr<Directory> opened = Directory::Open(directory);
  if (!opened.ok()) return opened.status();
  const absl::StatusOr<std::vector<Dump>> dumps = opened->List(deadline);
  if (!dumps.ok()) return dumps.status();
  const Choice choice = Choose(*opened, *dumps, module, fingerprint, deadline);
  if (choice.dump == nullptr) return NotThere(*opened, dumps->size(), module, fingerprint);
  wire::ModuleText text;
  text.dump = choice.dump->file;
  text.match = choice.match;
  int64_t size = 0;
  const int descriptor = opened->OpenFile(text.dump, &size);
  if (descriptor < 0) return FromErrno(absl::StrCat(directory, "/", text.dump));
  const absl::Cleanup close_it = [descriptor] { close(descriptor); };
  if (absl::Status status = Compress(descriptor, size, deadline, text); !status.ok()) return status;
  return text;
}

}  // namespace rapideye::agent
