// The Python module and this reader agree on the page.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "agent/sources/progress_page/fetch.h"

namespace rapideye::agent {
namespace {

using ::testing::HasSubstr;

// A Python process that writes a page, told line by line what to do; it answers each.
class PythonLoop {
 public:
  explicit PythonLoop(const std::string& page) {
    int input[2];
    int output[2];
    if (pipe(input) != 0 || pipe(output) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      dup2(input[0], 0);
      dup2(output[1], 1);
      for (const int descriptor : {input[0], input[1], output[0], output[1]}) close(descriptor);
      setenv("RAPIDEYE_PROGRESS_PAGE", page.c_str(), 1);
      setenv("PYTHONPATH", RAPIDEYE_PROGRESS_DIR, 1);
      setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
      execl("/usr/bin/python3", "python3", "-c",
            "import sys, rapideye_progress as progress\n"
            "contexts = []\n"
            "for line in sys.stdin:\n"
            "  if line.strip() == 'leave': contexts.pop().__exit__(None, None, None)\n"
            "  elif line.startswith('devices'): eval('progress.' + line)\n"
            "  else: contexts.append(eval('progress.' + line)); contexts[-1].__enter__()\n"
            "  print('done', flush=True)\n",
            nullptr);
      _exit(127);
    }
    close(input[0]);
    close(output[1]);
    to_ = fdopen(input[1], "w");
    from_ = fdopen(output[0], "r");
  }
  ~PythonLoop() { End(); }

  bool Do(const std::string& what) {
    char answer[16] = {};
    return fprintf(to_, "%s\n", what.c_str()) > 0 && fflush(to_) == 0 &&
           fgets(answer, sizeof(answer), from_) != nullptr && std::string(answer) == "done\n";
  }

  // Kills the loop, so that it cannot close the page.
  void End() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    fclose(to_);
    fclose(from_);
    pid_ = 0;
  }

 private:
  pid_t pid_ = -1;
  FILE* to_ = nullptr;
  FILE* from_ = nullptr;
};

TEST(PythonProgressTest, WhatPythonWritesIsRead) {
  std::string directory = testing::TempDir() + "progress-XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  const std::string path = directory + "/page";
  ProgressPageReader reader(path, "/proc");
  {
    PythonLoop loop(path);
    ASSERT_TRUE(loop.Do("step(41)"));
    ProgressReading reading = reader.Read();
    ASSERT_TRUE(reading.progress.has_value()) << reading.unavailable;
    EXPECT_EQ(reading.progress->step, 41);
    EXPECT_EQ(reading.progress->phase, Phase::kStep);
    EXPECT_LT(*reading.progress->phase_for, absl::Minutes(1));
    EXPECT_FALSE(reading.progress->input_wait.has_value());

    ASSERT_TRUE(loop.Do("input_wait()"));
    reading = reader.Read();
    EXPECT_EQ(reading.progress->phase, Phase::kInput);
    EXPECT_LT(*reading.progress->input_wait, absl::Minutes(1));
    ASSERT_TRUE(loop.Do("leave"));
    ASSERT_TRUE(loop.Do("leave"));
    EXPECT_EQ(reader.Read().progress->phase, Phase::kUnspecified);
    EXPECT_EQ(reader.Read().progress->step, 41);

    for (const auto& [call, phase] :
         {std::pair("checkpoint()", Phase::kCheckpoint), std::pair("eval()", Phase::kEval),
          std::pair("compile()", Phase::kCompile)}) {
      ASSERT_TRUE(loop.Do(call));
      EXPECT_EQ(reader.Read().progress->phase, phase);
      ASSERT_TRUE(loop.Do("leave"));
    }
    loop.End();
  }
  EXPECT_FALSE(reader.Read().progress.has_value());
  EXPECT_THAT(reader.Read().unavailable, HasSubstr("has ended"));
  unlink(path.c_str());
  rmdir(directory.c_str());
}

}  // namespace
}  // namespace rapideye::agent
