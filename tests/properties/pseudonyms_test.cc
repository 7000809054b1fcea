// A capture whose names are replaced gives the same verdict, and shows none of its names: tried
// on the samples, on captures that were hard, and on scenarios of every kind.
#include "proto/capture/pseudonyms.h"

#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "classifier/classify.h"
#include "proto/capture/capture_reader.h"
#include "proto/capture/capture_writer.h"
#include "tests/properties/verdict_text.h"
#include "tests/scenarios/scenario.h"

namespace rapideye::properties {
namespace {

#ifdef RAPIDEYE_SANITIZED
constexpr uint64_t kSeedsPerKind = 2;  // each takes ten times as long
#else
constexpr uint64_t kSeedsPerKind = 12;
#endif
constexpr uint64_t kFirstSeed = 8'000'000;

std::set<std::string> NamesIn(const Capture& capture) {
  std::set<std::string> names = {capture.header.job};
  const auto add = [&names](const std::optional<std::string>& name) {
    if (name.has_value()) names.insert(*name);
  };
  add(capture.header.job_incarnation);
  for (const ExpectedWorker& worker : capture.header.expected_workers) {
    names.insert(worker.host);
    add(worker.node);
  }
  for (const Snapshot& snapshot : capture.snapshots) {
    names.insert(snapshot.host);
    add(snapshot.node);
    add(snapshot.pod);
    add(snapshot.hardware);
    add(snapshot.incarnation);
    for (const LogEvent& event : snapshot.log_events) add(event.peer_host);
  }
  names.erase("");
  return names;
}

// As a word of its own: "w1" is no part of "w10".
bool Shows(const std::string& text, const std::string& name) {
  const auto in_word = [&](size_t at) {
    return at < text.size() && std::isalnum(static_cast<unsigned char>(text[at])) != 0;
  };
  for (size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1)) {
    if (!in_word(at + name.size()) && (at == 0 || !in_word(at - 1))) return true;
  }
  return false;
}

// The parts that are the same under other names: all but sentences.
std::string Told(const Capture& capture) {
  const Verdict verdict = Classify(capture);
  std::string text = absl::StrCat(Summary(verdict), " ", verdict.confidence.value_or(0));
  for (const Alternative& other : verdict.alternatives) {
    absl::StrAppend(&text, "; ", std::string(CauseName(other.cause)), " ", other.confidence);
    for (const Culprit& culprit : other.culprits) absl::StrAppend(&text, " ", Name(culprit.worker));
  }
  for (const WorkerId& worker : verdict.missing) absl::StrAppend(&text, " missing ", Name(worker));
  return text;
}

void Try(const Capture& capture, const std::string& what) {
  for (const bool modules : {false, true}) {
    const absl::StatusOr<Capture> done = wire::Pseudonymise(capture, {}, {.modules = modules});
    ASSERT_TRUE(done.ok()) << what << ": " << done.status();
    EXPECT_EQ(Told(*done), Told(capture)) << what;
    const std::string bytes = wire::WriteCapture(*done, {}).value();
    for (const std::string& name : NamesIn(capture)) {
      EXPECT_FALSE(Shows(bytes, name)) << what << " still shows " << name;
    }
  }
}

TEST(PseudonymsTest, SamplesAndHardCapturesGiveTheSameVerdict) {
  int tried = 0;
  for (const char* folder : {"", "/hard"}) {
    for (const auto& entry : std::filesystem::directory_iterator(
             std::string(std::getenv("RAPIDEYE_TEST_DATA")) + folder)) {
      if (entry.path().extension() != ".jsonl") continue;
      const absl::StatusOr<Capture> capture = wire::ReadCaptureFile(entry.path());
      ASSERT_TRUE(capture.ok()) << capture.status();
      Try(*capture, entry.path().filename());
      ++tried;
    }
  }
  EXPECT_GE(tried, 20);
}

TEST(PseudonymsTest, ScenariosGiveTheSameVerdict) {
  for (const scenarios::Kind kind : scenarios::AllKinds()) {
    for (uint64_t seed = kFirstSeed; seed < kFirstSeed + kSeedsPerKind; ++seed) {
      scenarios::Options options;
      options.aborted = seed % 4 == 3;
      Try(Generate(kind, seed, options).capture,
          absl::StrCat(std::string(KindName(kind)), " ", seed));
    }
  }
}

}  // namespace
}  // namespace rapideye::properties
