// Reads small files and directories of the kernel (/proc, /sys). Thread-safe.
#ifndef RAPIDEYE_PROTO_COMMON_FILE_SMALL_FILE_H_
#define RAPIDEYE_PROTO_COMMON_FILE_SMALL_FILE_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

namespace rapideye::file {

// Up to `limit` bytes; absent if the file cannot be read, or is empty.
std::optional<std::string> ReadSmallFile(const std::string& path, size_t limit);

// Calls `visit` with every name in the directory, "." and ".." included, until it
// returns false. Returns errno of opening it, 0 for none.
int ForEachEntry(const std::string& path, const std::function<bool(const char*)>& visit);

// The last part of a symbolic link's target; absent if the path is no link.
std::optional<std::string> LinkName(const std::string& path);

}  // namespace rapideye::file

#endif  // RAPIDEYE_PROTO_COMMON_FILE_SMALL_FILE_H_
