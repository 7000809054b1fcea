#include "proto/common/file/small_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <memory>

#include "proto/common/file/descriptor.h"

namespace rapideye::file {

std::optional<std::string> ReadSmallFile(const std::string& path, size_t limit) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return std::nullopt;
  std::string content;
  ReadUpTo(file, limit, content);  // as far as it goes
  close(file);
  if (content.empty()) return std::nullopt;
  return content;
}

int ForEachEntry(const std::string& path, const std::function<bool(const char*)>& visit) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()), closedir);
  if (directory == nullptr) return errno;
  while (const dirent* entry = readdir(directory.get())) {
    if (!visit(entry->d_name)) break;
  }
  return 0;
}

std::optional<std::string> LinkName(const std::string& path) {
  std::array<char, PATH_MAX> target;
  const ssize_t size = readlink(path.c_str(), target.data(), target.size());
  if (size <= 0) return std::nullopt;
  const std::string text(target.data(), static_cast<size_t>(size));
  return text.substr(text.rfind('/') + 1);
}

}  // namespace rapideye::file
