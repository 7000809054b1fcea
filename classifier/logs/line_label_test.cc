#include "classifier/logs/line_label.h"

#include <gtest/gtest.h>

#include <string>

namespace rapideye::logs {
namespace {

TEST(LineLabelTest, TakesTheLabelsOfLaunchers) {
  struct Example {
    LabelForm form;
    const char* line;
    int rank;
  };
  for (const Example& one :
       {Example{LabelForm::kNumber, "2: text", 2}, Example{LabelForm::kNumber, " 12: text", 12},
        Example{LabelForm::kTag, "[1,3]<stderr>:text", 3},
        Example{LabelForm::kTag, "[1,mpirank:3,algo-2]<stdout>:text", 3},
        Example{LabelForm::kBracket, "[rank2]: text", 2},
        Example{LabelForm::kBracket, "[default7]:text", 7},
        // The rank in the job, not that on the host.
        Example{LabelForm::kBracket, "[default0]:[rank12]:text", 12},
        Example{LabelForm::kBracket, "trainer-x/0 [default1]:[rank9]: text", 9},
        Example{LabelForm::kXlaDist, "2021-06-11 00:34:32 10.164.0.13 [3] text", 3}}) {
    const auto label = TakeLabel(one.line, one.form);
    ASSERT_TRUE(label.has_value()) << one.line;
    EXPECT_EQ(label->rank, one.rank);
    EXPECT_EQ(std::string(one.line).substr(label->text), "text");
  }
  for (const char* line :
       {"2026-02-18T10:48:25.681Z [rank7]: text", "2026-02-18T10:48:25.681Z: [rank7]: text"}) {
    const auto timed = TakeLabel(line, LabelForm::kBracket);
    ASSERT_TRUE(timed.has_value()) << line;
    EXPECT_EQ(timed->rank, 7);
    EXPECT_EQ(timed->unix_ms, 1'771'411'705'681);
    EXPECT_EQ(std::string(line).substr(timed->text), "text");
  }
  const std::string line = "[pod/train-slice-0-2-x2k2q/jax] 2026-11-22T11:26:39Z text";
  const auto pod = TakeLabel(line, LabelForm::kPod);
  ASSERT_TRUE(pod.has_value());
  EXPECT_EQ(pod->pod, "train-slice-0-2-x2k2q/jax");
  EXPECT_EQ(line.substr(pod->text), "2026-11-22T11:26:39Z text");
  // The line may hold an indented stack, or be empty behind its label.
  EXPECT_EQ(TakeLabel("0:     @ 0x7f", LabelForm::kNumber)->text, 3U);
  EXPECT_EQ(TakeLabel("0: ", LabelForm::kNumber)->text, 3U);
}

TEST(LineLabelTest, TakesTheColumnsOfCloudLogging) {
  for (const std::string line :
       {"2026-02-18T10:48:25.681Z\ttrain-0-2-x2k2q\ttext\tmore",
        "train-0-2-x2k2q\t2026-02-18T10:48:25.681Z\ttext\tmore", "train-0-2-x2k2q\ttext\tmore"}) {
    const auto label = TakeLabel(line, LabelForm::kTab);
    ASSERT_TRUE(label.has_value()) << line;
    EXPECT_EQ(label->pod, "train-0-2-x2k2q");
    EXPECT_EQ(label->unix_ms.value_or(1'771'411'705'681), 1'771'411'705'681);
    EXPECT_EQ(line.substr(label->text), "text\tmore");
  }
  EXPECT_FALSE(TakeLabel("2026-02-18T10:48:25.681Z\ttext", LabelForm::kTab).has_value());
  EXPECT_FALSE(TakeLabel("train-0-2-x2k2q text", LabelForm::kTab).has_value());
  EXPECT_EQ(FormOfLabels({"node-0\ta", "node-1\tb", "node-0\tc"}), LabelForm::kTab);
  // A table of numbers.
  EXPECT_EQ(FormOfLabels({"step1\t2", "step2\t3", "step1\t2"}), LabelForm::kNone);
}

TEST(LineLabelTest, TellsLabelsFromWhatLooksLikeThem) {
  EXPECT_FALSE(TakeLabel("11:26:39 text", LabelForm::kNumber).has_value());
  EXPECT_FALSE(TakeLabel("completed step: 5", LabelForm::kNumber).has_value());
  EXPECT_FALSE(TakeLabel("[Gloo] Rank 2", LabelForm::kPod).has_value());
  EXPECT_FALSE(TakeLabel("[1,mpirank:3,algo-2 text", LabelForm::kTag).has_value());
  EXPECT_FALSE(TakeLabel("loss: 1/2 of [rank7]: text", LabelForm::kBracket).has_value());
  EXPECT_FALSE(TakeLabel("see a/b: [rank7]: text", LabelForm::kBracket).has_value());
  EXPECT_EQ(FormOfLabels({"0: a", "1: b", "0: c", "srun: error"}), LabelForm::kNumber);
  EXPECT_EQ(FormOfLabels({"a", "b", "0: c"}), LabelForm::kNone);
  // The numbers of lines, as grep -n has them.
  EXPECT_EQ(FormOfLabels({"1: a", "2: b", "3: c", "4: d", "5: e", "6: f", "7: g", "8: h", "9: i"}),
            LabelForm::kNone);
  EXPECT_EQ(FormOfLabels({}), LabelForm::kNone);
}

TEST(LineLabelTest, TakesTheProcessesOfRay) {
  const std::string line = "(RayTrainWorker pid=954, ip=10.67.132.202) text";
  const auto label = TakeLabel(line, LabelForm::kRay);
  ASSERT_TRUE(label.has_value());
  EXPECT_EQ(label->process, "10.67.132.202/954");
  EXPECT_EQ(line.substr(label->text), "text");
  // On the host of the driver no address is told; engines start processes of their own.
  EXPECT_EQ(TakeLabel("(WorkerDict pid=1008813) text", LabelForm::kRay)->process, "/1008813");
  EXPECT_EQ(TakeLabel("(EngineCore_DP0 pid=742) (RayWorkerWrapper pid=233, ip=10.20.1.125) text",
                      LabelForm::kRay)
                ->process,
            "10.20.1.125/233");
  EXPECT_FALSE(TakeLabel("(raylet) text", LabelForm::kRay).has_value());
  EXPECT_FALSE(TakeLabel("see (Worker pid=1) text", LabelForm::kRay).has_value());
  EXPECT_EQ(FormOfLabels({"(W pid=1) a", "(W pid=2, ip=10.0.0.2) b", "INFO c"}), LabelForm::kRay);
}

TEST(LineLabelTest, TakesHostsThatTakeTurns) {
  EXPECT_EQ(TakeLabel("node3: text", LabelForm::kHost)->host, "node3");
  EXPECT_EQ(TakeLabel("10.0.0.2: text", LabelForm::kHost)->host, "10.0.0.2");
  EXPECT_EQ(TakeLabel("t1v-n-5c-w-0:", LabelForm::kHost)->text, 13U);
  for (const char* line : {"step3: text", "gpu0: text", "epoch_2: text", "loss: 0.5",
                           "a.cc:7: text", "11:26:39 text", "host 3: text", "E0926: text"}) {
    EXPECT_FALSE(TakeLabel(line, LabelForm::kHost).has_value()) << line;
  }
  EXPECT_EQ(FormOfLabels({"gpu003: a", "gpu004: b", "gpu003: c"}), LabelForm::kHost);
  // Headings each come once; one host alone, or hosts of some lines only, label nothing.
  EXPECT_EQ(FormOfLabels({"node1: a", "node2: b", "node3: c"}), LabelForm::kNone);
  EXPECT_EQ(FormOfLabels({"node1: a", "node1: b", "node1: c"}), LabelForm::kNone);
  EXPECT_EQ(FormOfLabels({"node1: a", "node2: b", "node1: c", "text"}), LabelForm::kNone);
}

TEST(LineLabelTest, TakesTheNamesOfCompose) {
  EXPECT_EQ(TakeLabel("worker-2   | text", LabelForm::kBar)->host, "worker-2");
  EXPECT_EQ(TakeLabel("worker-2   | text", LabelForm::kBar)->text, 13U);
  EXPECT_EQ(TakeLabel("worker-12  |", LabelForm::kBar)->text, 12U);
  for (const char* line : {"INFO | text", "step 3 | loss 2", "| a | b |", "worker-2 text | text"}) {
    EXPECT_FALSE(TakeLabel(line, LabelForm::kBar).has_value()) << line;
  }
  EXPECT_EQ(FormOfLabels({"worker-1 | a", "worker-2 | b", "worker-1 | c"}), LabelForm::kBar);
  EXPECT_EQ(FormOfLabels({"worker-1 | a", "worker-2 | b", "worker-3 | c"}), LabelForm::kNone);
}

TEST(LineLabelTest, TakesTheLabelsOfPrograms) {
  const auto rank = [](const std::string& line, LabelForm form = LabelForm::kOwn) {
    const auto label = TakeLabel(line, form);
    EXPECT_TRUE(label.has_value()) << line;
    if (!label.has_value()) return std::optional<int32_t>();
    EXPECT_EQ(line.substr(label->text), "text") << line;
    return label->rank;
  };
  for (const char* line :
       {"[process 2] text", "[Process 2/4]: text", "(rank 2) text", "Rank 2: text",
        "(worker1, rank=2, pid=7, ip=10.164.0.3) text", "rank2[41][MainThread]: text",
        "2026-11-20T10:00:00 - 2 - levanter.trainer - text",
        "2026-11-20 10:00:00,000 [rank 2] text"}) {
    EXPECT_EQ(rank(line), 2) << line;
  }
  for (const char* line : {"[2] text", "[2]<stderr>:text", "[2026-11-20 10:00:00] [2] text"}) {
    EXPECT_EQ(rank(line, LabelForm::kBare), 2) << line;
  }
  EXPECT_EQ(TakeLabel("[train-0-2-x2k2q jax] text", LabelForm::kOwn)->pod, "train-0-2-x2k2q");
  EXPECT_EQ(TakeLabel("host-2> text", LabelForm::kOwn)->pod, "host-2");
  EXPECT_EQ(TakeLabel("train-0-2-x2k2q:jax text", LabelForm::kOwn)->pod, "train-0-2-x2k2q");
  for (const char* line : {"[INFO] text", "[Gloo] Rank 0 is connected", "[gpu:0] text",
                           "step-2 text", "(EngineCore_DP0 pid=742) text", "10:00:01 text",
                           "a1.cc:7: text", "[3/100] text", "layer1.weight 0.3"}) {
    EXPECT_FALSE(TakeLabel(line, LabelForm::kOwn).has_value()) << line;
  }
  // A part of the ranks, by their name; numbers alone only from 0 on.
  EXPECT_EQ(FormOfLabels({"[rank 8] a", "[rank 9] b", "[rank 8] c"}), LabelForm::kOwn);
  EXPECT_EQ(FormOfLabels({"[0] a", "[1] b", "[0] c"}), LabelForm::kBare);
  // Numbers of processes, and of the items of a list.
  EXPECT_EQ(FormOfLabels({"[4711] a", "[4712] b", "[4711] c"}), LabelForm::kNone);
  EXPECT_EQ(FormOfLabels({"(1) a", "(2) b", "(1) c"}), LabelForm::kNone);
  EXPECT_EQ(FormOfLabels({"[0] a", "[1] b", "[2] c"}), LabelForm::kNone);
}

TEST(LineLabelTest, TakesTheFilesOfGrep) {
  EXPECT_EQ(TakeLabel("logs/rank-3.log:text", LabelForm::kGrep)->path, "logs/rank-3.log");
  EXPECT_EQ(TakeLabel("logs/rank-3.log:712:text", LabelForm::kGrep)->text, 20U);
  EXPECT_EQ(TakeLabel("logs/rank-3.log-711-text", LabelForm::kGrep)->text, 20U);  // of grep -C
  for (const char* line : {"train.log:text", "rank-3.cc:7: text", "see rank-3.log:7", "--"}) {
    EXPECT_FALSE(TakeLabel(line, LabelForm::kGrep).has_value()) << line;
  }
  EXPECT_EQ(FormOfLabels({"a1.log:x", "a1.log:y", "a2.log:x"}), LabelForm::kGrep);
  EXPECT_EQ(FormOfLabels({"a1.log:x", "a1.log:y", "text"}), LabelForm::kNone);
  EXPECT_EQ(FormOfLabels({"a1.log:x", "a1.log:y"}), LabelForm::kNone);
}

TEST(LineLabelTest, TakesThePodsOfStern) {
  const auto label = TakeLabel("train-0-2-x2k2q jax step 3", LabelForm::kStern);
  ASSERT_TRUE(label.has_value());
  EXPECT_EQ(label->pod, "train-0-2-x2k2q");
  EXPECT_EQ(label->text, 20U);
  for (const char* line :
       {"step 3 loss 2", "train jax text", "Train-0 jax text", "train-0 jax: text",
        "2026-11-20 10:00:00 text", "all-reduce.2 of the step"}) {
    EXPECT_FALSE(TakeLabel(line, LabelForm::kStern).has_value()) << line;
  }
  EXPECT_EQ(FormOfLabels({"train-0 jax a", "train-1 jax b", "train-0 jax c"}), LabelForm::kStern);
  EXPECT_EQ(FormOfLabels({"train-0 jax a", "train-0 jax b", "train-0 jax c"}), LabelForm::kNone);
}

TEST(LineLabelTest, TakesTheHostsOfAJournal) {
  const auto label = TakeLabel("Nov 20 10:00:02 tpu-3 python3[4113]: step 3", LabelForm::kJournal);
  ASSERT_TRUE(label.has_value());
  EXPECT_EQ(label->host, "tpu-3");
  // The reader of the line also gets its time: other lines of the log may tell the year.
  EXPECT_EQ(label->text, 0U);
  EXPECT_FALSE(label->unix_ms.has_value());
  EXPECT_TRUE(TakeLabel("Nov 20 10:01:02 tpu-3 kernel: text", LabelForm::kJournal));
  EXPECT_TRUE(TakeLabel("2026-11-20T10:00:02+0000 tpu-3 python3[4113]: x", LabelForm::kJournal));
  EXPECT_FALSE(TakeLabel("2026-11-20 10:00:02 INFO train: x", LabelForm::kJournal));
  EXPECT_FALSE(TakeLabel("tpu-3 python3[4113]: x", LabelForm::kJournal));
  EXPECT_EQ(FormOfLabels({"Nov 20 10:00:02 tpu-3 a[1]: x", "Nov 20 10:00:02 tpu-2 a[1]: x",
                          "Nov 20 10:00:03 tpu-3 a[1]: x"}),
            LabelForm::kJournal);
}

TEST(LineLabelTest, TellsLogsFromProseAndData) {
  for (const char* line :
       {"2026-11-22 11:26:39,439 INFO jax: x", "I1122 11:26:39.439000   1 a.cc:1] x",
        "completed step: 5, seconds: 0.2", "WARNING: all log messages before", "[INFO] text",
        "Epoch 3: loss 2.1", "train:  41%|####1     | 412/1004 [05:02<07:14,  1.36it/s]",
        "Thread 0x00007fdefefc5640 (most recent call first):", "Thread 42 (idle): \"MainThread\"",
        "Traceback (most recent call last):", "Megascale hang detected: Timed out waiting for x"}) {
    EXPECT_TRUE(IsLogLine(line)) << line;
  }
  for (const char* line : {"", "# Samples", "Each step of the way is told.", "a,b,c\n",
                           "{\"version\": 1}", "0123456789abcdef"}) {
    EXPECT_FALSE(IsLogLine(line)) << line;
  }
}

}  // namespace
}  // namespace rapideye::logs
