// rapideye logs as a shell would run it, and the agent on the same logs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/support/run_program.h"

namespace rapideye::cli {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// A line of expected.tsv.
struct Expected {
  std::string file;
  int line = 0;
  std::string kind;
  std::map<std::string, std::string> fields;
};

std::string SamplePath(const std::string& file) {
  return std::string(std::getenv("RAPIDEYE_TEST_DATA")) + "/" + file;
}

std::vector<Expected> ExpectedOfSamples() {
  std::vector<Expected> all;
  std::ifstream file(SamplePath("expected.tsv"));
  for (std::string row; std::getline(file, row);) {
    Expected expected;
    std::istringstream columns(row);
    std::string fields;
    columns >> expected.file >> expected.line >> expected.kind;
    std::getline(columns >> std::ws, fields);
    std::istringstream pairs(fields);
    for (std::string pair; std::getline(pairs, pair, ';');) {
      expected.fields[pair.substr(0, pair.find('='))] = pair.substr(pair.find('=') + 1);
    }
    all.push_back(expected);
  }
  EXPECT_THAT(all, SizeIs(13));
  return all;
}

// The form in which expected.tsv writes the value.
std::string Written(const std::string& field, const ordered_json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (field != "pc") return value.dump();
  std::ostringstream hex;
  hex << "0x" << std::hex << value.get<int64_t>();
  return hex.str();
}

void ExpectFields(const Expected& expected, const ordered_json& event) {
  EXPECT_EQ(event["kind"], expected.kind) << event;
  for (const auto& [field, value] : expected.fields) {
    EXPECT_EQ(Written(field, event.value(field, ordered_json())), value) << event;
  }
}

TEST(LogsTest, KnowsEverySample) {
  for (const Expected& expected : ExpectedOfSamples()) {
    const std::string path = SamplePath(expected.file);
    const Result result = Rapideye({"logs", "--all", path});
    EXPECT_EQ(result.exit_status, 0);
    int found = 0;
    for (const ordered_json& event : JsonLines(result.out)) {
      EXPECT_EQ(event["file"], path);
      if (event["line"] != expected.line) continue;
      ++found;
      ExpectFields(expected, event);
      EXPECT_EQ(event["source"], "JOB_LOG");
    }
    EXPECT_EQ(found, 1) << expected.file << " " << expected.line;
  }
}

TEST(LogsTest, TheAgentKnowsThemAsWell) {
  for (const Expected& expected : ExpectedOfSamples()) {
    std::ifstream sample(SamplePath(expected.file));
    std::string line;
    for (int i = 0; i < expected.line; ++i) std::getline(sample, line);
    const std::string path = File("one.log", line + "\n");
    const Result result = RunProgram({RAPIDEYE_AGENT_BINARY, "--once", "--job=j", "--slice=0",
                                      "--task=0", "--runtime=127.0.0.1:1", "--log=" + path});
    ASSERT_EQ(result.exit_status, 0) << result.err;
    const ordered_json snapshot = ordered_json::parse(result.out)["snapshot"];
    const ordered_json events = snapshot.value("logEvents", ordered_json::array());
    if (expected.kind == "BENIGN") {
      EXPECT_THAT(events, IsEmpty());
      continue;
    }
    ASSERT_THAT(events, SizeIs(1)) << line;
    ordered_json event = events[0];
    if (snapshot.contains("hangReport")) event.update(snapshot["hangReport"]);
    ExpectFields(expected, event);
  }
}

constexpr char kHalt[] = "Core halted unexpectedly: INTERNAL\n";
constexpr char kBenign[] = "E1001 15:22:33.275768 4353 cuda.cc:1] failed call to cuInit: x\n";

TEST(LogsTest, LeavesOutWhatIsBenignUnlessAsked) {
  const std::string path = File("benign.log", std::string("step 1\n") + kBenign + kHalt);
  const auto usual = JsonLines(Rapideye({"logs", path}).out);
  ASSERT_THAT(usual, SizeIs(1));
  EXPECT_EQ(usual[0]["line"], 3);
  const auto all = JsonLines(Rapideye({"logs", "--all", path}).out);
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0]["kind"], "BENIGN");
}

TEST(LogsTest, PrintsALineForEachEventAsText) {
  const std::string path = File("text.log", std::string("step 1\n\x1b[0m") + kHalt);
  const Result result = Rapideye({"logs", "--format=text", path});
  EXPECT_EQ(result.exit_status, 0);
  EXPECT_EQ(result.out, path + ":2: CORE_HALT: Core halted unexpectedly: INTERNAL\n");
  EXPECT_EQ(Rapideye({"logs", "--json", path}).out, Rapideye({"logs", path}).out);
}

TEST(LogsTest, ReadsStandardInput) {
  const std::string path = File("stdin.log", std::string(kHalt) + "Barrier timed out");
  const Result result = Rapideye({"logs", "-"}, -1, path);
  EXPECT_EQ(result.exit_status, 0);
  const auto events = JsonLines(result.out);
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0]["file"], "-");
  EXPECT_EQ(events[1]["kind"], "COORDINATION_TIMEOUT");
}

TEST(LogsTest, ReadsWhatIsCompressedAndSaysIfItIsCutShort) {
  const std::string path = TempPath("log.gz");
  const gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, kHalt);
  for (int i = 0; i < 100'000; ++i) gzprintf(file, "step %d\n", i * 7919);
  gzputs(file, kHalt);
  gzclose(file);
  const Result whole = Rapideye({"logs", path});
  EXPECT_EQ(whole.exit_status, 0);
  ASSERT_THAT(JsonLines(whole.out), SizeIs(2));
  EXPECT_EQ(JsonLines(whole.out)[1]["line"], 100'002);
  std::string cut = Slurp(path);
  cut.resize(cut.size() / 2);
  const Result part = Rapideye({"logs", File("cut.gz", cut)});
  EXPECT_EQ(part.exit_status, 2);
  EXPECT_THAT(part.err, HasSubstr("cut.gz: "));
  EXPECT_THAT(JsonLines(part.out), SizeIs(1));
}

TEST(LogsTest, AFileThatCannotBeReadIsNamedAndTheOthersAreRead) {
  const std::string good = File("good.log", kHalt);
  const std::string none = TempPath("none.log");
  const Result result = Rapideye({"logs", none, testing::TempDir(), good});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, AllOf(HasSubstr(none), HasSubstr("there is no such file"),
                                HasSubstr("Is a directory")));
  EXPECT_THAT(JsonLines(result.out), SizeIs(1));
}

TEST(LogsTest, JunkIsPrintedAsValidText) {
  const std::string path = File("junk.log", std::string("\xff\x00\x1b[0m", 6) + kHalt);
  const auto events = JsonLines(Rapideye({"logs", path}).out);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0]["kind"], "CORE_HALT");
}

TEST(LogsTest, ALogWithoutEventsIsSaidToHaveNone) {
  const std::string path = File("quiet.log", "completed step: 1\n");
  EXPECT_EQ(Rapideye({"logs", path}).out, "");  // programs read objects alone
  EXPECT_EQ(Rapideye({"logs", path, "--format=text"}).out,
            "no events; --all also prints what healthy runs write\n");
  EXPECT_EQ(Rapideye({"logs", path, "--format=text", "--all"}).out, "no events\n");
  const std::string halt = File("halt.log", kHalt);
  EXPECT_THAT(Rapideye({"logs", path, halt, "--format=text"}).out, Not(HasSubstr("no events")));
}

TEST(LogsTest, TakesSignaturesOfAnOperator) {
  const std::string path = File("acme.log", "acme_rdma0: link lost\n");
  EXPECT_THAT(JsonLines(Rapideye({"logs", path}).out), IsEmpty());
  const std::string good = File("good.signatures", "NIC_FAULT \"acme_rdma\" \"lost\"\n");
  const auto events = JsonLines(Rapideye({"logs", path, "--log-signatures=" + good}).out);
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0]["kind"], "NIC_FAULT");

  const std::string bad = File("bad.signatures", "\n\nNIC_FAULTS \"acme_rdma\"\n");
  for (const Result& result :
       {Rapideye({"logs", path, "--log-signatures=" + bad}),
        RunProgram({RAPIDEYE_AGENT_BINARY, "--once", "--log-signatures=" + bad})}) {
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr("bad.signatures"), HasSubstr("line 3")));
  }
  EXPECT_EQ(Rapideye({"logs", path, "--log-signatures=" + TempPath("none")}).exit_status, 2);
}

}  // namespace
}  // namespace rapideye::cli
