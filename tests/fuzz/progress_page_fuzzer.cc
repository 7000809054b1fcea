// Reads any bytes as a progress page: the job may write what it likes.
#include <cstdint>

#include "absl/strings/string_view.h"
#include "agent/sources/progress_page/parse.h"
#include "tests/fuzz/fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rapideye::Require;
  const absl::string_view bytes(reinterpret_cast<const char*>(data), size);
  const rapideye::agent::PageReader reader = {
      .boot_id = "", .time_namespace = 0, .now = absl::Hours(100)};
  const auto page = rapideye::agent::ParseProgressPage(bytes, 4096, reader);
  if (!page.ok()) {
    Require(!page.status().message().empty(), "it says why");
    return 0;
  }
  const rapideye::agent::ProgressSample& sample = page->sample;
  Require(page->writer.pid > 0, "it has a writer");
  Require(sample.step.value_or(0) >= 0, "a step is not negative");
  for (const auto& age : {sample.phase_for, sample.input_wait}) {
    Require(
        age.value_or(reader.now) >= absl::ZeroDuration() && age.value_or(reader.now) <= reader.now,
        "an age lies between now and the beginning of time");
  }
  return 0;
}
