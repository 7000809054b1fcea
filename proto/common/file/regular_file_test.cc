#include "proto/common/file/regular_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "proto/common/file/descriptor.h"

namespace rapideye::file {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr uid_t kJob = 65534;
constexpr uid_t kNeighbour = 65533;

class RegularFileTest : public testing::Test {
 protected:
  RegularFileTest() {
    std::string pattern = fs::temp_directory_path() / "rapideye-regular-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~RegularFileTest() override { fs::remove_all(root_); }

  std::string Path(const std::string& name) const { return root_ + "/" + name; }
  void Write(const std::string& name) const { std::ofstream(Path(name)) << name; }
  void Link(const std::string& name, const std::string& target) const {
    fs::create_symlink(target, Path(name));
  }
  void Give(const std::string& name, uid_t user) const {
    EXPECT_EQ(lchown(Path(name).c_str(), user, user), 0);
  }
  // Returns the content of the file, or why it was not opened.
  static std::string Open(const std::string& path) {
    const absl::StatusOr<int> file = OpenRegularFile(path);
    if (!file.ok()) return std::string(file.status().message());
    std::string content;
    EXPECT_EQ(ReadUpTo(*file, 100, content), 0);
    close(*file);
    return content;
  }
  std::string OpenHere(const std::string& name) const { return Open(Path(name)); }

  std::string root_;
};

TEST_F(RegularFileTest, FollowsLinksOfOnesOwn) {
  fs::create_directory(Path("folder"));
  Write("folder/file");
  Link("absolute", Path("folder/file"));
  Link("relative", "folder/../folder/./file");
  Link("links", "folder");
  Link("chain", "links/../absolute");
  EXPECT_EQ(OpenHere("folder/file"), "folder/file");
  EXPECT_EQ(OpenHere("absolute"), "folder/file");
  EXPECT_EQ(OpenHere("relative"), "folder/file");
  EXPECT_EQ(OpenHere("links//file"), "folder/file");
  EXPECT_EQ(OpenHere("chain"), "folder/file");
  // An agent on the host reads the log of a container by such a path.
  EXPECT_EQ(Open(absl::StrCat("/proc/", getpid(), "/root", Path("folder/file"))), "folder/file");
  EXPECT_EQ(Open(absl::StrCat("/proc/self/root", Path("chain"))), "folder/file");
}

TEST_F(RegularFileTest, ALinkOfAnotherUserLeadsToThatUsersFilesOnly) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be root to give files away";
  fs::create_directory(Path("ours"));
  Write("ours/secret");
  Write("theirs");
  Give("theirs", kJob);
  Link("to-secret", Path("ours/secret"));
  Link("to-folder", "ours");
  Link("to-theirs", "theirs");
  Link("by-way-of-ours", "to-theirs");
  EXPECT_EQ(OpenHere("by-way-of-ours"), "theirs");
  for (const char* link : {"to-secret", "to-folder", "to-theirs"}) Give(link, kJob);
  EXPECT_EQ(OpenHere("to-theirs"), "theirs");
  EXPECT_EQ(OpenHere("by-way-of-ours"), "theirs");
  EXPECT_THAT(OpenHere("to-secret"), HasSubstr("to a file that is not that user's"));
  EXPECT_THAT(OpenHere("to-folder/secret"), HasSubstr("to a file that is not that user's"));
  EXPECT_TRUE(absl::IsPermissionDenied(OpenRegularFile(Path("to-secret")).status()));
  Link("through-proc", absl::StrCat("/proc/self/root", Path("ours/secret")));
  Give("through-proc", kJob);
  EXPECT_THAT(OpenHere("through-proc"), HasSubstr("to a file that is not that user's"));
  Give("by-way-of-ours", kNeighbour);  // of the two links' owners, one owns the file
  EXPECT_THAT(OpenHere("by-way-of-ours"), HasSubstr("to a file that is not that user's"));
}

TEST_F(RegularFileTest, DirectoriesFollowTheSameRule) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be root to give files away";
  for (const char* folder : {"ours", "theirs"}) {
    fs::create_directory(Path(folder));
    Link(absl::StrCat("to-", folder), folder);
    Give(absl::StrCat("to-", folder), kJob);
  }
  Give("theirs", kJob);
  Write("file");
  for (const char* name : {"ours", "theirs", "to-theirs", "to-theirs/../theirs/."}) {
    const absl::StatusOr<int> opened = OpenDirectory(Path(name));
    ASSERT_TRUE(opened.ok()) << opened.status();
    close(*opened);
  }
  EXPECT_TRUE(absl::IsPermissionDenied(OpenDirectory(Path("to-ours")).status()));
  EXPECT_TRUE(absl::IsPermissionDenied(OpenDirectory(Path("to-ours/.")).status()));
  EXPECT_TRUE(absl::IsNotFound(OpenDirectory(Path("none")).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(OpenDirectory(Path("file")).status()));
  EXPECT_FALSE(OpenDirectory("").ok());
}

TEST_F(RegularFileTest, WhatIsNoRegularFileIsNotOpened) {
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  Link("device", "/dev/tty");
  fs::create_directory(Path("folder"));
  for (const char* name : {"fifo", "device", "folder", ""}) {
    EXPECT_THAT(OpenHere(name), HasSubstr("is not a regular file")) << name;
  }
  EXPECT_TRUE(absl::IsNotFound(OpenRegularFile(Path("none")).status()));
  EXPECT_TRUE(absl::IsNotFound(OpenRegularFile(Path("none/below")).status()));
  Write("file");
  EXPECT_THAT(OpenHere("file/below"), HasSubstr("Not a directory"));
  Link("loop", "loop");
  EXPECT_THAT(OpenHere("loop"), HasSubstr("Too many levels"));
  EXPECT_FALSE(OpenRegularFile("").ok());
}

}  // namespace
}  // namespace rapideye::file
