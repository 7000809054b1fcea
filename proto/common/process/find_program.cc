#include "proto/common/process/find_program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace rapideye {
namespace {

bool Executable(const std::string& file) {
  std::error_code error;
  // A folder is "executable", too.
  return std::filesystem::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0;
}

}  // namespace

std::optional<std::string> FindOnPath(absl::string_view name, absl::string_view path) {
  for (const absl::string_view folder : absl::StrSplit(path, ':')) {
    if (!absl::StartsWith(folder, "/")) continue;
    std::string file = absl::StrCat(folder, "/", name);
    if (Executable(file)) return file;
  }
  return std::nullopt;
}

std::string PathVariable() {
  const char* path = std::getenv("PATH");
  return path != nullptr ? path : "/usr/bin:/bin";
}

std::string OwnFolder() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).parent_path().string();
}

std::optional<std::string> FindTool(absl::string_view name, absl::string_view path,
                                    const std::string& own_folder) {
  if (std::optional<std::string> found = FindOnPath(name, path)) return found;
  if (own_folder.empty()) return std::nullopt;
  const std::filesystem::path prefix = std::filesystem::path(own_folder).parent_path();
  const std::string file = (prefix / "libexec/rapideye" / std::string(name)).string();
  return Executable(file) ? std::optional(file) : std::nullopt;
}

}  // namespace rapideye
