#include "proto/capture/pseudonyms.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "proto/capture/capture_writer.h"

namespace rapideye::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

Capture OfHosts(const std::vector<std::string>& hosts) {
  Capture capture;
  capture.header.job = "llama";
  for (size_t i = 0; i < hosts.size(); ++i) {
    const WorkerId id{0, static_cast<int32_t>(i)};
    capture.header.expected_workers.push_back({id, hosts[i], {}});
    Snapshot& snapshot = capture.snapshots.emplace_back();
    snapshot.worker = id;
    snapshot.host = hosts[i];
  }
  return capture;
}

Capture Done(const Capture& capture, PseudonymOptions options = {}) {
  absl::StatusOr<Capture> done = Pseudonymise(capture, {}, options);
  EXPECT_TRUE(done.ok()) << done.status();
  return done.ok() ? *done : Capture();
}

std::string Detail(const std::string& text, std::vector<std::string> hosts = {"pool-w1"}) {
  Capture capture = OfHosts(hosts);
  capture.snapshots[0].runtime.detail = text;
  return Done(capture).snapshots[0].runtime.detail.value_or("");
}

TEST(PseudonymsTest, SortAsTheNamesDid) {
  const Capture done = Done(OfHosts({"b", "a", "c", "aa"}));
  std::vector<std::string> hosts;
  for (const Snapshot& snapshot : done.snapshots) hosts.push_back(snapshot.host);
  EXPECT_THAT(hosts,
              ElementsAre("anon-host-0003", "anon-host-0001", "anon-host-0004", "anon-host-0002"));
  EXPECT_EQ(done.header.expected_workers[0].host, "anon-host-0003");
  EXPECT_EQ(done.header.job, "anon-job-0001");
}

TEST(PseudonymsTest, AHostByAPartOfItsNameIsTheSame) {
  Capture capture = OfHosts({"w1.zone-a.internal", "w2"});
  capture.snapshots[1].log_events.emplace_back().peer_host = "w1";
  capture.snapshots[1].log_events[0].text = "lost w1.zone-a.internal, that is w1 (not w10)";
  const Capture done = Done(capture);
  EXPECT_EQ(done.snapshots[0].host, "anon-host-0001.anon-domain-0001");
  EXPECT_EQ(done.snapshots[1].log_events[0].peer_host, "anon-host-0001");
  EXPECT_EQ(done.snapshots[1].log_events[0].text,
            "lost anon-host-0001.anon-domain-0001, that is anon-host-0001 (not w10)");
}

TEST(PseudonymsTest, AddressesPeopleAndDirectories) {
  EXPECT_EQ(Detail("from 10.1.2.3:80 to 10.1.2.4, 10.1.2.3 again, 127.0.0.1"),
            "from 198.18.0.1:80 to 198.18.0.2, 198.18.0.1 again, 127.0.0.1");
  EXPECT_EQ(Detail("to [fd00:1::2]:8471 and fd00:1::2"), "to [2001:db8::1]:8471 and 2001:db8::1");
  EXPECT_EQ(Detail("mail bob@acme.com"), "mail anon-person-1");
  EXPECT_EQ(Detail("read /home/alice/exp/a.py as alice"),
            "read /home/anon-user-0001/anon-dir-1/a.py as anon-user-0001");
  EXPECT_EQ(Detail("gs://acme-prod/llm/ckpt-7/x.npz?sig=abcdefghijk"),
            "gs://anon-domain-1/anon-dir-1/anon-dir-2-ckpt/x.npz[redacted]");
  EXPECT_EQ(Detail("wait (/usr/lib/python3.11/threading.py:327)"),
            "wait (/usr/lib/python3.11/threading.py:327)");
  EXPECT_EQ(Detail("f (/opt/acme/venv/lib/python3.11/site-packages/jax/a.py:1)"),
            "f (/opt/anon-dir-1/venv/lib/python3.11/site-packages/jax/a.py:1)");
}

TEST(PseudonymsTest, WhatNamesNobodyStays) {
  for (const std::string text :
       {"all-reduce.3 of fusion.212 in jit_train_step, 0000:05:00.0, 10:00:01.123, 1.2.3",
        "%all-reduce = f32[8]{0} all-reduce(%p), replica_groups={{0,1}}", "/dev/accel0 /proc/self",
        "std::abi::f(int)", "UNAVAILABLE: 3 of 4 tasks"}) {
    EXPECT_EQ(Detail(text), text);
  }
}

TEST(PseudonymsTest, ModulesIfAskedFor) {
  Capture capture = OfHosts({"w0", "w1"});
  for (Snapshot& snapshot : capture.snapshots) snapshot.programs = {{"jit_llama_step", "ab12"}};
  capture.snapshots[1].programs[0].module = "jit_eval";
  capture.snapshots[0].runtime.detail = "running jit_eval";
  EXPECT_EQ(*Done(capture).snapshots[0].programs[0].module, "jit_anon-job-0001_step");
  EXPECT_EQ(*Done(capture).snapshots[1].programs[0].module, "jit_eval");
  const Capture done = Done(capture, {.modules = true});
  EXPECT_EQ(*done.snapshots[0].programs[0].module, "anon-module-0002");
  EXPECT_EQ(*done.snapshots[1].programs[0].module, "anon-module-0001");
  EXPECT_EQ(*done.snapshots[0].runtime.detail, "running anon-module-0001");
  EXPECT_EQ(done.snapshots[0].programs[0].fingerprint, "ab12");
}

TEST(PseudonymsTest, ListsOfHostsInSettings) {
  Capture capture = OfHosts({"w0"});
  Setting& setting = capture.snapshots[0].settings.emplace_back();
  setting.kind = SettingKind::kEnvironment;
  setting.name = "TPU_WORKER_HOSTNAMES";
  setting.value = "w0,elsewhere-7";
  const std::string bytes = WriteCapture(Done(capture), {}).value();
  EXPECT_THAT(bytes, Not(HasSubstr("elsewhere")));
  EXPECT_THAT(bytes, HasSubstr("anon-host-0002,anon-host-0001"));
}

}  // namespace
}  // namespace rapideye::wire
