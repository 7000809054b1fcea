// Plays every transcript under tests/transcripts, one case per file.
// RAPIDEYE_REWRITE_GOLDENS=1 rewrites them and fails, so that a rewrite is always
// looked at.
#include "tests/transcripts/transcript.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/transcripts/agent_script.h"
#include "tests/transcripts/coordinator_script.h"

namespace rapideye::transcripts {
namespace {

std::filesystem::path Root() {
  const char* directory = std::getenv("RAPIDEYE_TEST_DATA");
  return directory != nullptr ? directory : "tests/transcripts";
}

std::vector<std::string> Files() {
  std::vector<std::string> files;
  for (const char* core : {"agent", "coordinator"}) {
    for (const auto& entry : std::filesystem::directory_iterator(Root() / core)) {
      files.push_back(absl::StrCat(core, "/", entry.path().stem().string()));
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string Read(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class TranscriptTest : public testing::TestWithParam<std::string> {};

TEST_P(TranscriptTest, HappensAgain) {
  const std::filesystem::path path = Root() / (GetParam() + ".txt");
  const std::string text = Read(path);
  absl::StatusOr<Transcript> transcript = ParseTranscript(text);
  ASSERT_TRUE(transcript.ok()) << path.string() << ":" << transcript.status().message();
  const std::unique_ptr<Script> script =
      GetParam().starts_with("agent/") ? MakeAgentScript() : MakeCoordinatorScript();
  const absl::Status status = Execute(*transcript, *script);
  ASSERT_TRUE(status.ok()) << path.string() << ":" << status.message();
  const std::string played = FormatTranscript(*transcript);
  if (std::getenv("RAPIDEYE_REWRITE_GOLDENS") != nullptr) {
    std::ofstream(path, std::ios::binary) << played;
    ADD_FAILURE() << "rewrote " << path << ": look at the difference";
    return;
  }
  EXPECT_EQ(played, text) << path.string()
                          << " differs; RAPIDEYE_REWRITE_GOLDENS=1 writes what happens now";
}

INSTANTIATE_TEST_SUITE_P(Files, TranscriptTest, testing::ValuesIn(Files()), [](const auto& info) {
  std::string name = info.param;
  std::replace_if(name.begin(), name.end(), [](char c) { return c == '-' || c == '/'; }, '_');
  return name;
});

// The notation itself ------------------------------------------------------------

// Says what it is told, and fails when it is told to.
class Echo : public Script {
 public:
  absl::Status Run(Command& command, std::vector<std::string>& output) override {
    if (command.verb() == "fail") command.Fail("as asked");
    command.Integer("number");
    output.push_back(command.verb() + ": " + command.text());
    return absl::OkStatus();
  }
};

std::string ErrorOf(const std::string& text) {
  absl::StatusOr<Transcript> transcript = ParseTranscript(text);
  if (!transcript.ok()) return std::string(transcript.status().message());
  Echo echo;
  return std::string(Execute(*transcript, echo).message());
}

TEST(NotationTest, OutputIsReplacedAndTheRestIsKept) {
  absl::StatusOr<Transcript> transcript =
      ParseTranscript("# It proves.\n\nsay: a\nsay: b\n----\nold\n\n# Then.\nsay\n----\n");
  ASSERT_TRUE(transcript.ok()) << transcript.status();
  Echo echo;
  ASSERT_TRUE(Execute(*transcript, echo).ok());
  EXPECT_EQ(FormatTranscript(*transcript),
            "# It proves.\n\nsay: a\nsay: b\n----\nsay: a\nsay: b\n\n# Then.\nsay\n----\nsay: \n");
}

TEST(NotationTest, ErrorsNameTheLine) {
  EXPECT_EQ(ErrorOf("# It proves.\nsay number=12\n----\n"), "");
  EXPECT_EQ(ErrorOf("# It proves.\nsay number=0x1f\n----\n"), "");
  EXPECT_EQ(ErrorOf("say\n----\n"), "1: begins with a comment that says what it proves");
  EXPECT_EQ(ErrorOf("# It proves.\n\nsay\n"), "3: a command without ---- behind it");
  EXPECT_EQ(ErrorOf("# It proves.\nsay\nfail\n----\n"), "3: fail: as asked");
  EXPECT_EQ(ErrorOf("# It proves.\nsay number=many\n----\n"), "2: say: number=many is no number");
  EXPECT_EQ(ErrorOf("# It proves.\nsay color=red\n----\n"), "2: say: takes no color=...");
}

}  // namespace
}  // namespace rapideye::transcripts
