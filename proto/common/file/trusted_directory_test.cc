#include "proto/common/file/trusted_directory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace rapideye::file {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using IfMissing = TrustedDirectory::IfMissing;

constexpr uid_t kAnother = 65534;

class TrustedDirectoryTest : public testing::Test {
 protected:
  TrustedDirectoryTest() {
    std::string pattern = fs::temp_directory_path() / "rapideye-trusted-XXXXXX";
    root_ = mkdtemp(pattern.data());
  }
  ~TrustedDirectoryTest() override { fs::remove_all(root_); }

  std::string Path(const std::string& name) const { return root_ + "/" + name; }
  std::string Make(const std::string& name, mode_t mode = 0700) const {
    EXPECT_EQ(mkdir(Path(name).c_str(), 0700), 0);
    EXPECT_EQ(chmod(Path(name).c_str(), mode), 0);
    return Path(name);
  }
  static std::string ErrorOf(const std::string& path, IfMissing if_missing = IfMissing::kRefuse) {
    const auto directory = TrustedDirectory::Open(path, if_missing);
    return directory.ok() ? "opened" : std::string(directory.status().message());
  }
  // "opened", or why not.
  std::string ErrorOfFile(const std::string& name, int flags) const {
    const auto file =
        TrustedDirectory::Open(root_, IfMissing::kRefuse)->OpenFile(name, flags, 0640);
    if (!file.ok()) return std::string(file.status().message());
    close(*file);
    return "opened";
  }
  std::string root_;
};

TEST_F(TrustedDirectoryTest, OpensAndCreatesWhatIsOurs) {
  EXPECT_EQ(ErrorOf(root_), "opened");
  EXPECT_TRUE(absl::IsNotFound(TrustedDirectory::Open(Path("a/b"), IfMissing::kRefuse).status()));
  EXPECT_FALSE(fs::exists(Path("a")));
  EXPECT_EQ(ErrorOf(Path("a/b"), IfMissing::kCreate), "opened");
  EXPECT_EQ(fs::status(Path("a/b")).permissions(), fs::perms::owner_all);
}

TEST_F(TrustedDirectoryTest, DirectoriesThatOthersMayWriteAreRefused) {
  EXPECT_THAT(ErrorOf(Make("open", 0777)), HasSubstr("can be written by other users"));
  EXPECT_THAT(ErrorOf(Make("group", 0770)), HasSubstr("can be written by other users"));
  Make("open/below");
  EXPECT_THAT(ErrorOf(Path("open/below")), HasSubstr("/open can be written by other users"));
  // A directory like /tmp: entries belong to their owners, but files have no safe place in it.
  EXPECT_THAT(ErrorOf(Make("sticky", 01777)), HasSubstr("can be written by other users"));
  Make("sticky/below");
  EXPECT_EQ(ErrorOf(Path("sticky/below")), "opened");
}

TEST_F(TrustedDirectoryTest, DirectoriesAndLinksOfOthersAreRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "needs to be root to give files away";
  ASSERT_EQ(chown(Make("theirs", 0755).c_str(), kAnother, kAnother), 0);
  EXPECT_THAT(ErrorOf(Path("theirs")), HasSubstr("belongs to another user"));
  EXPECT_THAT(ErrorOf(Path("theirs/below"), IfMissing::kCreate),
              HasSubstr("belongs to another user"));
  Make("ours");
  fs::create_directory_symlink("ours", Path("link"));
  ASSERT_EQ(lchown(Path("link").c_str(), kAnother, kAnother), 0);
  EXPECT_THAT(ErrorOf(Path("link")), HasSubstr("is a link of another user"));
}

TEST_F(TrustedDirectoryTest, LinksOfOursAreFollowedAndTheirTargetsChecked) {
  Make("ours");
  fs::create_directory_symlink("ours", Path("relative"));
  fs::create_directory_symlink(Path("ours"), Path("absolute"));
  fs::create_directory_symlink("loop", Path("loop"));
  fs::create_directory_symlink(Make("open", 0777), Path("to-open"));
  EXPECT_EQ(ErrorOf(Path("relative")), "opened");
  EXPECT_EQ(ErrorOf(Path("absolute")), "opened");
  EXPECT_THAT(ErrorOf(Path("loop")), HasSubstr("loop"));
  EXPECT_THAT(ErrorOf(Path("to-open")), HasSubstr("can be written by other users"));
}

TEST_F(TrustedDirectoryTest, OnlyRegularFilesOfOursAreOpened) {
  std::ofstream(Path("plain")) << "text";
  chmod(Path("plain").c_str(), 0640);
  EXPECT_EQ(ErrorOfFile("plain", O_RDONLY), "opened");
  EXPECT_EQ(ErrorOfFile("new", O_WRONLY | O_CREAT | O_APPEND), "opened");
  EXPECT_THAT(ErrorOfFile("missing", O_RDONLY), HasSubstr("missing"));

  fs::create_symlink("plain", Path("link"));
  EXPECT_THAT(ErrorOfFile("link", O_RDONLY), HasSubstr("is not a regular file"));
  // Opened for writing, a FIFO that nobody reads would block.
  ASSERT_EQ(mkfifo(Path("fifo").c_str(), 0600), 0);
  EXPECT_THAT(ErrorOfFile("fifo", O_WRONLY), HasSubstr("is not a regular file"));
  EXPECT_THAT(ErrorOfFile("fifo", O_RDONLY), HasSubstr("is not a regular file"));
  fs::create_hard_link(Path("plain"), Path("second"));
  EXPECT_THAT(ErrorOfFile("second", O_WRONLY | O_TRUNC), HasSubstr("has another name"));
  EXPECT_EQ(fs::file_size(Path("plain")), 4u);
  fs::remove(Path("second"));
  chmod(Path("plain").c_str(), 0666);
  EXPECT_THAT(ErrorOfFile("plain", O_WRONLY | O_TRUNC), HasSubstr("can be written by other users"));
  EXPECT_EQ(fs::file_size(Path("plain")), 4u);
}

TEST(PrivateDirectory, IsOfThisUser) {
  setenv("XDG_RUNTIME_DIR", "/run/mine", 1);
  EXPECT_EQ(PrivateDirectory("rapideye-agent"), "/run/mine/rapideye-agent");
  unsetenv("XDG_RUNTIME_DIR");
  EXPECT_THAT(PrivateDirectory("rapideye-agent"), HasSubstr(std::to_string(geteuid())));
}

}  // namespace
}  // namespace rapideye::file
