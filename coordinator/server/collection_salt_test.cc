#include "coordinator/server/collection_salt.h"

#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

std::optional<std::string> SaltOf(const CollectionSalt& salt, int64_t collection,
                                  std::optional<std::string> incident) {
  wire::Collect collect;
  collect.collection = collection;
  collect.incident = std::move(incident);
  salt.AddTo(collect);
  return collect.salt;
}

TEST(CollectionSaltTest, IsTheSameInBothLooksOfAnIncidentAndNowhereElse) {
  const CollectionSalt salt;
  const auto first = SaltOf(salt, 1, "20261123T000000Z-00000000");
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first, SaltOf(salt, 2, "20261123T000000Z-00000000"));
  EXPECT_NE(first, SaltOf(salt, 1, "20261123T000000Z-00000001"));
  EXPECT_NE(SaltOf(salt, 3, std::nullopt), SaltOf(salt, 4, std::nullopt));
  EXPECT_NE(first, SaltOf(CollectionSalt(), 1, "20261123T000000Z-00000000"));
}

}  // namespace
}  // namespace rapideye::coordinator
