#include <gtest/gtest.h>

#include "classifier/classify.h"
#include "tests/support/scenario.h"

namespace rapideye::classifier::testing {
namespace {

// Task 3 of slices 0 and 1 waits for the other slice, and the rest waits for these tasks.
Scenario Link() {
  Scenario s({.slices = 3});
  s.PutSlice(1, 0, kStep, kCollective);
  s.PutHost(0, 3, 0, kStep, kTransfer);
  s.PutHost(1, 3, 0, kStep, kTransfer);
  s.ProbeAll();
  return s;
}

TEST(Networking, AnAwaitedPairThatCannotReachEachOther) {
  Scenario s = Link();
  s.FailProbes({0, 3}, {1, 3});
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "NETWORKING_ISSUE/DCN_LINK 0.3 1.3");
  ASSERT_EQ(verdict.links.size(), 1U);
  EXPECT_EQ(verdict.links[0].from, (WorkerId{0, 3}));
  EXPECT_EQ(verdict.links[0].to, (WorkerId{1, 3}));
  EXPECT_FALSE(verdict.removal.eligible);
}

// Hosts of one slice exchange data over its own links.
TEST(Networking, ProbesWithinASliceDoNotExplainAnIdleHost) {
  Scenario s({.slices = 1});
  s.MakeIdle(0, 1);
  s.ProbeAll();
  s.FailProbes({0, 0}, {0, 1});
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 0.1");
}

TEST(Networking, APairThatReachesEachOtherIsNotAccused) { EXPECT_EQ(Diagnose(Link()), "UNKNOWN"); }

TEST(Networking, WithoutHloTheTransferIsKnownByWhoElseStandsThere) {
  Scenario s = Link();
  s.FailProbes({0, 3}, {1, 3});
  s.ForgetHlo();
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_LINK 0.3 1.3");
}

// Slice 0 is cut off from the others, whatever device is between them.
TEST(Networking, HostsThatReachNobodyElseAreOneCut) {
  Scenario s({.slices = 3});
  for (int slice = 0; slice < 3; ++slice) s.PutSlice(slice, 0, kStep, kTransfer);
  s.ProbeAll();
  for (int task = 0; task < 4; ++task) {
    for (const int other : {1, 2}) s.FailProbes({0, task}, {other, task});
  }
  Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "NETWORKING_ISSUE/DCN_PARTITION 0.0 0.1 0.2 0.3");
  EXPECT_EQ(verdict.links.size(), 8U);
  EXPECT_FALSE(verdict.removal.eligible);
  EXPECT_EQ(verdict.partition[0], (std::vector<WorkerId>{{0, 0}, {0, 1}, {0, 2}, {0, 3}}));
  EXPECT_EQ(verdict.partition[1].size(), 8U);
  // A host that is reached is not cut off; still no host is removed, as several fail at once.
  s.At(2, 0).probes.push_back({.peer = {0, 1}, .ok = true});
  verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "NETWORKING_ISSUE/DCN_HOST 0.0 0.1 0.2 0.3");
  EXPECT_FALSE(verdict.removal.eligible);
}

// Each host of either slice shows one broken connection, to its peer in the other.
TEST(Networking, TwoSlicesThatDoNotReachEachOtherAreOneCut) {
  Scenario s;
  for (int slice = 0; slice < 2; ++slice) s.PutSlice(slice, 0, kStep, kTransfer);
  s.ProbeAll();
  for (int task = 0; task < 4; ++task) s.FailProbes({0, task}, {1, task});
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "NETWORKING_ISSUE/DCN_PARTITION 0.0 0.1 0.2 0.3");
  EXPECT_EQ(verdict.partition[1], (std::vector<WorkerId>{{1, 0}, {1, 1}, {1, 2}, {1, 3}}));
  EXPECT_EQ(verdict.links.size(), 4U);
  EXPECT_FALSE(verdict.removal.eligible);
}

// A probe that is lost beside a broken connection does not make it the host's.
TEST(Networking, OneLostProbeToAnotherPeerIsNoSecondBrokenConnection) {
  Scenario s = Link();
  s.FailProbes({0, 3}, {1, 3}, "eth1");
  Probe& to_another = s.At(2, 3).probes.front();
  ASSERT_EQ(to_another.peer, (WorkerId{0, 3}));
  to_another.ok = false;
  to_another.nic = "eth2";
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_LINK 0.3 1.3");
  to_another.nic = "eth1";  // the same NIC fails towards both
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_HOST 0.3");
}

// The others have passed a launch in which these wait for data that do not arrive.
TEST(Networking, ABrokenPairHoldsItsEndsInTheProgramThatTheOthersHaveLeft) {
  Scenario s;
  s.ForgetHlo();
  for (int slice : {0, 1}) {
    for (int task = 1; task < 4; ++task) s.RunOther(slice, task, "jit_save", "cc03");
  }
  s.ProbeAll();
  EXPECT_EQ(Diagnose(s).find("NETWORKING"), std::string::npos) << Diagnose(s);
  s.FailProbes({0, 0}, {1, 0});
  EXPECT_EQ(Diagnose(s).find("DIFFERENT_MODULE"), std::string::npos) << Diagnose(s);
}

// A core that stands apart, where nothing is known of its place, may wait for the other end.
TEST(Networking, ALoneCoreAtOneEndOfABrokenPairWaitsForTheOther) {
  Scenario s({.slices = 2});
  s.PutSlice(1, 0, kStep, kCollective);
  s.Put(s.Tensor(0, 3, 1), 0, kStep, kSomewhere);
  s.ForgetHlo();
  s.ProbeAll();
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.3.1");
  s.FailProbes({0, 3}, {1, 3}, "eth1");
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_LINK 0.3 1.3");
}

TEST(Networking, OneBrokenPairIsNoCut) {
  Scenario s = Link();
  s.FailProbes({0, 3}, {1, 3});
  EXPECT_TRUE(Classify(s.capture).partition[0].empty());
}

TEST(Networking, WhatDropsProbesAloneIsNoFault) {
  Scenario s = Link();
  s.FailProbes({0, 3}, {1, 3});
  const auto socket = [](WorkerId peer, int64_t unacked) {
    return Socket{peer, "eth1", SocketState::kEstablished, unacked, kStillMs, 0};
  };
  s.At(0, 3).sockets = {socket({1, 3}, 0)};
  const auto by_probes = [&s] {
    const Verdict verdict = Classify(s.capture);
    return verdict.links.at(0).why.find("probes fail both ways") != std::string::npos;
  };
  EXPECT_TRUE(by_probes());  // the other end may hold bytes
  s.At(1, 3).sockets = {socket({0, 3}, 0)};
  EXPECT_FALSE(by_probes());  // only the place of both is left
  s.At(1, 3).sockets.push_back(socket({0, 3}, 70'000));
  EXPECT_TRUE(by_probes());
}

Socket Holding(WorkerId peer, const std::string& nic = "eth1") {
  return {peer, nic, SocketState::kEstablished, 70'000, kStillMs, 12};
}

// A host that is cut off, by its own probes and those of its peers. It holds bytes, unless
// something may drop nothing but probes.
Scenario CutOff(bool held = true) {
  Scenario s({.slices = 4});
  for (int slice = 0; slice < 4; ++slice) s.PutSlice(slice, 0, kStep, kTransfer);
  s.ProbeAll();
  for (const int slice : {1, 2, 3}) s.FailProbes({0, 1}, {slice, 1});
  for (const int task : {0, 2}) s.FailProbes({0, 1}, {0, task});
  if (held) s.At(0, 1).sockets = {Holding({1, 1})};
  return s;
}

TEST(Networking, AHostWhoseProbesAloneFailIsNotRemoved) {
  Scenario s = CutOff(false);
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_HOST 0.1");
  EXPECT_FALSE(Classify(s.capture).removal.eligible);
  // Bytes that do not reach it show more than a firewall, and so does a NIC without carrier.
  s.At(2, 1).sockets = {Holding({0, 1})};
  EXPECT_TRUE(Classify(s.capture).removal.eligible);
  s.At(2, 1).sockets.clear();
  for (Nic& nic : s.At(0, 1).nics) nic.up = false;
  EXPECT_TRUE(Classify(s.capture).removal.eligible);
}

TEST(Networking, AHostThatIsReachedIsNotRemoved) {
  Scenario s = CutOff();
  Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "NETWORKING_ISSUE/DCN_HOST 0.1");
  EXPECT_TRUE(verdict.removal.eligible);
  s.At(0, 3).probes.push_back({.peer = {0, 1}, .ok = true});
  verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "NETWORKING_ISSUE/DCN_HOST 0.1");
  EXPECT_FALSE(verdict.removal.eligible);
}

// A switch that fails takes the carrier from the NICs of all its hosts.
TEST(Networking, OfTwoHostsWithoutCarrierNoneIsRemoved) {
  for (const bool both : {false, true}) {
    Scenario s = CutOff();
    for (const int slice : {0, 1, 3}) s.FailProbes({2, 2}, {slice, 2});
    for (const int task : {1, 3}) s.FailProbes({2, 2}, {2, task});
    for (Nic& nic : s.At(0, 1).nics) nic.up = false;
    if (both) {
      for (Nic& nic : s.At(2, 2).nics) nic.up = false;
    }
    const Verdict verdict = Classify(s.capture);
    EXPECT_EQ(verdict.cause, Cause::kNetworkingIssue);
    EXPECT_EQ(verdict.removal.eligible, !both) << both;
  }
}

// A missing host is seen by the others only: it may be behind the same switch.
TEST(Networking, AHostBesideAMissingOneThatIsCutOffIsNotRemoved) {
  Scenario s = CutOff();
  for (const int slice : {1, 2, 3}) s.FailProbes({0, 2}, {slice, 2});
  s.Remove(0, 2);
  EXPECT_FALSE(Classify(s.capture).removal.eligible);
}

TEST(Networking, AHostBesideAMissingOneThatNobodyProbedIsNotRemoved) {
  for (const bool probed : {false, true}) {
    Scenario s = CutOff();
    s.Remove(0, 2);
    for (Snapshot& snapshot : s.capture.snapshots) {
      if (probed) break;
      std::erase_if(snapshot.probes, [](const Probe& one) { return one.peer == WorkerId{0, 2}; });
    }
    EXPECT_EQ(Classify(s.capture).removal.eligible, probed) << probed;
  }
}

// Nothing was sent over the connections of the second host: its probes may be dropped by a
// firewall, or its network is cut like that of the first.
TEST(Networking, AHostBesideOneThatNoProbeReachesIsNotRemoved) {
  const auto clean = [](WorkerId peer) {
    return Socket{peer, "eth1", SocketState::kEstablished, 0, kStillMs, 0};
  };
  for (const bool reached : {false, true}) {
    Scenario s = CutOff();
    const std::vector<WorkerId> peers = {{0, 2}, {1, 2}, {3, 2}, {2, 1}, {2, 3}};
    for (const WorkerId peer : peers) {
      s.At(2, 2).sockets.push_back(clean(peer));
      s.At(peer.slice, peer.task).sockets.push_back(clean({2, 2}));
      if (!reached || peer.slice != 3) s.FailProbes({2, 2}, peer);
    }
    const Verdict verdict = Classify(s.capture);
    EXPECT_EQ(Summary(verdict), "NETWORKING_ISSUE/DCN_HOST 0.1") << reached;
    EXPECT_EQ(verdict.removal.eligible, reached) << reached;
  }
}

// Probes of a host fail at all its peers, also at those to which it has no connections.
TEST(Networking, AFirewallIsSeenByThePeersWithConnections) {
  Scenario s({.slices = 3});
  for (int slice = 0; slice < 3; ++slice) s.PutSlice(slice, 0, kStep, kTransfer);
  s.PutSlice(1, 0, kStep, kCollective);
  s.MakeIdle(1, 2);
  s.ProbeAll();
  for (const WorkerId peer : {WorkerId{1, 3}, WorkerId{2, 3}, WorkerId{0, 2}}) {
    s.FailProbes({0, 3}, peer);
  }
  const Verdict by_probes = Classify(s.capture);
  EXPECT_EQ(Summary(by_probes), "NETWORKING_ISSUE/DCN_HOST 0.3");
  const auto socket = [](WorkerId peer, int64_t unacked) {
    return Socket{peer, "eth1", SocketState::kEstablished, unacked, kStillMs, 0};
  };
  s.At(0, 3).sockets = {socket({1, 3}, 0)};
  s.At(1, 3).sockets = {socket({0, 3}, 0)};
  EXPECT_EQ(Diagnose(s), "DATA_INPUT_STALL/PROGRAM_NOT_QUEUED 1.2");
  // One of its connections does not deliver: that is no firewall.
  s.At(2, 3).sockets = {socket({0, 3}, 70'000)};
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_HOST 0.3");
}

TEST(Networking, AProbeThatSucceedsFromTheOtherEndWentThereAndBack) {
  Scenario s = Link();
  s.FailProbes({0, 3}, {1, 3});
  for (Probe& probe : s.At(1, 3).probes) probe.ok = true;
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Networking, UnacknowledgedBytesAlone) {
  Scenario s = Link();
  for (Snapshot& snapshot : s.capture.snapshots) snapshot.probes.clear();
  s.At(0, 3).sockets = {{{1, 3}, "eth1", SocketState::kEstablished, 70'000, kStillMs, 12}};
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_LINK 0.3 1.3");
}

// A core at a nameless place may stand at the transfer that does not arrive: while a chip stands,
// the bytes that its kernel sends are acknowledged.
TEST(Networking, UnacknowledgedBytesOfAHostWhoseCoreStandsApart) {
  Scenario s;
  s.ForgetHlo();
  s.Put(s.Tensor(0, 3, 2), 0, kStep, kSomewhere);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.3.2");
  s.At(0, 3).sockets = {{{1, 3}, "eth1", SocketState::kEstablished, 70'000, kStillMs, 12}};
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_LINK 0.3 1.3");
  // The core computes: it stands whatever connection is broken beside it.
  s.Put(s.Tensor(0, 3, 2), 0, kStep, kCompute);
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.3.2");
}

TEST(Networking, TwoThatAloneWaitForAnotherSliceWaitForEachOther) {
  Scenario s = Link();
  for (Snapshot& snapshot : s.capture.snapshots) snapshot.probes.clear();
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_LINK 0.3 1.3");
  // Both may wait for a third host, which reports nothing.
  s.Remove(2, 3);
  EXPECT_NE(Classify(s.capture).cause, Cause::kNetworkingIssue);
}

TEST(Networking, RetransmitsOnALinkThatDeliversAreNoise) {
  Scenario s;
  s.At(0, 3).sockets = {{{1, 3}, "eth1", SocketState::kEstablished, 0, kStillMs, 40}};
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// All wait for other slices. Probes between host 0.3 and two peers fail, as behind a firewall; its
// connections to these peers hold no bytes, and have sent segments again.
Scenario Retransmitting(int64_t retransmits, int64_t since_ack_ms) {
  Scenario s({.slices = 3});
  for (int slice = 0; slice < 3; ++slice) s.PutSlice(slice, 0, kStep, kTransfer);
  s.ProbeAll();
  const auto connect = [&s](WorkerId from, WorkerId to, int64_t sent_again, int64_t ago) {
    s.At(from.slice, from.task)
        .sockets.push_back({to, "eth1", SocketState::kEstablished, 0, ago, sent_again});
  };
  for (const WorkerId peer : {WorkerId{1, 3}, WorkerId{2, 3}}) {
    s.FailProbes({0, 3}, peer);
    connect({0, 3}, peer, retransmits, since_ack_ms);
    connect(peer, {0, 3}, 0, kStillMs);
    connect(peer, {0, 2}, 0, kStillMs);
  }
  return s;
}

TEST(Networking, ANetworkThatLosesPacketsLosesProbes) {
  const Verdict verdict = Classify(Retransmitting(9, 300).capture);
  EXPECT_EQ(Summary(verdict), "NETWORKING_ISSUE/DCN_HOST 0.3");
  EXPECT_FALSE(verdict.removal.eligible);
  // A firewall drops probes beside connections that lose few packets, or lost them in the past.
  EXPECT_EQ(Diagnose(Retransmitting(2, 300)), "UNKNOWN");
  EXPECT_EQ(Diagnose(Retransmitting(9, kStillMs)), "UNKNOWN");
}

TEST(Networking, WhereAllConnectionsSendAgainNoneLosesMoreThanOthers) {
  Scenario s = Retransmitting(40, 300);
  for (Snapshot& snapshot : s.capture.snapshots) {
    for (Socket& socket : snapshot.sockets) socket.retransmits += 30;
  }
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

// No host probes; two peers of host 0.3 wait for bytes that it does not get out on eth1.
Scenario SilentNic(bool eth1_up) {
  Scenario s = Link();
  for (Snapshot& snapshot : s.capture.snapshots) snapshot.probes.clear();
  s.At(0, 3).sockets = {{{1, 3}, "eth1", SocketState::kEstablished, 70'000, kStillMs, 12},
                        {{2, 3}, "eth1", SocketState::kEstablished, 50'000, kStillMs, 12}};
  s.At(0, 3).nics[1].up = eth1_up;
  return s;
}

TEST(Networking, ANicWithoutCarrierIsNamedThoughNobodyProbes) {
  const Scenario s = SilentNic(false);
  ASSERT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_HOST 0.3");
  EXPECT_EQ(Classify(s.capture).culprits[0].nic, "eth1");
}

TEST(Networking, ANicWithCarrierIsNotNamedWhereNothingShowsThatOthersWork) {
  const Scenario s = SilentNic(true);
  ASSERT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_HOST 0.3");
  EXPECT_FALSE(Classify(s.capture).culprits[0].nic.has_value());
}

TEST(Networking, WhereNoNicHasCarrierItIsTheHost) {
  Scenario s = SilentNic(false);
  for (Nic& nic : s.At(0, 3).nics) nic.up = false;
  ASSERT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_HOST 0.3");
  EXPECT_FALSE(Classify(s.capture).culprits[0].nic.has_value());
}

TEST(Networking, OfTwoThatWaitAndSentNothingTheOneWithoutCarrier) {
  Scenario s = SilentNic(false);
  s.At(0, 3).sockets.clear();
  ASSERT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_HOST 0.3");
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(verdict.culprits[0].nic, "eth1");
  EXPECT_FALSE(verdict.removal.eligible);
}

TEST(Networking, OfTwoThatWaitAndSentNothingBothIfTheirCarriersAreUp) {
  Scenario s = SilentNic(true);
  s.At(0, 3).sockets.clear();
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_LINK 0.3 1.3");
}

TEST(Networking, OneHostInSeveralBrokenLinksIsTheCulprit) {
  Scenario s = Link();
  s.FailProbes({0, 3}, {1, 3});
  s.FailProbes({0, 3}, {2, 3});
  s.FailProbes({0, 3}, {0, 0});
  s.FailProbes({0, 3}, {0, 2});
  s.At(0, 3).sockets = {Holding({1, 3})};
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "NETWORKING_ISSUE/DCN_HOST 0.3");
  EXPECT_FALSE(verdict.culprits[0].nic.has_value());
  EXPECT_TRUE(verdict.removal.eligible);
}

TEST(Networking, IfOneOfItsNicsFailsThatNic) {
  Scenario s = Link();
  for (const WorkerId peer : {WorkerId{1, 3}, WorkerId{2, 3}, WorkerId{0, 0}, WorkerId{0, 2}}) {
    s.FailProbes({0, 3}, peer, "eth2");
  }
  s.At(0, 3).sockets = {Holding({1, 3}, "eth2")};
  const Verdict verdict = Classify(s.capture);
  EXPECT_EQ(Summary(verdict), "NETWORKING_ISSUE/DCN_HOST 0.3");
  EXPECT_EQ(verdict.culprits[0].nic, "eth2");
  ASSERT_TRUE(verdict.removal.eligible);
  EXPECT_EQ(verdict.removal.targets[0].nic, "eth2");
}

TEST(Networking, PeersThatReachNobodyElseAreNoWitnesses) {
  Scenario s = Link();
  s.FailProbes({0, 3}, {1, 3});
  s.FailProbes({0, 3}, {2, 3});
  for (const WorkerId peer : {WorkerId{1, 3}, WorkerId{2, 3}, WorkerId{0, 2}}) {
    for (const Snapshot& other : s.capture.snapshots) s.FailProbes(peer, other.worker);
  }
  s.At(0, 3).sockets = {Holding({1, 3})};
  for (const RemovalTarget& target : Classify(s.capture).removal.targets) {
    EXPECT_NE(target.host, "host-0-3");
  }
}

TEST(Networking, ABrokenPairElsewhereDoesNotOutweighABadChip) {
  Scenario s;
  s.ProbeAll();
  s.Put(s.Tensor(0, 1, 2), 0, kStep, kCompute);
  s.FailProbes({0, 3}, {0, 0});
  EXPECT_EQ(Diagnose(s), "BAD_TPU_CHIP/TENSOR_CORE 0.1.2");
}

TEST(Networking, VanishedConnectionsToADeadProcessAreFollowOn) {
  Scenario s;
  s.Exit(0, 3, kStillMs, 1);
  s.At(1, 3).sockets = {{{0, 3}, "eth1", SocketState::kGone, 0, 0, 0}};
  EXPECT_EQ(Diagnose(s), "UNRECOVERABLE_ERROR/PROCESS_EXIT 0.3");
}

TEST(Ici, AHaltThatSaysNetwork) {
  Scenario s;
  s.Log(0, 2, LogKind::kHaltNetwork, "observed errors are: [Network]", kStillMs);
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/ICI_LINK 0.2");
}

TEST(Ici, AnUnhealthyLinkWhereTheyWait) {
  Scenario s;
  s.At(0, 2).ici_links = {{1, "y+", 9}};
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/ICI_LINK 0.2.1");
}

TEST(Ici, AHealthyLinkIsNoEvidence) {
  Scenario s;
  s.At(0, 2).ici_links = {{1, "y+", 1}};
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Networking, OneLostProbeBetweenHostsThatExchangeNothingProvesNothing) {
  Scenario s = Link();
  s.At(0, 3).probes.push_back({.peer = {1, 2}, .ok = false});
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
}

TEST(Networking, ALostProbeCountsWhereOneOfTheTwoWaitsForAnotherSlice) {
  Scenario s = Link();
  s.At(0, 2).probes.push_back({.peer = {1, 2}, .ok = false});
  std::erase_if(s.At(1, 2).probes, [](const Probe& probe) { return probe.peer.slice == 0; });
  EXPECT_EQ(Diagnose(s), "UNKNOWN");
  s = Link();
  for (const WorkerId at : {WorkerId{0, 3}, WorkerId{1, 3}}) s.At(at.slice, at.task).probes.clear();
  s.At(0, 3).probes.push_back({.peer = {1, 3}, .ok = false});
  EXPECT_EQ(Diagnose(s), "NETWORKING_ISSUE/DCN_LINK 0.3 1.3");
}

// Two probes, lost by chance, have an end in common.
TEST(Networking, LostProbesOfAHostThatIsReachedMakeItNoCulprit) {
  for (const bool reached : {false, true}) {
    Scenario s({.slices = 4});
    for (int slice = 0; slice < 4; ++slice) s.PutSlice(slice, 0, kStep, kTransfer);
    for (const int slice : {1, 2, 3}) {
      s.At(slice, 1).probes.push_back({.peer = {0, 1}, .ok = false});
    }
    if (reached) s.At(0, 1).probes.push_back({.peer = {0, 2}, .ok = true});
    EXPECT_EQ(Diagnose(s), reached ? "UNKNOWN" : "NETWORKING_ISSUE/DCN_HOST 0.1");
  }
}

// The NIC that lost its carrier is not that of its connections.
TEST(Networking, AHostWhoseBytesWereAcknowledgedIsNotRemoved) {
  for (const int64_t held : {0, 70'000}) {
    Scenario s = CutOff(false);
    for (Nic& nic : s.At(0, 1).nics) nic.up = false;
    s.At(0, 1).sockets.push_back(
        {WorkerId{1, 0}, "eth1", SocketState::kEstablished, held, kStillMs, 0});
    EXPECT_EQ(Classify(s.capture).removal.eligible, held > 0);
  }
}

}  // namespace
}  // namespace rapideye::classifier::testing
