#include "agent/sources/identity/fetch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace rapideye::agent {
namespace {

namespace fs = std::filesystem;

TEST(ReadSerialTest, TakesTheMachinesOrElseTheBoards) {
  const std::string sys = testing::TempDir() + "sys_of_serials";
  fs::remove_all(sys);
  EXPECT_EQ(ReadSerial(sys), std::nullopt);
  fs::create_directories(sys + "/class/dmi/id");
  std::ofstream(sys + "/class/dmi/id/product_serial") << "Default string\n";
  std::ofstream(sys + "/class/dmi/id/board_serial") << "CZ3429KXYZ\n";
  EXPECT_EQ(ReadSerial(sys), "CZ3429KXYZ");
  std::ofstream(sys + "/class/dmi/id/product_serial") << "GoogleCloud-4F7A21C9\n";
  EXPECT_EQ(ReadSerial(sys), "GoogleCloud-4F7A21C9");
  fs::remove_all(sys);
}

}  // namespace
}  // namespace rapideye::agent
