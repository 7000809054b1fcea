#include "agent/sources/identity/fetch.h"

#include "absl/strings/str_cat.h"
#include "agent/sources/identity/serial.h"
#include "agent/sources/limits.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {

std::optional<std::string> ReadSerial(const std::string& sys_root) {
  for (const char* file : {"product_serial", "board_serial"}) {
    const std::optional<std::string> text =
        ReadSmallFile(absl::StrCat(sys_root, "/class/dmi/id/", file), kMaxSysFileBytes);
    if (!text.has_value()) continue;
    if (std::optional<std::string> serial = ParseSerial(*text)) return serial;
  }
  return std::nullopt;
}

}  // namespace rapideye::agent
