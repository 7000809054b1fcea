// Reads any bytes as stacks that a tool or the kernel prints: every result fits
// into a snapshot.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "agent/sources/stacks/limits.h"
#include "agent/sources/stacks/parse.h"
#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace rapideye::agent;  // NOLINT: everything here is of it
  const absl::string_view text(reinterpret_cast<const char*>(data), size);
  std::vector<ThreadStack> native = ParseEuStack(text);
  std::vector<ThreadStack> python;
  if (auto parsed = ParsePySpy(text); parsed.ok()) python = *std::move(parsed);
  native.push_back({1, "kernel", ParseKernelStack(text, text, text)});
  for (const auto* threads : {&native, &python}) {
    rapideye::Require(threads->size() <= kMaxThreadsRead + 1, "threads are bounded");
    for (const ThreadStack& thread : *threads) {
      rapideye::Require(thread.frames.size() <= kMaxStackFrames, "frames are bounded");
      for (const std::string& frame : thread.frames) {
        rapideye::Require(!frame.empty() && frame.size() <= kMaxStackFrameBytes, "so is each");
      }
    }
  }
  size_t bytes = 0;
  const std::vector<rapideye::Stack> stacks =
      SelectStacks(1, python, native, {{2, "python3", python}});
  for (const rapideye::Stack& stack : stacks) {
    rapideye::Require(!stack.frames.empty(), "a stack has frames");
    for (const std::string& frame : stack.frames) bytes += frame.size();
  }
  rapideye::Require(stacks.size() <= kMaxStacks && bytes <= kMaxStackBytes,
                    "a snapshot takes them");
  return 0;
}
