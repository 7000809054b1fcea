#include "proto/common/file/network_file_system.h"

#include <linux/magic.h>
#include <sys/statfs.h>

#include <filesystem>
#include <system_error>

namespace rapideye::file {
namespace {

// Numbers of file systems that linux/magic.h does not name.
constexpr int64_t kLustre = 0x0BD00BD0;
constexpr int64_t kGpfs = 0x47504653;
constexpr int64_t kCifs = 0xFF534D42;
constexpr int64_t kBeeGfs = 0x19830326;

}  // namespace

std::string NetworkTypeOf(int64_t magic) {
  switch (magic) {
    case NFS_SUPER_MAGIC:
      return "NFS";
    case SMB_SUPER_MAGIC:
    case SMB2_SUPER_MAGIC:
    case kCifs:
      return "SMB";
    case CEPH_SUPER_MAGIC:
      return "Ceph";
    case AFS_SUPER_MAGIC:
    case AFS_FS_MAGIC:
      return "AFS";
    case kLustre:
      return "Lustre";
    case kGpfs:
      return "GPFS";
    case kBeeGfs:
      return "BeeGFS";
    default:
      return "";
  }
}

std::string NetworkFileSystemOf(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path nearest = fs::absolute(path, error);
  while (!fs::exists(nearest, error) && nearest.has_relative_path()) {
    nearest = nearest.parent_path();
  }
  struct statfs system{};
  if (statfs(nearest.c_str(), &system) != 0) return "";
  return NetworkTypeOf(static_cast<uint32_t>(system.f_type));
}

}  // namespace rapideye::file
