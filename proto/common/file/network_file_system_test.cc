#include "proto/common/file/network_file_system.h"

#include <gtest/gtest.h>
#include <linux/magic.h>

namespace rapideye::file {
namespace {

TEST(NetworkFileSystemTest, KnowsThoseOfOtherHosts) {
  EXPECT_EQ(NetworkTypeOf(NFS_SUPER_MAGIC), "NFS");
  EXPECT_EQ(NetworkTypeOf(0x0BD00BD0), "Lustre");
  EXPECT_EQ(NetworkTypeOf(0xFF534D42), "SMB");
  for (const int64_t local : {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC,
                              FUSE_SUPER_MAGIC, 0}) {
    EXPECT_EQ(NetworkTypeOf(local), "") << local;
  }
}

TEST(NetworkFileSystemTest, OfAPathThatIsNotThereYet) {
  EXPECT_EQ(NetworkFileSystemOf("/proc/none/such"), "");
  EXPECT_EQ(NetworkFileSystemOf(testing::TempDir() + "not/there/yet"),
            NetworkFileSystemOf(testing::TempDir()));
  EXPECT_EQ(NetworkFileSystemOf(""), NetworkFileSystemOf("."));
}

}  // namespace
}  // namespace rapideye::file
