#include "classifier/logs/step_lines.h"

#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"

namespace rapideye::logs {
namespace {

// Lines of one shape: "$" is the number of each line.
StepReading After(const std::string& shape, int from, int to, int by = 1) {
  StepLines steps;
  for (int n = from; n <= to; n += by) {
    steps.Take(absl::StrReplaceAll(shape, {{"$", absl::StrCat(n)}}), 0);
  }
  return steps.Read();
}

// Lines as the frameworks print them.
TEST(StepLinesTest, KnowsTheFormatsOfFrameworks) {
  for (const char* shape : {
           // MaxText
           "completed step: $, seconds: 1.5$, TFLOP/s/device: 101.7, Tokens/s/device: 2104.1, "
           "total_weights: 65536, loss: 10.8$",
           // nanoGPT, EasyLM's and plain loops
           "iter $: loss 2.1$, time 12.$ms, mfu 30.1%",
           "step $",
           "Step: $ loss 2.1",
           "I1122 20:44:$.275768    4353 train_loop.py:120] step $ loss 2.$",
           "step=$",
           "{'loss': 2.1, 'learning_rate': 5e-05, 'global_step': $}",
           "global_step: $",
           "train/step $",
           "[2026-11-22 20:44:22] step $ (of 1000): loss=2.$",
           // CLU's writer of metrics, which Flax's examples and T5X use
           "I0325 14:01:32.335719 130245504009792 logging_writer.py:48] [$] loss=10.$, uptime=12.1",
           "I0325 14:01:32.334728 130295542103168 local.py:41] Setting work unit notes: 0.2 "
           "steps/s, 0.0% ($/500000), ETA: 400d22h17m",
           "Finished training step $. Batch size: 512, Loss: 10.96693",
           // Megatron-LM
           " [2026-11-22 20:44:22] iteration        $/  500000 | consumed samples:          $ | "
           "elapsed time per iteration (ms): 30$1.2 | learning rate: 1.0E-04 |",
           // DeepSpeed
           "[2026-11-22 20:44:22,987] [INFO] [logging.py:60:log_dist] [Rank 0] step=$, skipped=0, "
           "lr=[0.001], mom=[[0.9, 0.95]]",
           // progress bars: Hugging Face's Trainer, Lightning
           "  5%|\u258c         | $/1000 [00:10<03:1$,  5.00it/s]",
           "Epoch 0:  12%|\u2588\u258f        | $/1000 [00:10<01:13, 12.0it/s, v_num=0]",
           "Epoch: [0][ $/1000]  Time  0.1$ ( 0.123)  Loss 2.1",
           "[ $/1000] loss 2.1",
           // The same bar where it knows no total
           "$it [00:24,  5.01it/s]",
           "train: $it [00:24,  5.01it/s, loss=2.1]",
           "\x1b[32mstep\x1b[0m: \x1b[1m$\x1b[0m loss 2.1",
       }) {
    EXPECT_EQ(After(shape, 10, 13).step, 13) << shape;
    EXPECT_EQ(After(shape, 100, 400, 100).step, 400) << shape;
    EXPECT_EQ(After(shape, 10, 13).advances, 2) << shape;
    // Two lines are too few to show growth.
    EXPECT_EQ(After(shape, 10, 11).step, std::nullopt) << shape;
  }
}

TEST(StepLinesTest, ANumberThatNeverGrowsIsNoStep) {
  StepLines steps;
  for (int i = 0; i < 100; ++i) {
    steps.Take("num_train_steps: 1000", 0);
    steps.Take(absl::StrCat("loss 2.", i), 0);
    steps.Take(absl::StrCat("waited ", i, " s for the step"), 0);
  }
  EXPECT_EQ(steps.Read(), StepReading());
}

TEST(StepLinesTest, KnowsTheFractionsOfFrameworks) {
  for (const char* shape : {
           // PyTorch's examples and timm.
           "Train Epoch: 1 [$/60000 (1%)]\tLoss: 2.29",
           "Train: 0 [  $/1251 (  4%)]  Loss: 6.95 (6.95)  Time: 0.3s",
           // Keras 2 and 3, in a file.
           "  $/1000 [..............................] - ETA: 12s - loss: 2.3",
           " $/1000 [==>...........................] - ETA: 12s - loss: 2.3",
           "\x1b[1m  $/1000\x1b[0m \x1b[32m\u2501\x1b[0m\x1b[37m\u2501\u2501\x1b[0m "
           "\x1b[1m12s\x1b[0m 125ms/step - loss: 2.3",
       }) {
    EXPECT_EQ(After(shape, 10, 13).step, 13) << shape;
  }
  for (const char* shape : {"$/1000 files", "$/1000 (1%)", "[$/1000 (x)]", "[$/1000 (%)",
                            "$/1000 [done]", "$/1000 [.git]", "copied $/1000 [==>..]", "$it [",
                            "$it [s", "x$it [00:24", "$item [00:24", "it [00:24"}) {
    EXPECT_EQ(After(shape, 10, 20).step, std::nullopt) << shape;
  }
}

TEST(StepLinesTest, QuantitiesAreNoSteps) {
  for (const char* shape :
       {"time per step $ ms", "step $s", "step 1.$", "step $.5", "step $%", "steps/s: $", "$ steps",
        "steps_per_second: $", "stepping $", "filter $: on", "arbiter $: on", "step_time: $",
        "epoch $", "shards: $/1000", "at 11/$/2026", "saved to /ckpt/step_$/x",
        "retrying, iteration $", "waiting for peers: step $ of 1000"}) {
    EXPECT_EQ(After(shape, 10, 20).step, std::nullopt) << shape;
  }
}

TEST(StepLinesTest, AnotherShapeDoesNotCount) {
  StepLines steps;
  steps.Take("Step 1: loading data", 0);
  steps.Take("Step 2: building the model", 0);
  steps.Take("Step 3: restoring", 0);
  steps.Take("Step 4: training", 0);
  EXPECT_EQ(steps.Read(), StepReading());
  // Lines of another log do not count, either.
  steps.Take("step 1", 1);
  steps.Take("step 2", 2);
  steps.Take("step 3", 3);
  EXPECT_EQ(steps.Read(), StepReading());
}

TEST(StepLinesTest, WhatFallsAsOftenAsItGrowsIsNoStep) {
  StepLines steps;
  uint32_t random = 1;
  for (int i = 0; i < 200; ++i) {
    random = random * 1664525 + 1013904223;
    steps.Take(absl::StrCat("step ", 100 + (random >> 16) % 100, " tokens"), 0);
  }
  EXPECT_EQ(steps.Read().step, std::nullopt);
}

TEST(StepLinesTest, EpochsCountAnew) {
  StepLines steps;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (int i = 1; i <= 5; ++i) steps.Take(absl::StrFormat("Epoch: [%d][%d/5]", epoch, i), 0);
  }
  EXPECT_EQ(steps.Read().step, 5);
  EXPECT_EQ(steps.Read().advances, 11);
}

TEST(StepLinesTest, ACountThatIsCompleteIsNoStepAnyMore) {
  StepLines steps;
  for (int i = 0; i <= 4; ++i) {
    steps.Take(absl::StrFormat("Loading: %d%%|##  | %d/4 [00:01<00:02]", 25 * i, i), 0);
  }
  EXPECT_EQ(steps.Read().step, std::nullopt);
  for (int i = 0; i < 4; ++i) steps.Take(absl::StrCat("step ", i), 0);
  EXPECT_EQ(steps.Read().step, 3);
}

TEST(StepLinesTest, StepsGoOnAfterARestart) {
  StepLines steps;
  for (int i = 0; i < 50; ++i) steps.Take(absl::StrCat("step ", i), 0);
  const int64_t before = steps.Read().advances;
  for (int i = 20; i < 30; ++i) steps.Take(absl::StrCat("step ", i), 0);
  EXPECT_EQ(steps.Read().step, 29);
  EXPECT_EQ(steps.Read().advances, before + 9);
}

TEST(StepLinesTest, AnEvaluationIsProgressAndNoStep) {
  StepLines steps;
  for (int i = 0; i < 50; ++i) steps.Take(absl::StrCat("eval step ", i), 0);
  for (int i = 100; i < 110; ++i) steps.Take(absl::StrCat("train step ", i), 0);
  const int64_t before = steps.Read().advances;
  for (int i = 51; i < 100; ++i) steps.Take(absl::StrCat("eval step ", i), 0);
  EXPECT_EQ(steps.Read().step, 109);
  EXPECT_EQ(steps.Read().advances, before + 49);
}

TEST(StepLinesTest, RanksThatWriteIntoOneLogDoNotFall) {
  StepLines steps;
  for (int i = 0; i < 20; ++i) {
    for (int rank = 0; rank < 4; ++rank) {
      steps.Take(absl::StrFormat("[rank%d] step %d", rank, rank == 3 ? i : i + 1), 0);
    }
  }
  EXPECT_EQ(steps.Read().step, 20);
}

TEST(StepLinesTest, ThousandsMayBeGrouped) {
  EXPECT_EQ(After("step $,000 loss", 1, 5).step, 5'000);
  EXPECT_EQ(After("step 1,00$,000 loss", 1, 5).step, 1'005'000);
  EXPECT_EQ(After("step $,10 loss", 1, 5).step, 5);
}

TEST(StepLinesTest, TheFrequentShapeWins) {
  StepLines steps;
  for (int i = 0; i < 200; ++i) {
    if (i % 50 == 0) steps.Take(absl::StrCat("== step ", i, " of the run"), 0);
    steps.Take(absl::StrCat("step ", i, " loss"), 0);
  }
  EXPECT_EQ(steps.Read().step, 199);
}

TEST(StepLinesTest, AnyBytesAreTaken) {
  StepLines steps;
  for (const char* line : {"",
                           "t",
                           "step",
                           "step ",
                           "step \x1b[",
                           "iteration:",
                           "/",
                           "[",
                           "[1",
                           "1/",
                           "step 99999999999999999999999999",
                           "step 1,",
                           "step 1,2",
                           "Step ,,,",
                           "[ 1/",
                           "(1/2",
                           "[1/2 (",
                           "[1/2 ( %)",
                           "1/2 [",
                           "1/2 [.",
                           "1/2 \x1b[",
                           "iter",
                           "it [1",
                           "1it [",
                           "steps of ",
                           "step 3 of ",
                           "step 3 /"}) {
    for (int i = 0; i < 4; ++i) steps.Take(line, 0);
  }
  EXPECT_EQ(steps.Read(), StepReading());
}

// Steps 0 to 9, each in so many lines: "%" differs from line to line.
bool AreOfSeveral(const std::string& shape, int lines) {
  StepLines steps;
  for (int n = 0; n < 10; ++n) {
    for (int i = 0; i < lines; ++i) {
      steps.Take(absl::StrReplaceAll(shape, {{"$", absl::StrCat(n)}, {"%", absl::StrCat(i)}}), 0);
    }
  }
  return steps.AreOfSeveral();
}

TEST(StepLinesTest, SeveralProcessesWriteTheSameSteps) {
  EXPECT_TRUE(AreOfSeveral("step $ in 0.% s", 4));
  EXPECT_TRUE(AreOfSeveral("step $ in 0.% s", 2));
  EXPECT_TRUE(AreOfSeveral("step $", 3));
  EXPECT_FALSE(AreOfSeveral("step $", 1));
  // A process with two handlers writes each line twice.
  EXPECT_FALSE(AreOfSeveral("step $", 2));
}

}  // namespace
}  // namespace rapideye::logs
