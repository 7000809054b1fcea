#include "coordinator/cli/hlo_dumps.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/hlo_dump/parse.h"
#include "classifier/hlo/layers.h"
#include "classifier/hlo/module.h"
#include "coordinator/cli/output.h"
#include "coordinator/cli/progress.h"

namespace rapideye::cli {
namespace {

constexpr char kStandardInput[] = "-";
constexpr char kWhatToGive[] =
    "give the text of a module (XLA_FLAGS=--xla_dump_to=DIR writes it as "
    "DIR/module_*.after_optimizations.txt), or - for standard input";
constexpr size_t kPieceBytes = size_t{4} << 20;
constexpr std::string_view kAfter = "after_optimizations.txt";
constexpr std::string_view kBefore = "before_optimizations.txt";

using Input = std::unique_ptr<gzFile_s, int (*)(gzFile)>;

absl::Status Broken(const std::string& path, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(ShownPath(path), ": ", why));
}

std::string_view WithoutGzip(std::string_view name) {
  if (name.ends_with(".gz")) name.remove_suffix(3);
  return name;
}

// The part that the names of one compilation's files share: "module_0000.jit_f.cl_1.".
std::string_view StemOf(std::string_view name) {
  name = WithoutGzip(name);
  if (name.ends_with(kAfter)) {
    name.remove_suffix(kAfter.size());
  } else if (name.ends_with("txt")) {
    name.remove_suffix(3);
  }
  return name;
}

std::vector<std::string> NamesIn(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    std::error_code ignored;
    if (entry.is_regular_file(ignored)) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

DumpFiles FilesOf(const std::filesystem::path& folder, const std::string& name,
                  const std::vector<std::string>& names) {
  DumpFiles files;
  files.after = (folder / name).string();
  files.build = classifier::HloBuildOf(WithoutGzip(name));
  const std::string_view stem = StemOf(name);
  if (!stem.ends_with('.')) return files;
  for (const std::string& other : names) {
    const std::string_view whole = WithoutGzip(other);
    if (!whole.starts_with(stem)) continue;
    const std::string_view kind = whole.substr(stem.size());
    if (kind == kBefore) files.before = (folder / other).string();
    if (kind == "flagfile") files.flags = (folder / other).string();
  }
  return files;
}

absl::StatusOr<std::vector<DumpFiles>> InDirectory(const std::string& path) {
  const std::filesystem::path folder(path);
  const std::vector<std::string> names = NamesIn(folder);
  std::vector<std::pair<int64_t, DumpFiles>> found;
  for (const std::string& name : names) {
    const std::string plain(WithoutGzip(name));
    const std::optional<agent::DumpName> dump = agent::ParseDumpName(plain);
    if (!dump.has_value()) continue;
    found.emplace_back(dump->id, FilesOf(folder, name, names));
    found.back().second.module = dump->module;
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<DumpFiles> dumps;
  for (auto& [id, files] : found) dumps.push_back(std::move(files));
  if (dumps.empty()) {
    return Broken(path,
                  "it holds no module_*.after_optimizations.txt; a program that is run with "
                  "XLA_FLAGS=--xla_dump_to writes them");
  }
  return dumps;
}

}  // namespace

absl::StatusOr<ReadText> ReadHloText(const std::string& path) {
  errno = 0;
  const Input input(
      path == kStandardInput ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path.c_str(), "rb"),
      gzclose_r);
  if (input == nullptr) {
    const char* step =
        errno == EACCES ? "read it as the user that wrote it, or as root" : kWhatToGive;
    return Broken(path, absl::StrCat(std::strerror(errno), ": ", step));
  }
  ReadText read;
  struct stat status{};
  if (stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) {
      return Broken(path, absl::StrCat("it is a directory; ", kWhatToGive));
    }
    // For a compressed file this is the least size of its text.
    read.text.reserve(std::min(static_cast<size_t>(status.st_size) + 1, kMaxHloTextBytes));
  }
  Progress progress(absl::StrCat("reading ", ShownPath(path)));
  for (;;) {
    const size_t size = read.text.size();
    const size_t piece = std::min(kPieceBytes, kMaxHloTextBytes + 1 - size);
    if (read.text.capacity() < size + piece && read.text.capacity() > size) {
      read.text.resize(std::min(read.text.capacity(), size + piece));
    } else {
      read.text.resize(size + piece);
    }
    const int count = gzread(input.get(), read.text.data() + size,
                             static_cast<unsigned>(read.text.size() - size));
    if (count < 0) {
      int code = Z_OK;
      const std::string why = gzerror(input.get(), &code);
      return Broken(path, code == Z_ERRNO ? std::strerror(errno) : why);
    }
    read.text.resize(size + static_cast<size_t>(count));
    progress.Tell(absl::StrCat(read.text.size() >> 20, " MiB"));
    if (count == 0) break;
    if (read.text.size() > kMaxHloTextBytes) {
      read.text.resize(kMaxHloTextBytes);
      read.cut = true;
      return read;
    }
  }
  int code = Z_OK;
  gzerror(input.get(), &code);
  if (code == Z_BUF_ERROR) return Broken(path, "the compressed data is cut short");
  return read;
}

absl::StatusOr<std::vector<DumpFiles>> FindDumps(const std::string& path) {
  std::error_code ignored;
  if (path != kStandardInput && std::filesystem::is_directory(path, ignored)) {
    return InDirectory(path);
  }
  DumpFiles files;
  files.after = path;
  if (path != kStandardInput) {
    const std::filesystem::path file(path);
    const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
    files = FilesOf(folder, file.filename().string(), NamesIn(folder));
    files.after = path;
  }
  return std::vector<DumpFiles>{files};
}

std::vector<DumpPair> PairDumps(std::vector<DumpFiles> left, std::vector<DumpFiles> right) {
  std::vector<DumpPair> pairs;
  const bool texts =
      left.size() == 1 && right.size() == 1 && (left[0].module.empty() || right[0].module.empty());
  if (texts) {
    pairs.push_back({std::move(left[0]), std::move(right[0])});
    return pairs;
  }
  std::map<std::string, std::vector<size_t>> waiting;  // pairs without a right side
  for (DumpFiles& files : left) {
    waiting[files.module].push_back(pairs.size());
    pairs.push_back({std::move(files), std::nullopt});
  }
  for (DumpFiles& files : right) {
    std::vector<size_t>& alone = waiting[files.module];
    if (alone.empty()) {
      pairs.push_back({std::nullopt, std::move(files)});
    } else {
      pairs[alone.front()].right = std::move(files);
      alone.erase(alone.begin());
    }
  }
  return pairs;
}

}  // namespace rapideye::cli
