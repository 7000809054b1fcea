#include "classifier/host/frame.h"

#include <gtest/gtest.h>

namespace rapideye::classifier {
namespace {

TEST(ParseFrame, ReadsTheFormOfPySpyAndThatOfPeople) {
  for (const char* text : {"jax/_src/array.py:648 _value", "_value (jax/_src/array.py:648)"}) {
    const Frame frame = ParseFrame(text);
    EXPECT_EQ(frame.function, "_value") << text;
    EXPECT_EQ(frame.file, "jax/_src/array.py") << text;
    EXPECT_EQ(frame.line, 648) << text;
    EXPECT_TRUE(frame.IsPython()) << text;
    EXPECT_TRUE(frame.IsOf("jax")) << text;
    EXPECT_FALSE(frame.IsProgram()) << text;
  }
}

TEST(ParseFrame, ReadsLibrariesOfTheNativeSide) {
  const Frame frame = ParseFrame("xla::cpu::(anonymous namespace)::Wait(int) (libjax_common.so)");
  EXPECT_EQ(frame.function, "xla::cpu::(anonymous namespace)::Wait(int)");
  EXPECT_EQ(frame.file, "libjax_common.so");
  EXPECT_FALSE(frame.line.has_value());
  EXPECT_FALSE(frame.IsPython());
  EXPECT_FALSE(frame.IsProgram());
  EXPECT_EQ(ParseFrame("futex_wait_queue (kernel)").file, "kernel");
}

TEST(ParseFrame, TakesWhatHasNoFileForAFunction) {
  EXPECT_EQ(ParseFrame("read_shard").function, "read_shard");
  EXPECT_EQ(ParseFrame("operator new").function, "operator new");
  EXPECT_EQ(ParseFrame("").function, "");
}

TEST(Frame, TellsTheProgramFromLibraries) {
  for (const char* text :
       {"train.py:88 read_shard", "MaxText/train.py:402 train_loop", "/opt/job/train.py:88 main",
        "/home/me/python/loop.py:3 main", "queue_of_mine.py:1 get"}) {
    EXPECT_TRUE(ParseFrame(text).IsProgram()) << text;
  }
  for (const char* text :
       {"threading.py:327 wait", "/usr/lib/python3.11/threading.py:327 wait",
        "/venv/lib/python3.12/site-packages/orbax/checkpoint/manager.py:9 save",
        "grain/_src/python/data_loader.py:421 __next__", "<frozen runpy>:88 _run_code",
        "concurrent/futures/_base.py:451 result", "read (libc.so.6)", "cmd.py:126 cmdloop",
        "pdb.py:391 interaction", "psutil/__init__.py:1300 wait", "tqdm/std.py:1181 __iter__"}) {
    EXPECT_FALSE(ParseFrame(text).IsProgram()) << text;
  }
}

}  // namespace
}  // namespace rapideye::classifier
