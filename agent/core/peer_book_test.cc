#include "agent/core/peer_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "agent/core/limits.h"
#include "proto/v1/messages.h"

namespace rapideye::agent {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

constexpr WorkerId kSelf = {0, 0};
const IpAddress kPeer = FromV4({10, 0, 1, 7});
const IpAddress kStorage = FromV4({10, 9, 9, 9});

class PeerBookTest : public testing::Test {
 protected:
  SocketReading Look(const std::vector<IpAddress>& addresses) {
    SocketReading reading;
    for (const IpAddress& address : addresses) reading.strangers.push_back({address, {}});
    book_.Resolve(kSelf, now_, reading);
    return reading;
  }
  // Addresses whose workers are asked for after so much time; empty: none.
  std::vector<IpAddress> Asked(absl::Duration after = absl::ZeroDuration()) {
    now_ += after;
    Effects effects;
    book_.Ask(now_, effects);
    if (effects.empty()) return {};
    return std::get<wire::WhoIs>(std::get<Send>(effects.front()).message).addresses;
  }

  PeerBook book_;
  absl::Duration now_ = absl::Hours(5);
};

TEST_F(PeerBookTest, AsksWhoseAddressesAreAndRemembersWorkers) {
  EXPECT_THAT(Look({kPeer, kStorage}).sockets, IsEmpty());
  EXPECT_THAT(Asked(), ElementsAre(kPeer, kStorage));
  book_.Learn({{{kPeer, {1, 7}}}});
  const SocketReading reading = Look({kPeer, kStorage});
  ASSERT_THAT(reading.sockets, SizeIs(1));
  EXPECT_EQ(reading.sockets[0].peer, (WorkerId{1, 7}));
  EXPECT_THAT(reading.strangers, SizeIs(1));
}

TEST_F(PeerBookTest, AConnectionToItselfIsNone) {
  Look({kPeer});
  Asked();
  book_.Learn({{{kPeer, kSelf}}});
  EXPECT_THAT(Look({kPeer}).sockets, IsEmpty());
}

TEST_F(PeerBookTest, AsksEverMoreRarely) {
  Look({kStorage});
  int questions = 0;
  for (int i = 0; i < 3600; ++i) questions += Asked(absl::Seconds(1)).empty() ? 0 : 1;
  EXPECT_GE(questions, 6);
  EXPECT_LE(questions, 12);
}

TEST_F(PeerBookTest, AsksForABoundedNumberAtATime) {
  std::vector<IpAddress> many;
  for (int i = 0; i < 100; ++i) many.push_back(FromV4({10, 3, 0, static_cast<uint8_t>(i)}));
  Look(many);
  EXPECT_THAT(Asked(), SizeIs(wire::WhoIs::kMaxAddresses));
  EXPECT_THAT(Asked(absl::Seconds(1)), IsEmpty());
  EXPECT_THAT(Asked(kPeerAskSpacing), SizeIs(100 - wire::WhoIs::kMaxAddresses));
}

TEST_F(PeerBookTest, WhatWasNotAskedIsNotBelieved) {
  Look({kPeer});
  book_.Learn({{{kPeer, {1, 7}}}});
  EXPECT_THAT(Look({kPeer}).sockets, IsEmpty());
  Asked();
  book_.Disconnected();
  book_.Learn({{{kPeer, {1, 7}}}});
  EXPECT_THAT(Look({kPeer}).sockets, IsEmpty());
}

TEST_F(PeerBookTest, ACoordinatorThatHasForgottenTakesNothingAway) {
  Look({kPeer});
  Asked();
  book_.Learn({{{kPeer, {1, 7}}}});
  EXPECT_THAT(Asked(2 * kLongestPeerSpacing), ElementsAre(kPeer));
  book_.Learn({});
  EXPECT_THAT(Look({kPeer}).sockets, SizeIs(1));
  // A coordinator that knows better is believed.
  EXPECT_THAT(Asked(2 * kLongestPeerSpacing), ElementsAre(kPeer));
  book_.Learn({{{kPeer, {2, 0}}}});
  EXPECT_EQ(Look({kPeer}).sockets.at(0).peer, (WorkerId{2, 0}));
}

TEST_F(PeerBookTest, IsBounded) {
  std::vector<IpAddress> many;
  for (size_t i = 0; i < 2 * kMaxKnownAddresses; ++i) {
    many.push_back(FromV4({10, 4, static_cast<uint8_t>(i / 256), static_cast<uint8_t>(i % 256)}));
  }
  Look(many);
  EXPECT_THAT(Look(many).strangers, SizeIs(2 * kMaxKnownAddresses));
}

TEST_F(PeerBookTest, AddressesThatAreGoneMakeRoom) {
  std::vector<IpAddress> many;
  for (size_t i = 0; i < kMaxKnownAddresses; ++i) {
    many.push_back(FromV4({10, 4, static_cast<uint8_t>(i / 256), static_cast<uint8_t>(i % 256)}));
  }
  Look(many);
  Look({kPeer});
  EXPECT_THAT(Asked(), Not(Contains(kPeer)));  // all were seen at the same moment
  now_ += absl::Seconds(20);
  Look({kPeer});
  EXPECT_THAT(Asked(), Contains(kPeer));
  book_.Learn({{{kPeer, {1, 7}}}});
  EXPECT_THAT(Look({kPeer}).sockets, SizeIs(1));
}

}  // namespace
}  // namespace rapideye::agent
