#include "proto/common/process/forget_start_up.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <string>

namespace rapideye {
namespace {

// In pages.
int64_t Resident() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0;
  int64_t resident = 0;
  statm >> size >> resident;
  return resident;
}

// Relocated: no file holds the pointers.
const char* const kWords[] = {"one", "two"};

TEST(ForgetStartUp, FreesPagesOfFilesAndKeepsWhatWasChanged) {
  static std::string changed = "before";
  changed = "after";
  const int64_t before = Resident();
  ForgetStartUp();
  // The C++ library alone has 2 MiB.
  EXPECT_LT(Resident(), before - 1024 * 1024 / sysconf(_SC_PAGESIZE));
  EXPECT_EQ(changed, "after");
  EXPECT_EQ(std::string(kWords[1]), "two");
  EXPECT_EQ(std::to_string(1.5).substr(0, 3), "1.5");
}

}  // namespace
}  // namespace rapideye
