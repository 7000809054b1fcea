#include "proto/common/process/free_memory.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <thread>
#include <vector>

namespace rapideye {
namespace {

constexpr size_t kBlock = 32 * 1024;
constexpr size_t kBlocks = 2048;  // 64 MiB

int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  statm >> pages >> pages;
  return pages * sysconf(_SC_PAGESIZE);
}

TEST(FreeMemory, IsReturnedFromBetweenBlocksInUse) {
  std::unique_ptr<char[]> last;  // keeps the C library from giving the arena back
  std::thread([&last] {
    std::vector<std::unique_ptr<char[]>> blocks;
    for (size_t i = 0; i < kBlocks; ++i) blocks.push_back(std::make_unique<char[]>(kBlock));
    last = std::make_unique<char[]>(kBlock);
  }).join();
  const int64_t before = ResidentBytes();
  EXPECT_FALSE(ReturnFreeMemory(2 * kBlocks * kBlock));
  EXPECT_TRUE(ReturnFreeMemory(kBlocks * kBlock / 2));
  EXPECT_LT(ResidentBytes(), before - static_cast<int64_t>(kBlocks * kBlock / 2));
}

}  // namespace
}  // namespace rapideye
