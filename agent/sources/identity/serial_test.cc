#include "agent/sources/identity/serial.h"

#include <gtest/gtest.h>

namespace rapideye::agent {
namespace {

TEST(ParseSerialTest, TellsNumbersFromPlaceholders) {
  for (const char* text : {"GoogleCloud-4F7A21C9D0E3B8A655D1", "CZ3429KXYZ\n", "VMware-42 1f 0a"}) {
    EXPECT_TRUE(ParseSerial(text).has_value()) << text;
  }
  EXPECT_EQ(ParseSerial(" CZ3429KXYZ\n"), "CZ3429KXYZ");
  for (const char* text :
       {"", "\n", "0", "None", "To be filled by O.E.M.", "Default string", "System Serial Number",
        "0123456789", "Not Specified", "00000000", "..........", "abcd\x01xyz"}) {
    EXPECT_EQ(ParseSerial(text), std::nullopt) << text;
  }
  EXPECT_EQ(ParseSerial(std::string(1000, 'x') + "y"), std::nullopt);
}

}  // namespace
}  // namespace rapideye::agent
