#include "proto/common/process/forget_start_up.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace rapideye {
namespace {

constexpr size_t kBytes = 1024 * 1024;

// KiB in memory of the mapping that begins there.
int64_t ResidentKib(const void* mapping) {
  std::ostringstream begin;
  begin << std::hex << reinterpret_cast<uintptr_t>(mapping) << "-";
  std::ifstream smaps("/proc/self/smaps");
  bool found = false;
  for (std::string line; std::getline(smaps, line);) {
    found = found || line.find(begin.str()) == 0;
    if (found && line.find("Rss:") == 0) return std::stoll(line.substr(4));
  }
  return -1;
}

// Relocated: no file holds the pointers.
const char* const kWords[] = {"one", "two"};

TEST(ForgetStartUp, FreesPagesOfFilesAndKeepsWhatWasChanged) {
  static std::string changed = "before";
  changed = "after";
  const std::string path = ::testing::TempDir() + "mapped-" + std::to_string(getpid());
  std::ofstream(path) << std::string(kBytes, 'x');
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  char* const bytes =
      static_cast<char*>(mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0));
  close(file);
  ASSERT_NE(bytes, MAP_FAILED);
  EXPECT_EQ(ResidentKib(bytes), static_cast<int64_t>(kBytes / 1024));
  ForgetStartUp();
  EXPECT_EQ(ResidentKib(bytes), 0);
  EXPECT_EQ(bytes[kBytes - 1], 'x');
  munmap(bytes, kBytes);
  std::filesystem::remove(path);
  EXPECT_EQ(changed, "after");
  EXPECT_EQ(std::string(kWords[1]), "two");
  EXPECT_EQ(std::to_string(1.5).substr(0, 3), "1.5");
}

}  // namespace
}  // namespace rapideye
