#include "digest/render_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "digest/digest.h"
#include "tests/support/example_cases.h"

namespace rapideye::digest {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

size_t Count(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// The elements that stay open, and the first tag that closes another one.
// Knows as much of HTML as the page uses.
std::string Unbalanced(const std::string& page) {
  std::vector<std::string> open;
  for (size_t at = 0; (at = page.find('<', at)) != std::string::npos;) {
    const size_t end = page.find('>', at);
    if (end == std::string::npos) return "unfinished tag";
    const std::string tag = page.substr(at + 1, end - at - 1);
    const std::string name = tag.substr(tag[0] == '/' ? 1 : 0, tag.find(' '));
    at = end + 1;
    if (name == "!DOCTYPE" || name == "meta") continue;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != name) return "</" + name + "> closes nothing";
      open.pop_back();
      continue;
    }
    open.push_back(name);
    // Raw text up to the closing tag.
    if (name == "script" || name == "style") at = page.find("</" + name, at);
  }
  return open.empty() ? "" : "<" + open.back() + "> stays open";
}

nlohmann::json MapOf(const std::string& page) {
  const std::string start = "id=\"map-data\">";
  const size_t from = page.find(start) + start.size();
  return nlohmann::json::parse(page.substr(from, page.find("</script>", from) - from));
}

std::string Page(const ExampleCase& example) {
  return RenderHtml(BuildReport(example.capture, example.verdict, {}));
}

TEST(HtmlTest, EveryExampleIsAWellFormedPageOfItsOwn) {
  for (const ExampleCase& example : ExampleCases()) {
    const std::string page = Page(example);
    EXPECT_EQ(Unbalanced(page), "") << example.name;
    EXPECT_THAT(
        page, AllOf(HasSubstr("default-src 'none'"), Not(HasSubstr("http://")),
                    Not(HasSubstr("https://")), Not(HasSubstr(" src=")), Not(HasSubstr(" href="))));
  }
}

TEST(HtmlTest, TheVerdictAndTheNextStepStandOnTop) {
  const std::string page = Page(ExampleCases().front());
  EXPECT_LT(page.find("likely caused by bad TPU chips"), page.find("What to do next"));
  EXPECT_LT(page.find("Remove host tpu-1-2"), page.find("<h2>Map"));
}

TEST(HtmlTest, TheMapShowsEveryWorkerAndMarksCulprits) {
  const ExampleCase example = ExampleCases().front();
  const nlohmann::json map = MapOf(Page(example));
  ASSERT_THAT(map["workers"], SizeIs(8));
  const nlohmann::json& culprit = map["workers"][6];
  EXPECT_EQ(culprit[2], "tpu-1-2");
  EXPECT_EQ(culprit[4], 1);
  EXPECT_EQ(map["workers"][5][4], 0);
  // Four cores of five numbers; chip 2 stands at the second state.
  ASSERT_THAT(culprit[5], SizeIs(20));
  std::vector<int> accused;
  for (size_t i = 0; i < 20; i += 5) {
    if (culprit[5][i + 4] == 1) accused.push_back(culprit[5][i].get<int>());
  }
  EXPECT_THAT(accused, ElementsAre(2));
  EXPECT_EQ(map["states"][1][0], "2:0x11(fusion.212) in jit_train_step, launch 804");
}

TEST(HtmlTest, AMissingWorkerIsOnTheMap) {
  for (const ExampleCase& example : ExampleCases()) {
    if (example.name != "unrecoverable-error") continue;
    const nlohmann::json map = MapOf(Page(example));
    EXPECT_EQ(map["workers"][3][3], 0);
    EXPECT_EQ(map["workers"][2][3], 1);
  }
}

TEST(HtmlTest, NothingAWorkerSentIsMarkup) {
  const std::string hostile =
      "</script><script>alert(1)</script><img src=x onerror='alert(\"2\")'>&lt;\n\x1b\xFF";
  ExampleCase example = ExampleCases().front();
  const std::string harmless = Page(example);

  Snapshot& snapshot = SnapshotOf(example.capture, 1, 2);
  snapshot.host = hostile;
  snapshot.programs[0].module = hostile;
  snapshot.programs[0].fingerprint = hostile;
  SequencerAt(example.capture, 1, 2, 2).hlo = hostile;
  example.capture.header.job = hostile;
  example.capture.header.trigger = hostile;
  Verdict& verdict = example.verdict;
  verdict.culprits[0].host = hostile;
  verdict.culprits[0].nic = hostile;
  verdict.culprits[0].why = hostile;
  verdict.evidence[0].statement = hostile;
  verdict.alternatives[0].why = hostile;
  verdict.alternatives[0].culprits[0].host = hostile;
  verdict.actions[0] = {hostile, hostile};
  verdict.removal.reason = hostile;
  verdict.removal.targets[0] = {hostile, hostile, hostile, 1};
  verdict.lacking = {hostile};
  verdict.links = {{{0, 0}, {1, 2}, hostile, hostile}};
  verdict.reasons[0].text = hostile;
  const std::string page = Page(example);

  EXPECT_EQ(Unbalanced(page), "");
  for (const char* tag : {"<script", "</script", "<img", "<style"}) {
    EXPECT_EQ(Count(page, tag), Count(harmless, tag)) << tag;
  }
  EXPECT_THAT(page, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xFF")),
                          HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)")));
  EXPECT_THAT(MapOf(page)["workers"][6][2], HasSubstr("</script><script>alert(1)"));
}

TEST(HtmlTest, TenThousandHosts) {
  ExampleCase example = ExampleCases().front();
  example.capture = FrozenJob(100, 100);
  int64_t pc = 0;
  for (Snapshot& snapshot : example.capture.snapshots) snapshot.cores[0].sequencers[0].pc = ++pc;
  const std::string page = Page(example);
  EXPECT_EQ(Unbalanced(page), "");
  EXPECT_LT(page.size(), 8'000'000u);
  EXPECT_LE(Count(page, "<tr"), 2002u);
  EXPECT_THAT(MapOf(page)["workers"], SizeIs(10'000));
}

}  // namespace
}  // namespace rapideye::digest
