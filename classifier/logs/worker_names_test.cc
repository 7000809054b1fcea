#include "classifier/logs/worker_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <re2/re2.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace rapideye::logs {
namespace {

using Pairs = std::vector<std::pair<int, int>>;

Pairs Of(const std::vector<LogName>& names, const char* pattern = nullptr) {
  const RE2 regexp(pattern == nullptr ? "" : pattern);
  Pairs pairs;
  for (const auto& place : WhoseLogs(names, pattern == nullptr ? nullptr : &regexp)) {
    pairs.emplace_back(place ? place->slice : -1, place ? place->task : -1);
  }
  return pairs;
}

Pairs OfPaths(const std::vector<std::string>& paths, const char* pattern = nullptr) {
  std::vector<LogName> names;
  for (const std::string& path : paths) names.emplace_back().path = path;
  return Of(names, pattern);
}

TEST(WorkerNamesTest, ReadsTheNumbersBehindTheWordsOfTheField) {
  EXPECT_EQ(OfPaths({"logs/rank-2.log"}), (Pairs{{0, 2}}));
  EXPECT_EQ(OfPaths({"rank_0.log", "rank_3.log"}), (Pairs{{0, 0}, {0, 3}}));
  EXPECT_EQ(OfPaths({"train-slice-0-2.log"}), (Pairs{{0, 2}}));
  EXPECT_EQ(OfPaths({"train-slice-0-2-x2k2q.log", "train-slice-1-0-ab4cd.log"}),
            (Pairs{{0, 2}, {1, 0}}));
  EXPECT_EQ(OfPaths({"mljob-workers-0-3.txt"}), (Pairs{{0, 3}}));
  EXPECT_EQ(OfPaths({"slice1-worker12.log.gz"}), (Pairs{{1, 12}}));
  EXPECT_EQ(OfPaths({"rank-1.log", "rank-2.log"}), (Pairs{{0, 1}, {0, 2}}));
}

TEST(WorkerNamesTest, TakesTheNumbersThatDiffer) {
  EXPECT_EQ(OfPaths({"slurm-4711_0.out", "slurm-4711_2.out"}), (Pairs{{0, 0}, {0, 2}}));
  EXPECT_EQ(OfPaths({"run7/0/stdout.log", "run7/1/stdout.log"}), (Pairs{{0, 0}, {0, 1}}));
  EXPECT_EQ(OfPaths({"job-worker-0-0.log", "job-worker-0-1.log"}), (Pairs{{0, 0}, {0, 1}}));
  // Machines are counted from 1.
  EXPECT_EQ(OfPaths({"node1.log", "node2.log", "node3.log"}), (Pairs{{0, 0}, {0, 1}, {0, 2}}));
}

TEST(WorkerNamesTest, CountsAddressesInTheirOrder) {
  EXPECT_EQ(OfPaths({"ip-10-0-0-12.log", "ip-10-0-1-2.log", "ip-10-0-0-9.log"}),
            (Pairs{{0, 1}, {0, 2}, {0, 0}}));
  EXPECT_EQ(OfPaths({"10.0.0.12/out.log", "10.0.0.14/out.log"}), (Pairs{{0, 0}, {0, 1}}));
  // Words tell more; the same address in all tells nothing, and no date is one.
  EXPECT_EQ(OfPaths({"10.0.0.12-rank4.log", "10.0.0.14-rank5.log"}), (Pairs{{0, 4}, {0, 5}}));
  EXPECT_EQ(OfPaths({"10.0.0.12_6.log", "10.0.0.12_7.log"}), (Pairs{{0, 6}, {0, 7}}));
  EXPECT_EQ(OfPaths({"2026-11-20_2.log", "2026-11-20_3.log"}), (Pairs{{0, 2}, {0, 3}}));
}

TEST(WorkerNamesTest, OuterFoldersOfTheOnlyLogTellNothing) {
  EXPECT_EQ(OfPaths({"/tmp/tmp_w179/run/train.log"}), (Pairs{{-1, -1}}));
  EXPECT_EQ(OfPaths({"/home/node7/train.log"}), (Pairs{{0, 7}}));
  EXPECT_EQ(OfPaths({"/tmp/tmp_w179/rank-3/train.log"}), (Pairs{{0, 3}}));
  EXPECT_EQ(OfPaths({"train.log"}), (Pairs{{-1, -1}}));
}

TEST(WorkerNamesTest, AMasterStandsBeforeItsWorkers) {
  EXPECT_EQ(OfPaths({"mnist-master-0.log", "mnist-worker-0.log", "mnist-worker-1.log"}),
            (Pairs{{0, 0}, {0, 1}, {0, 2}}));
  EXPECT_EQ(OfPaths({"mnist-worker-0.log", "mnist-worker-1.log"}), (Pairs{{0, 0}, {0, 1}}));
}

TEST(WorkerNamesTest, AFileWithoutANumberBesideThoseOfWorkersIsOfNone) {
  EXPECT_EQ(OfPaths({"events.txt", "train-0-0-ab4cd.log", "train-0-1-x2k2q.log"}),
            (Pairs{{-1, -1}, {0, 0}, {0, 1}}));
  EXPECT_EQ(OfPaths({"rank-0.log", "launcher.log", "rank-1.log"}),
            (Pairs{{0, 0}, {-1, -1}, {0, 1}}));
  // Rank 0 may be among them, or is missing.
  const Pairs nothing = {{-1, -1}, {-1, -1}, {-1, -1}};
  EXPECT_EQ(OfPaths({"head.log", "worker-0.log", "worker-1.log"}), nothing);
  EXPECT_EQ(OfPaths({"out.log", "worker-1.log", "worker-2.log"}), nothing);
}

TEST(WorkerNamesTest, SeveralFilesMayBeOfOneWorker) {
  EXPECT_EQ(OfPaths({"rank-0.out", "rank-0.err", "rank-1.out", "rank-1.err"}),
            (Pairs{{0, 0}, {0, 0}, {0, 1}, {0, 1}}));
}

TEST(WorkerNamesTest, LabelsComeBeforeNames) {
  LogName srun;
  srun.path = "slurm-4711.out";
  srun.label = 3;
  LogName rest;
  rest.path = "slurm-4711.out";
  rest.of_nobody = true;
  LogName pod;
  pod.path = "downloaded-logs.json";
  pod.pod = "train-slice-1-0-x0k2q";
  pod.index = 5;
  EXPECT_EQ(Of({srun, rest, pod}), (Pairs{{0, 3}, {-1, -1}, {1, 5}}));
}

TEST(WorkerNamesTest, ALogMayTellItsRank) {
  LogName a;
  a.path = "tpu-vm-a.log";
  a.said = 1;
  LogName b;
  b.path = "tpu-vm-b.log";
  b.said = 0;
  EXPECT_EQ(Of({a, b}), (Pairs{{0, 1}, {0, 0}}));
  EXPECT_EQ(OfPaths({"tpu-vm-a.log", "tpu-vm-b.log"}), (Pairs{{-1, -1}, {-1, -1}}));
}

TEST(WorkerNamesTest, APatternDecides) {
  EXPECT_EQ(OfPaths({"rank-9/box7.txt"}, "box(\\d+)"), (Pairs{{0, 7}}));
  EXPECT_EQ(OfPaths({"s1-w4.txt"}, "s(?P<slice>\\d+)-w(?P<task>\\d+)"), (Pairs{{1, 4}}));
  EXPECT_EQ(OfPaths({"rank-9.txt"}, "box(\\d+)"), (Pairs{{0, 9}}));
  EXPECT_TRUE(CheckWorkerPattern(RE2("(\\d+)")).ok());
  EXPECT_TRUE(CheckWorkerPattern(RE2("(?P<rank>\\d+)")).ok());
  for (const char* wrong : {"\\d+", "(\\d+)-(\\d+)", "(?P<slice>\\d+)", "(?P<who>\\d+)", "("}) {
    const RE2 pattern(wrong, RE2::Quiet);
    EXPECT_EQ(CheckWorkerPattern(pattern).code(), absl::StatusCode::kInvalidArgument) << wrong;
  }
}

std::vector<LogName> Hosts(const std::vector<std::string>& hosts) {
  std::vector<LogName> names;
  for (const std::string& host : hosts) names.emplace_back().host = host;
  return names;
}

TEST(WorkerNamesTest, CountsHostsThatShareALogInTheirOrder) {
  EXPECT_EQ(Of(Hosts({"gpu010", "gpu009", "gpu017"})), (Pairs{{0, 1}, {0, 0}, {0, 2}}));
  EXPECT_EQ(Of(Hosts({"10.0.0.12", "10.0.0.9"})), (Pairs{{0, 1}, {0, 0}}));
  EXPECT_EQ(Of(Hosts({"node10", "node9"}), "node(\\d+)"), (Pairs{{0, 10}, {0, 9}}));
  // Ranks that all logs tell are surer.
  std::vector<LogName> telling = Hosts({"node1", "node2"});
  telling[0].said = 1;
  telling[1].said = 0;
  EXPECT_EQ(Of(telling), (Pairs{{0, 1}, {0, 0}}));
  // A host of several ranks: then no host is a rank.
  telling[0].of_nobody = true;
  EXPECT_EQ(Of(telling), (Pairs{{-1, -1}, {-1, -1}}));
}

TEST(WorkerNamesTest, ProcessesAreRanksOnlyIfTheySaySo) {
  std::vector<LogName> names = Hosts({"10.0.0.1", "10.0.0.1", "10.0.0.2"});
  for (LogName& name : names) name.process = true;
  names[0].said = 1;
  names[2].said = 0;
  EXPECT_EQ(Of(names), (Pairs{{0, 1}, {-1, -1}, {0, 0}}));
  names[1].said = 1;
  EXPECT_EQ(Of(names), (Pairs{{-1, -1}, {-1, -1}, {-1, -1}}));
}

std::map<WorkerId, std::string> OthersThan(const std::vector<std::string>& paths,
                                           const std::set<std::string>& hosts) {
  std::vector<LogName> names;
  for (const std::string& path : paths) names.emplace_back().path = path;
  return WithoutLog(hosts, names, WhoseLogs(names, nullptr), nullptr);
}

TEST(WorkerNamesTest, CountsMachinesWithoutALogAsTheLogsAre) {
  using Machines = std::map<WorkerId, std::string>;
  const std::vector<std::string> pods = {"train-0-0-x7k2q.log", "train-1-3-b2c4d.log"};
  EXPECT_EQ(OthersThan(pods, {"train-1-2.train", "train-0-1"}),
            (Machines{{{0, 1}, "train-0-1"}, {{1, 2}, "train-1-2"}}));
  EXPECT_EQ(OthersThan(pods, {"train-0-0.train", "train-1-3"}), Machines());
  // Of a log whose name has no number, a machine tells its own.
  EXPECT_EQ(OthersThan({"job.log"}, {"train-5-15"}), (Machines{{{0, 15}, "train-5-15"}}));
  EXPECT_EQ(OthersThan({"rank-0.log", "rank-15.log"}, {"train-5-15", "leader"}), Machines());
  EXPECT_EQ(OthersThan({"rank-0.log", "rank-3.log"}, {"10.0.0.77"}),
            (Machines{{{0, 4}, "10.0.0.77"}}));
}

// The processes of Ray tell no ranks, but on which machine they are.
TEST(WorkerNamesTest, CountsMachinesOfProcessesInTheirOrder) {
  std::vector<LogName> names;
  for (const char* host : {"10.0.0.9", "10.0.0.12", "10.0.0.12"}) {
    LogName& name = names.emplace_back();
    name.path = "job.log";
    name.host = host;
    name.process = name.of_nobody = true;
  }
  EXPECT_EQ(WithoutLog({"10.0.0.12"}, names, WhoseLogs(names, nullptr), nullptr),
            (std::map<WorkerId, std::string>{{{0, 1}, "10.0.0.12"}}));
}

}  // namespace
}  // namespace rapideye::logs
