#include "agent/sources/start_up/fetch_settings.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "agent/sources/start_up/limits.h"
#include "proto/common/file/small_file.h"

namespace rapideye::agent {
namespace {

// A folder has an entry for each package; more are not looked through.
constexpr size_t kMaxPackages = 4096;
constexpr size_t kMaxPackageFolders = 4;

void AddVersions(const std::string& folder, std::set<std::string>& seen,
                 std::vector<Setting>& settings) {
  size_t entries = 0;
  file::ForEachEntry(folder, [&](const char* name) {
    std::optional<Setting> version = PackageVersion(name);
    // Python imports a package that is there twice from the first folder.
    if (version.has_value() && seen.insert(version->name).second) {
      settings.push_back(*std::move(version));
    }
    return ++entries < kMaxPackages;
  });
}

}  // namespace

SettingHash SaltedHash(const std::string& salt) {
  if (salt.empty()) return nullptr;
  return [salt](absl::string_view value) {
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest;
    unsigned int size = 0;
    HMAC(EVP_sha256(), salt.data(), static_cast<int>(salt.size()),
         reinterpret_cast<const unsigned char*>(value.data()), value.size(), digest.data(), &size);
    const absl::string_view bytes(reinterpret_cast<const char*>(digest.data()),
                                  kSettingHashDigits / 2);
    return absl::BytesToHexString(bytes);
  };
}

std::optional<std::string> ReadEnvironment(const std::string& proc_root, int64_t pid) {
  return file::ReadSmallFile(absl::StrCat(proc_root, "/", pid, "/environ"), kMaxEnvironmentBytes);
}

std::optional<std::vector<Setting>> ReadSettings(const std::string& proc_root, int64_t pid,
                                                 const SettingHash& hash) {
  const std::optional<std::string> environment = ReadEnvironment(proc_root, pid);
  if (!environment.has_value()) return std::nullopt;
  std::vector<Setting> settings = SettingsOf(*environment, hash);
  const std::string process = absl::StrCat(proc_root, "/", pid);
  const auto maps = file::ReadSmallFile(process + "/maps", kMaxMapsBytes);
  if (!maps.has_value()) return settings;
  std::set<std::string> seen;
  size_t folders = 0;
  for (const std::string& folder : PackageFolders(*maps)) {
    // Reads the folder as the process sees it, in its own container.
    AddVersions(process + "/root" + folder, seen, settings);
    if (++folders >= kMaxPackageFolders) break;
  }
  return settings;
}

}  // namespace rapideye::agent
