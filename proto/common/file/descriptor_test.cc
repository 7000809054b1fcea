#include "proto/common/file/descriptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace rapideye {
namespace {

// A file without a name, with this content, read from its beginning.
class DescriptorTest : public testing::Test {
 protected:
  DescriptorTest()
      : file_(open(testing::TempDir().c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600)) {}
  ~DescriptorTest() override { close(file_); }

  void Write(const std::string& content) {
    ASSERT_EQ(file::WriteAll(file_, content), 0);
    lseek(file_, 0, SEEK_SET);
  }

  const int file_;
};

TEST_F(DescriptorTest, ReadsWhatWasWritten) {
  std::string content(100'000, 'a');
  content[50'000] = 'b';
  Write(content);
  std::string read = "before:";
  EXPECT_EQ(file::ReadUpTo(file_, 1'000'000, read), 0);
  EXPECT_EQ(read, "before:" + content);
}

TEST_F(DescriptorTest, ReadsNoMoreThanItIsToldTo) {
  Write("0123456789");
  std::string read;
  EXPECT_EQ(file::ReadUpTo(file_, 4, read), 0);
  EXPECT_EQ(read, "0123");
  EXPECT_EQ(file::ReadUpTo(file_, 0, read), 0);
  EXPECT_EQ(read, "0123");
}

TEST_F(DescriptorTest, GivesWhatCameBeforeTheEnd) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  ASSERT_EQ(file::WriteAll(ends[1], "half"), 0);
  close(ends[1]);
  std::string read;
  EXPECT_EQ(file::ReadUpTo(ends[0], 100, read), 0);
  EXPECT_EQ(read, "half");
  close(ends[0]);
}

TEST_F(DescriptorTest, SaysWhyItCannot) {
  std::string read;
  EXPECT_EQ(file::ReadUpTo(-1, 10, read), EBADF);
  EXPECT_EQ(read, "");
  EXPECT_EQ(file::WriteAll(-1, "any"), EBADF);
}

}  // namespace
}  // namespace rapideye
