#include "agent/sources/hlo_dump/fetch.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/hlo_dump/limits.h"
#include "agent/sources/hlo_dump/parse.h"
#include "agent/sources/limits.h"
#include "classifier/hlo/assignment.h"
#include "classifier/hlo/groups.h"
#include "classifier/hlo/module.h"
#include "classifier/hlo/waits.h"
#include "proto/common/file/regular_file.h"
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
  int64_t size = 0;

  DumpFingerprints::Key Key() const { return {file, size, absl::TimeFromTimespec(written)}; }
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

// Owns the descriptor of the directory: files opened through it lie in it.
class Directory {
 public:
  static absl::StatusOr<Directory> Open(const std::string& path) {
    const absl::StatusOr<int> descriptor = file::OpenDirectory(path);
    if (absl::IsNotFound(descriptor.status())) {
      errno = ENOENT;
      return FromErrno(path);
    }
    if (!descriptor.ok()) return descriptor.status();
    DIR* handle = fdopendir(*descriptor);
    if (handle == nullptr) {
      close(*descriptor);
      return FromErrno(path);
    }
    return Directory(path, handle);
  }
  Directory(Directory&& other) noexcept
      : path_(std::move(other.path_)), handle_(std::exchange(other.handle_, nullptr)) {}
  Directory& operator=(Directory&&) = delete;
  ~Directory() {
    if (handle_ != nullptr) closedir(handle_);
  }

  const std::string& path() const { return path_; }

  // The latest first; dumps that jax has compiled for the host's own cores come after all others.
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
      if (a.name.for_host != b.name.for_host) return b.name.for_host;
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

  // The whole text of a dump; absent if it cannot be read, or is being written.
  std::optional<std::string> Text(const Dump& dump) const {
    int64_t size = 0;
    const int descriptor = OpenFile(dump.file, &size);
    if (descriptor < 0) return std::nullopt;
    const absl::Cleanup close_it = [descriptor] { close(descriptor); };
    if (size != dump.size) return std::nullopt;
    std::string text(static_cast<size_t>(size), '\0');
    size_t total = 0;
    while (total < text.size()) {
      const ssize_t count = read(descriptor, text.data() + total, text.size() - total);
      if (count <= 0) return std::nullopt;
      total += static_cast<size_t>(count);
    }
    return text;
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
    if (S_ISREG(status.st_mode)) {
      dumps.push_back({file, *std::move(name), status.st_mtim, status.st_size});
    }
  }

  std::string path_;
  DIR* handle_;
};

struct Choice {
  const Dump* dump = nullptr;
  HloMatch match = HloMatch::kUnspecified;
};

bool Holds(const Directory& directory, const Dump& dump, const std::string& fingerprint,
           const DumpFingerprints& known) {
  const auto* own = known.Find(dump.Key());
  if (own != nullptr && own->has_value() && (*own)->digits == fingerprint) return true;
  const std::vector<std::string> held = FingerprintsIn(directory.Beginning(dump.file));
  return std::find(held.begin(), held.end(), fingerprint) != held.end();
}

Choice Choose(const Directory& directory, const std::vector<Dump>& dumps,
              const std::optional<std::string>& module, const std::string& fingerprint,
              const DumpFingerprints& known, const Deadline& deadline) {
  std::vector<const Dump*> candidates;
  for (const Dump& dump : dumps) {
    if (!module.has_value() || IsDumpOf(dump.name, *module)) candidates.push_back(&dump);
  }
  const size_t looked_into = std::min(candidates.size(), kMaxDumpsLookedInto);
  for (size_t i = 0; i < looked_into && !deadline.passed(); ++i) {
    if (Holds(directory, *candidates[i], fingerprint, known)) {
      return {candidates[i], HloMatch::kFingerprint};
    }
  }
  // Without the module's name no candidate can be told from the others.
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

struct Compressed {
  std::string gzip;
  bool cut = false;  // beyond a bound, or changed meanwhile
};

// Reads the whole file as it is now; does not wait for bytes that are written meanwhile.
absl::StatusOr<Compressed> Compress(const Directory& directory, const std::string& file,
                                    size_t max_gzip_bytes, const Deadline& deadline) {
  int64_t size = 0;
  const int descriptor = directory.OpenFile(file, &size);
  if (descriptor < 0) return FromErrno(absl::StrCat(directory.path(), "/", file));
  const absl::Cleanup close_it = [descriptor] { close(descriptor); };
  gzip::Compressor compressor(kGzipLevel, max_gzip_bytes);
  std::string chunk(kDumpReadBytes, '\0');
  int64_t total = 0;
  for (;;) {
    if (deadline.passed()) return absl::DeadlineExceededError("its dump was not read in time");
    const int64_t room = static_cast<int64_t>(wire::kMaxModuleTextBytes) - total;
    const ssize_t count =
        read(descriptor, chunk.data(), std::min(chunk.size(), static_cast<size_t>(room)));
    if (count < 0) return FromErrno(file);
    if (count == 0) break;
    if (!compressor.Add({chunk.data(), static_cast<size_t>(count)}).ok()) break;
    total += count;
  }
  if (total == 0) return absl::NotFoundError(absl::StrCat(file, " is empty"));
  absl::StatusOr<std::string> compressed = compressor.Finish();
  if (!compressed.ok()) return compressed.status();
  // True also for a file that has grown meanwhile, or was cut short.
  return Compressed{*std::move(compressed), total != size};
}

// Another file of the compilation that `dump` is of; empty unless it could be had as a whole, and
// fits into `max_gzip_bytes` and into the room of the message.
std::string Beside(const Directory& directory, const std::string& dump, absl::string_view kind,
                   size_t max_gzip_bytes, size_t room, const Deadline& deadline) {
  absl::StatusOr<Compressed> read = Compress(directory, BesideDump(dump, kind), room, deadline);
  const bool fits = read.ok() && !read->cut && read->gzip.size() <= max_gzip_bytes;
  return fits ? std::move(read->gzip) : "";
}

HloDumpReading Unavailable(const absl::Status& status) {
  HloDumpReading reading;
  reading.unavailable = std::string(status.message());
  return reading;
}

// A name that every reader of a snapshot can print.
bool IsPrintable(const std::string& name) {
  return !name.empty() && name.size() <= kMaxNameBytes &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return absl::ascii_isgraph(static_cast<unsigned char>(c)); });
}

// The device assignment of the same compilation; absent: none that is certain.
std::optional<classifier::HloAssignment> AssignmentBeside(const Directory& directory,
                                                          const Dump& dump) {
  const std::string file = BesideDump(dump.file, "execution_options.txt");
  int64_t size = 0;
  const int descriptor = directory.OpenFile(file, &size);
  if (descriptor < 0) return std::nullopt;
  close(descriptor);
  if (size > kMaxAssignmentBytes) return std::nullopt;
  Dump options;
  options.file = file;
  options.size = size;
  const std::optional<std::string> text = directory.Text(options);
  return text.has_value() ? classifier::ParseHloAssignment(*text) : std::nullopt;
}

bool IsInSlice(HloWaits waits) {
  return waits == HloWaits::kInSlice || waits == HloWaits::kComputeWithCollective;
}

void LookUp(const Directory& directory, const Dump& dump, const std::set<std::string>& instructions,
            std::map<std::string, InstructionWait>& waits) {
  if (dump.size > kMaxLookedUpBytes) return;
  const std::optional<std::string> text = directory.Text(dump);
  if (!text.has_value()) return;
  const std::optional<classifier::HloModule> module = classifier::ParseHloModule(*text);
  if (!module.has_value()) return;
  classifier::HloWaitAnalysis analysis(*module);
  const std::optional<classifier::HloAssignment> assignment = AssignmentBeside(directory, dump);
  const int64_t partitions = classifier::HloDevices(module->attributes);
  for (const std::string& name : instructions) {
    InstructionWait& wait = waits[name];
    wait = {};
    const HloWaits of = analysis.OfName(name);
    if (of == HloWaits::kUnspecified) continue;
    wait.waits = of;
    if (!assignment.has_value() || !IsInSlice(of)) continue;
    classifier::HloPartners partners = analysis.PartnersOfName(name);
    if (partners.groups.empty()) continue;
    wait.meeting = std::make_shared<const MeetingText>(
        MeetingText{std::move(partners.groups), *assignment, partners.pairs, partitions});
  }
}

// Takes the fingerprints of texts within the bounds of one look.
class Fingerprints {
 public:
  Fingerprints(const Directory& directory, DumpFingerprints& known)
      : directory_(directory), known_(known), deadline_(kFingerprintDeadline) {}

  std::vector<DumpedProgram> Take(const std::vector<Dump>& dumps, absl::Time since) {
    for (const Dump& dump : dumps) {
      if (absl::TimeFromTimespec(dump.written) < since) continue;
      const std::optional<classifier::HloFingerprint> fingerprint = Of(dump);
      if (fingerprint.has_value() && IsPrintable(fingerprint->module)) {
        devices_ = std::max(devices_, fingerprint->devices);
        found_.emplace_back(&dump, *fingerprint);
      } else {
        partial_.insert(dump.name.module);
      }
    }
    known_ = std::move(present_);
    return Chosen();
  }

 private:
  std::optional<classifier::HloFingerprint> Of(const Dump& dump) {
    const DumpFingerprints::Key key = dump.Key();
    if (const auto* known = known_.Find(key); known != nullptr) {
      present_.Set(key, *known);
      return *known;
    }
    if (++read_ > kMaxDumpsFingerprinted || dump.size > std::min(room_, kMaxFingerprintedBytes) ||
        deadline_.passed()) {
      return std::nullopt;
    }
    room_ -= dump.size;
    const std::optional<std::string> text = directory_.Text(dump);
    if (!text.has_value()) return std::nullopt;
    std::optional<classifier::HloFingerprint> fingerprint = classifier::FingerprintHlo(*text);
    present_.Set(key, fingerprint);
    return fingerprint;
  }

  // A host's own computations, on its devices or for itself alone, may rightly differ from
  // those of others.
  std::vector<DumpedProgram> Chosen() const {
    std::set<std::pair<std::string, std::string>> chosen;
    for (const auto& [dump, fingerprint] : found_) {
      if (!fingerprint.has_collective || fingerprint.devices < 2) continue;
      if (fingerprint.devices < devices_ || partial_.contains(dump->name.module)) continue;
      chosen.emplace(fingerprint.module, fingerprint.digits);
    }
    std::vector<DumpedProgram> programs;
    if (chosen.size() > kMaxDumpedPrograms) return programs;
    for (const auto& [module, digits] : chosen) programs.push_back({module, digits});
    return programs;
  }

  const Directory& directory_;
  DumpFingerprints& known_;
  const Deadline deadline_;
  DumpFingerprints present_;
  size_t read_ = 0;
  int64_t room_ = kMaxFingerprintedBytesPerLook;
  int64_t devices_ = 0;  // the most devices of any program
  std::vector<std::pair<const Dump*, classifier::HloFingerprint>> found_;
  std::set<std::string> partial_;  // modules, not all of whose texts are known
};

}  // namespace

WaitsOfInstructions InstructionWaits::Find(const InstructionsOfModules& wanted,
                                           absl::Duration patience) {
  WaitsOfInstructions found;
  const Deadline deadline(patience);
  absl::StatusOr<Directory> opened = Directory::Open(directory_);
  if (!opened.ok()) return found;
  const absl::StatusOr<std::vector<Dump>> dumps = opened->List(deadline);
  if (!dumps.ok()) return found;
  std::map<std::string, Known> present;
  for (const auto& [module, instructions] : wanted) {
    const auto latest =
        std::find_if(dumps->begin(), dumps->end(),
                     [&name = module](const Dump& dump) { return IsDumpOf(dump.name, name); });
    if (latest == dumps->end()) continue;
    Known known{latest->Key(), {}};
    if (const auto before = known_.find(module);
        before != known_.end() && before->second.dump == known.dump) {
      known = before->second;
    }
    const bool all =
        std::all_of(instructions.begin(), instructions.end(),
                    [&known](const std::string& name) { return known.waits.contains(name); });
    if (!all && !deadline.passed()) LookUp(*opened, *latest, instructions, known.waits);
    for (const std::string& name : instructions) {
      if (const auto it = known.waits.find(name); it != known.waits.end())
        found[module].insert(*it);
    }
    present[module] = std::move(known);
  }
  known_ = std::move(present);
  return found;
}

HloDumpReading ListHloDumps(const std::string& directory, const DumpLook& look,
                            absl::Duration patience, DumpFingerprints& known) {
  const Deadline deadline(patience);
  HloDumpReading reading;
  absl::StatusOr<Directory> opened = Directory::Open(directory);
  if (!opened.ok()) return Unavailable(opened.status());
  const absl::StatusOr<std::vector<Dump>> dumps = opened->List(deadline);
  if (!dumps.ok()) return Unavailable(dumps.status());
  if (dumps->empty()) {
    reading.unavailable = absl::StrCat(directory,
                                       " holds no module_*.after_optimizations.txt; does the "
                                       "training process run with --xla_dump_to=",
                                       directory, " (and text among its formats)?");
    return reading;
  }
  const size_t looked_into = std::min(dumps->size(), kMaxDumpsLookedInto);
  for (size_t i = 0; i < looked_into && !deadline.passed(); ++i) {
    const Dump& dump = (*dumps)[i];
    if (dump.name.module.empty()) continue;
    for (std::string& fingerprint : FingerprintsIn(opened->Beginning(dump.file))) {
      reading.programs.push_back({dump.name.module, std::move(fingerprint)});
    }
  }
  if (look.fingerprints) reading.compiled = Fingerprints(*opened, known).Take(*dumps, look.since);
  return reading;
}

absl::StatusOr<wire::ModuleText> ReadModuleText(const std::string& directory,
                                                const std::optional<std::string>& module,
                                                const std::string& fingerprint,
                                                absl::Duration patience,
                                                const DumpFingerprints& known) {
  const Deadline deadline(patience);
  absl::StatusOr<Directory> opened = Directory::Open(directory);
  if (!opened.ok()) return opened.status();
  const absl::StatusOr<std::vector<Dump>> dumps = opened->List(deadline);
  if (!dumps.ok()) return dumps.status();
  const Choice choice = Choose(*opened, *dumps, module, fingerprint, known, deadline);
  if (choice.dump == nullptr) return NotThere(*opened, dumps->size(), module, fingerprint);
  wire::ModuleText text;
  text.dump = choice.dump->file;
  text.match = choice.match;
  // All of them share one message. The flags are few, and say most for their size. The files beside
  // the text must not cost the text its time.
  const Deadline beside(patience / 2);
  size_t room = wire::ModuleText::kMaxGzipBytes;
  text.flags_gzip =
      Beside(*opened, text.dump, "flagfile", wire::ModuleText::kMaxFlagsGzipBytes, room, beside);
  room -= text.flags_gzip.size();
  absl::StatusOr<Compressed> after = Compress(*opened, text.dump, room, deadline);
  if (!after.ok()) return after.status();
  text.gzip = std::move(after->gzip);
  text.cut = after->cut;
  room -= text.gzip.size();
  text.before_gzip = Beside(*opened, text.dump, "before_optimizations.txt",
                            wire::ModuleText::kMaxBeforeGzipBytes, room, beside);
  return text;
}

}  // namespace rapideye::agent
