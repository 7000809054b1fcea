#include "proto/common/process/find_program.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace rapideye {
namespace {

namespace fs = std::filesystem;

class FindProgramTest : public testing::Test {
 protected:
  FindProgramTest() { fs::remove_all(folder_); }
  ~FindProgramTest() override { fs::remove_all(folder_); }

  std::string Program(const std::string& name) const {
    const fs::path file = folder_ / name;
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "#!/bin/sh\n";
    fs::permissions(file, fs::perms::owner_all);
    return file.string();
  }
  std::string Folder(const std::string& name) const { return (folder_ / name).string(); }

  const fs::path folder_ = fs::path(testing::TempDir()) / "find_program_test";
};

TEST_F(FindProgramTest, OnThePathInAbsoluteFoldersOnly) {
  const std::string tool = Program("bin/tool");
  EXPECT_EQ(FindOnPath("tool", absl::StrCat(".::/nowhere:", Folder("bin"))), tool);
  EXPECT_EQ(FindOnPath("tool", "/nowhere:."), std::nullopt);
  EXPECT_EQ(FindOnPath("tool", ""), std::nullopt);
}

TEST_F(FindProgramTest, NeitherAFolderNorAFileWithoutTheRight) {
  fs::create_directories(folder_ / "first/tool");
  fs::permissions(Program("second/tool"), fs::perms::owner_read);
  const std::string path = absl::StrCat(Folder("first"), ":", Folder("second"));
  EXPECT_EQ(FindOnPath("tool", path), std::nullopt);
  const std::string tool = Program("third/tool");
  EXPECT_EQ(FindOnPath("tool", absl::StrCat(path, ":", Folder("third"))), tool);
}

TEST_F(FindProgramTest, AToolOfThePackagesIfNoneIsOnThePath) {
  const std::string packaged = Program("prefix/libexec/rapideye/tool");
  EXPECT_EQ(FindTool("tool", Folder("bin"), Folder("prefix/bin")), packaged);
  EXPECT_EQ(FindTool("other", Folder("bin"), Folder("prefix/bin")), std::nullopt);
  EXPECT_EQ(FindTool("tool", Folder("bin"), ""), std::nullopt);
  const std::string chosen = Program("bin/tool");
  EXPECT_EQ(FindTool("tool", Folder("bin"), Folder("prefix/bin")), chosen);
}

TEST_F(FindProgramTest, OwnFolderHoldsThisTest) {
  EXPECT_TRUE(fs::exists(fs::path(OwnFolder()) / "process_test")) << OwnFolder();
}

}  // namespace
}  // namespace rapideye
