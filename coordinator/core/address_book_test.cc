#include "coordinator/core/address_book.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rapideye::coordinator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

wire::Hello HelloOf(WorkerId worker, const std::string& host,
                    std::vector<wire::HostAddress> addresses) {
  wire::Hello hello;
  hello.worker = worker;
  hello.host = host;
  hello.addresses = std::move(addresses);
  return hello;
}

const IpAddress kFirst = FromV4({10, 0, 1, 1});
const IpAddress kSecond = FromV4({10, 0, 2, 1});
const IpAddress kBridge = FromV4({172, 17, 0, 1});

TEST(AddressBookTest, KnowsEachNicOfAWorker) {
  AddressBook book;
  book.Claim(HelloOf({0, 0}, "host-0", {{"eth1", kFirst}, {"eth2", kSecond}}));
  EXPECT_EQ(book.WorkerOf(kFirst), (WorkerId{0, 0}));
  EXPECT_EQ(book.WorkerOf(kSecond), (WorkerId{0, 0}));
  EXPECT_EQ(book.WorkerOf(kBridge), std::nullopt);
  EXPECT_THAT(book.AddressesOf({0, 0}),
              ElementsAre(wire::HostAddress{"eth1", kFirst}, wire::HostAddress{"eth2", kSecond}));
  EXPECT_THAT(book.AddressesOf({0, 1}), IsEmpty());
}

TEST(AddressBookTest, WhatSeveralHostsClaimIsNobodys) {
  AddressBook book;
  book.Claim(HelloOf({0, 0}, "host-0", {{"eth1", kFirst}, {"docker0", kBridge}}));
  book.Claim(HelloOf({0, 1}, "host-1", {{"eth1", kSecond}, {"docker0", kBridge}}));
  EXPECT_EQ(book.WorkerOf(kBridge), std::nullopt);
  EXPECT_THAT(book.AddressesOf({0, 0}), ElementsAre(wire::HostAddress{"eth1", kFirst}));
  // An address that two hosts claim belongs to neither.
  book.Claim(HelloOf({0, 1}, "host-1", {{"eth1", kFirst}}));
  EXPECT_EQ(book.WorkerOf(kFirst), std::nullopt);
  EXPECT_THAT(book.AddressesOf({0, 1}), IsEmpty());
  // The address falls back to the first host once the second no longer claims it.
  book.Claim(HelloOf({0, 1}, "host-1", {{"eth1", kSecond}}));
  EXPECT_EQ(book.WorkerOf(kFirst), (WorkerId{0, 0}));
  EXPECT_EQ(book.WorkerOf(kBridge), (WorkerId{0, 0}));
}

TEST(AddressBookTest, WorkersOfOneHostShareItsAddresses) {
  AddressBook book;
  book.Claim(HelloOf({0, 1}, "host-0", {{"eth1", kFirst}}));
  book.Claim(HelloOf({0, 0}, "host-0", {{"eth1", kFirst}}));
  EXPECT_EQ(book.WorkerOf(kFirst), (WorkerId{0, 0}));
  EXPECT_THAT(book.AddressesOf({0, 1}), ElementsAre(wire::HostAddress{"eth1", kFirst}));
}

TEST(AddressBookTest, AWorkerThatMovesTakesItsNewAddresses) {
  AddressBook book;
  book.Claim(HelloOf({0, 0}, "host-0", {{"eth1", kFirst}, {"eth1", kFirst}}));
  book.Claim(HelloOf({0, 0}, "host-7", {{"eth1", kSecond}}));
  EXPECT_EQ(book.WorkerOf(kFirst), std::nullopt);
  EXPECT_EQ(book.WorkerOf(kSecond), (WorkerId{0, 0}));
  // Another worker of the host has taken the place of the first.
  book.Claim(HelloOf({0, 1}, "host-0", {{"eth1", kFirst}}));
  EXPECT_EQ(book.WorkerOf(kFirst), (WorkerId{0, 1}));
}

}  // namespace
}  // namespace rapideye::coordinator
