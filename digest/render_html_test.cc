#include "digest/render_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "digest/digest.h"
#include "digest/sentence.h"
#include "digest/svg.h"
#include "proto/common/release/release.h"
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
  EXPECT_LT(page.find("Remove host tpu-1-2"), page.find("id=\"map\""));
}

TEST(HtmlTest, TheFirstLineSaysWhatStoppedAndHowManyWait) {
  const std::string page = Page(ExampleCases().front());
  EXPECT_THAT(page, HasSubstr("<h1>tpu-1-2 chip 2 stopped in fusion.212. <span>31 cores wait for "
                              "it.</span></h1>"));
  EXPECT_THAT(page, HasSubstr("93 of 100 such verdicts are right"));
  EXPECT_LT(page.find("<h1>"), page.find("likely caused by bad TPU chips"));
  EXPECT_LT(page.find("id=\"map\""), page.find("id=\"why\""));
}

TEST(HtmlTest, EveryExampleHasASentenceOfItsOwn) {
  std::map<std::string, std::string> example_of;
  for (const ExampleCase& example : ExampleCases()) {
    const OneSentence sentence = WriteSentence(BuildReport(example.capture, example.verdict, {}));
    EXPECT_THAT(sentence.what, AllOf(Not(HasSubstr("  ")), ::testing::EndsWith(".")))
        << example.name;
    const auto [it, inserted] = example_of.try_emplace(sentence.what, example.name);
    EXPECT_TRUE(inserted) << example.name << " and " << it->second << ": " << sentence.what;
  }
}

Report StoredReport(const ExampleCase& example) {
  ReportContext context;
  context.incident_id = "20261003T092420Z-1a2b3c4d";
  const std::string directory = "/var/lib/rapideye/incidents/20261003T092420Z-1a2b3c4d/";
  context.files = {.capture = directory + "capture.jsonl.gz",
                   .json = directory + "digest.json",
                   .text = directory + "digest.txt",
                   .html = directory + "digest.html",
                   .hlo = {directory + "hlo-0-0.txt.gz", directory + "hlo-0-1.txt.gz"}};
  return BuildReport(example.capture, example.verdict, context);
}

TEST(HtmlTest, AStoredPageLinksToTheFilesBesideIt) {
  const std::string page = RenderHtml(StoredReport(ExampleCases().front()));
  EXPECT_EQ(Unbalanced(page), "");
  for (const char* link :
       {"<a href=\"digest.txt\" data-served=\".txt\">", "<a href=\"digest.json\"",
        "<a href=\"capture.jsonl.gz\"", "<a href=\"hooks.json\"", "<a href=\"hlo-0-0.txt.gz\""}) {
    EXPECT_THAT(page, HasSubstr(link));
  }
  EXPECT_EQ(Count(page, " href="), 6u);
}

TEST(HtmlTest, APathThatIsNoPlainNameIsNotLinked) {
  Report report = StoredReport(ExampleCases().front());
  report.files.text = "/state/x\" onclick=\"alert(1)";
  report.files.json = "javascript:alert(1)";
  const std::string page = RenderHtml(report);
  EXPECT_THAT(page, AllOf(Not(HasSubstr("onclick")), Not(HasSubstr("javascript:"))));
  EXPECT_EQ(Count(page, " href="), 4u);
}

ChainGroup GroupOf(WaitKind wait, int64_t cores, std::vector<WorkerId> workers) {
  ChainGroup group;
  group.wait = wait;
  group.cores = cores;
  group.workers = std::move(workers);
  return group;
}

// A chain as a classifier may state it: a group that waits across slices, one in the slice, a head.
WaitChain ChainOfThree() {
  WaitChain chain;
  chain.groups = {GroupOf(WaitKind::kTransfer, 16, {{0, 0}, {0, 1}, {0, 2}}),
                  GroupOf(WaitKind::kCollective, 15, {{1, 0}, {1, 1}, {1, 2}}),
                  GroupOf(WaitKind::kCompute, 1, {{1, 2}})};
  chain.groups[2].head = true;
  chain.groups[2].chip = 2;
  chain.groups[2].instruction = "fusion.212";
  chain.edges = {{0, 1, WaitEdgeKind::kTransfer}, {1, 2, WaitEdgeKind::kCollective}};
  return chain;
}

TEST(ChainTest, IsDrawnFromTheManyToTheHead) {
  ExampleCase example = ExampleCases().front();
  example.verdict.chain = ChainOfThree();
  const std::string page = Page(example);
  EXPECT_EQ(Unbalanced(page), "");
  // The page holds two drawings, a wide one and a narrow one.
  EXPECT_EQ(Count(page, "class=\"box head\""), 2u);
  EXPECT_EQ(Count(page, "class=\"box\""), 4u);
  EXPECT_THAT(page, AllOf(HasSubstr("aria-label=\"16 cores (slice 0, 3 hosts) wait across slices "
                                    "for 15 cores; 15 cores (slice 1, 3 hosts) wait in the slice "
                                    "for tpu-1-2 chip 2\""),
                          HasSubstr("<div class=\"m\">fusion.212</div>")));
}

TEST(ChainTest, AProcessEndedAWhileAgoAndACoreStandsForAWhile) {
  ExampleCase example = ExampleCases().front();
  example.verdict.chain = ChainOfThree();
  ChainGroup& head = example.verdict.chain.groups[2];
  head.since_ms = 66'000;
  EXPECT_THAT(Page(example), HasSubstr(">for 1 min 6 s<"));
  head.wait = WaitKind::kEnded;
  EXPECT_THAT(Page(example), AllOf(HasSubstr(">1 min 6 s ago<"), Not(HasSubstr(">for 1 min"))));
}

TEST(ChainTest, ACoreThatLoopsDoesNotStandThere) {
  ExampleCase example = ExampleCases().front();
  example.verdict.chain = ChainOfThree();
  ChainGroup& head = example.verdict.chain.groups[2];
  head.wait = WaitKind::kUnclear;
  const std::string explained =
      RenderExplanation(BuildReport(example.capture, example.verdict, {}));
  EXPECT_THAT(explained, HasSubstr("stands, for what is not clear"));
  head.loops_ms = 60'000;
  EXPECT_THAT(RenderExplanation(BuildReport(example.capture, example.verdict, {})),
              AllOf(HasSubstr("loops: its pc moves, but no launch completes"),
                    Not(HasSubstr("stands, for what is not clear"))));
}

TEST(ChainTest, ABrokenLinkIsDashedBetweenTwoHosts) {
  ExampleCase example = ExampleCases().front();
  example.verdict.chain = ChainOfThree();
  example.verdict.chain.groups[0].head = true;
  example.verdict.chain.edges = {{0, 2, WaitEdgeKind::kBrokenLink}};
  const std::string page = Page(example);
  EXPECT_EQ(Count(page, "class=\"edge dead\""), 2u);
  EXPECT_EQ(Count(page, "class=\"box head\""), 4u);
}

TEST(ChainTest, OfOneProgramCompiledTwiceTheCompilationIsMarkedNotTheQueue) {
  ExampleCase example = ExampleCases().front();
  example.verdict.chain = ChainOfThree();
  WaitChain& chain = example.verdict.chain;
  chain.edges = {{0, 2, WaitEdgeKind::kDivergence}};
  for (ChainGroup& group : chain.groups) group.module = "jit_step";
  chain.groups[0].fingerprint = "aaaa";
  chain.groups[2].fingerprint = "bbbb";
  chain.groups[0].queue = {"jit_step"};
  chain.groups[2].queue = {"jit_step", "jit_step"};
  EXPECT_THAT(Page(example),
              AllOf(Not(HasSubstr("◀")), HasSubstr("<div class=\"m bad\">compiled as bbbb")));
  chain.groups[2].module = chain.groups[2].queue[0] = "jit_eval";
  EXPECT_THAT(Page(example), HasSubstr("◀"));
}

TEST(ChainTest, ACircleAndAnEdgeToNowhereEndTheDrawingNotTheProgram) {
  ExampleCase example = ExampleCases().front();
  example.verdict.chain = ChainOfThree();
  example.verdict.chain.edges.push_back({2, 0, WaitEdgeKind::kAfter});
  EXPECT_EQ(Unbalanced(Page(example)), "");
  example.verdict.chain.edges.push_back({0, 17, WaitEdgeKind::kAfter});
  EXPECT_THAT(Page(example), Not(HasSubstr("class=\"box\"")));
}

TEST(TimelineTest, ShowsWhichCoreStoppedFirst) {
  const ExampleCase example = ExampleCases().front();
  const Report report = BuildReport(example.capture, example.verdict, {});
  ASSERT_THAT(report.last_minutes.lanes, SizeIs(2));
  const Lane& first = report.last_minutes.lanes[0];
  EXPECT_EQ(first.name, "slice 1");
  EXPECT_TRUE(first.culprit);
  ASSERT_THAT(first.stops, SizeIs(2));
  EXPECT_EQ(first.stops[0].age_ms, 65'000);
  EXPECT_EQ(first.stops[0].first_core, "tpu-1-2 chip 2 TensorCore 0");
  EXPECT_EQ(first.stops[1].cores, 15u);
  EXPECT_EQ(report.last_minutes.still_ms, 60'000);
  EXPECT_THAT(Page(example), HasSubstr("tpu-1-2 chip 2 TensorCore 0 stops</span>"));
}

TEST(TimelineTest, AProcessThatEndedIsNoCore) {
  ExampleCase example = ExampleCases().front();
  Process& process = SnapshotOf(example.capture, 1, 2).processes.emplace_back();
  process.exited_ms_ago = 90'000;
  const Report report = BuildReport(example.capture, example.verdict, {});
  const Stop& first = report.last_minutes.lanes[0].stops[0];
  EXPECT_EQ(first.kind, StopKind::kProcess);
  EXPECT_EQ(first.cores, 0u);
  EXPECT_EQ(first.first_core, "tpu-1-2");
  EXPECT_THAT(Page(example),
              AllOf(HasSubstr("tpu-1-2: its process ended</b></li>"),
                    HasSubstr("tpu-1-2: its process ended</span>"), Not(HasSubstr("ended stops"))));
}

TEST(TimelineTest, LanesThatEndTogetherAreOne) {
  ExampleCase example = ExampleCases().front();
  example.capture = FrozenJob(64, 4);
  const Report report = BuildReport(example.capture, example.verdict, {});
  ASSERT_THAT(report.last_minutes.lanes, SizeIs(2));
  EXPECT_EQ(report.last_minutes.lanes[0].name, "slice 1");
  EXPECT_EQ(report.last_minutes.lanes[1].name, "63 slices");
  EXPECT_EQ(report.last_minutes.lanes[1].stops[0].cores, 63u * 4 * 4);
}

TEST(TimelineTest, LinesOfManyWorkersAreOne) {
  ExampleCase example = ExampleCases().front();
  for (int task = 0; task < 4; ++task) {
    LogEvent event;
    event.kind = LogKind::kHangDetected;
    event.text = "Megascale hang detected: 4 graphs, completed " + std::to_string(task);
    event.age_ms = 1000 * task;
    SnapshotOf(example.capture, 0, task).log_events = {event};
  }
  LogEvent driver;
  driver.kind = LogKind::kChipDriverError;
  driver.text = "chip 2: HBM ECC";
  driver.age_ms = 66'000;
  driver.source = LogSource::kKernelLog;
  SnapshotOf(example.capture, 1, 2).log_events = {driver};
  const Report report = BuildReport(example.capture, example.verdict, {});
  ASSERT_THAT(report.last_minutes.log, SizeIs(2));
  EXPECT_EQ(report.last_minutes.log[0].text, "chip 2: HBM ECC");
  EXPECT_TRUE(report.last_minutes.log[0].culprit);
  EXPECT_EQ(report.last_minutes.log[0].source, "kernel log");
  EXPECT_THAT(report.last_minutes.log[1].workers, ElementsAre(0, 1, 2, 3));
  EXPECT_TRUE(report.last_minutes.log[1].alike);
}

TEST(TimelineTest, AgesBeyondAllMeasureAreDrawn) {
  ExampleCase example = ExampleCases().front();
  constexpr int64_t kHuge = int64_t{1} << 53;
  for (Snapshot& snapshot : example.capture.snapshots) {
    for (Core& core : snapshot.cores) core.stuck_ms = core.sequencers[0].frozen_ms = kHuge;
  }
  EXPECT_EQ(Unbalanced(Page(example)), "");
}

TEST(TorusTest, HostsStandWhereTheirFirstChipDoes) {
  ExampleCase example = ExampleCases().front();
  Snapshot& snapshot = SnapshotOf(example.capture, 1, 2);
  snapshot.cores[0].coords = "6x3x1";
  snapshot.cores[1].coords = "6,2,1";
  snapshot.cores[2].coords = "nowhere";
  const Report report = BuildReport(example.capture, example.verdict, {});
  ASSERT_THAT(report.torus, SizeIs(8));
  EXPECT_EQ(report.torus[6], (TorusPlace{6, 2, 1}));
  EXPECT_EQ(report.torus[5], std::nullopt);
  EXPECT_EQ(MapOf(Page(example))["workers"][6][6], nlohmann::json({6, 2, 1}));
}

TEST(WrapTest, BreaksAtSpacesThenAtJointsAndCutsTheLastLine) {
  EXPECT_THAT(WrapText("wait across slices for", 12, 3), ElementsAre("wait across", "slices for"));
  EXPECT_THAT(WrapText("reduce-scatter.12", 10, 3), ElementsAre("reduce-", "scatter.12"));
  EXPECT_THAT(WrapText("aaaaaaaaaaaa", 5, 2), ElementsAre("aaaaa", "aaaa…"));
  EXPECT_THAT(WrapText("äöüßéè", 4, 2), ElementsAre("äöüß", "éè"));
  EXPECT_THAT(WrapText("", 4, 1), ElementsAre());
}

TEST(HtmlTest, CulpritsOfOneReasonShareIt) {
  Verdict verdict;
  verdict.cause = Cause::kNetworkingIssue;
  for (const WorkerId id : {WorkerId{0, 0}, WorkerId{0, 1}, WorkerId{0, 2}}) {
    Culprit& culprit = verdict.culprits.emplace_back();
    culprit.worker = id;
    culprit.why = id.task < 2 ? "the link between both is cut" : "its NIC is down";
  }
  const std::string page = RenderHtml(BuildReport(FrozenJob(1, 4), verdict, {}));
  EXPECT_EQ(Count(page, "the link between both is cut"), 1u);
  EXPECT_THAT(page, HasSubstr("(slice 0 task 1): the link between both is cut</li>"));
  EXPECT_THAT(page, HasSubstr("(slice 0 task 2): its NIC is down</li>"));
}

TEST(HtmlTest, AReasonThatNamesItsWorkerGetsNoLabel) {
  Verdict verdict;
  verdict.cause = Cause::kUnrecoverableError;
  Culprit& culprit = verdict.culprits.emplace_back();
  culprit.worker = {0, 1};
  culprit.why = "slice 0 task 1 (tpu-0-1): its training process exited";
  const auto page = [&verdict] { return RenderHtml(BuildReport(FrozenJob(1, 4), verdict, {})); };
  EXPECT_THAT(page(), HasSubstr("<li>slice 0 task 1 (tpu-0-1): its training process exited</li>"));
  culprit.why = "slice 0 task 10 (tpu-0-1): its training process exited";
  EXPECT_THAT(page(), HasSubstr("<code>tpu-0-1</code> (slice 0 task 1): slice 0 task 10"));
}

TEST(HtmlTest, EvidenceStandsByStrengthWithoutWhatTheLinksSay) {
  Verdict verdict;
  verdict.cause = Cause::kNetworkingIssue;
  verdict.links = {{{0, 0}, {0, 1}, std::nullopt, "a probe fails"},
                   {{0, 0}, {0, 2}, std::nullopt, "bytes stay unacknowledged"}};
  verdict.evidence = {{"a probe fails", Strength::kStrong, {}},
                      {"a strong sign", Strength::kStrong, {}},
                      {"a direct sign", Strength::kDirect, {}}};
  const std::string page = RenderHtml(BuildReport(FrozenJob(1, 4), verdict, {}));
  EXPECT_EQ(Count(page, "a probe fails"), 1u);
  EXPECT_LT(page.find("a direct sign"), page.find("a strong sign"));
}

TEST(MapTest, PlacesAtOneInstructionOfALaunchAreOne) {
  Capture capture = FrozenJob(1, 4);
  for (int task = 0; task < 4; ++task) {
    for (int chip = 0; chip < 4; ++chip) SequencerAt(capture, 0, task, chip).hlo = "all-reduce.3";
    SequencerAt(capture, 0, task, 0).pc = 0x900 + task;
  }
  Verdict verdict;
  EXPECT_THAT(RenderHtml(BuildReport(capture, verdict, {})),
              HasSubstr("<code>all-reduce.3</code> (16 cores)</li>"));
  // Another launch is another place.
  for (Core& core : SnapshotOf(capture, 0, 3).cores) core.launch_id = 17;
  EXPECT_THAT(RenderHtml(BuildReport(capture, verdict, {})),
              AllOf(HasSubstr("launch 17</code> (4 cores)</li>"), HasSubstr("(12 cores)</li>")));
}

TEST(MapTest, InAJobThatRunsALaunchIsOnePlace) {
  Capture capture = FrozenJob(1, 4);
  for (int task = 0; task < 4; ++task) SequencerAt(capture, 0, task, 0).pc = 0x900 + task;
  Verdict verdict;
  verdict.cause = Cause::kNoHang;
  const auto page = [&] { return RenderHtml(BuildReport(capture, verdict, {})); };
  EXPECT_THAT(page(), HasSubstr("<code>jit_train_step</code> (16 cores)</li>"));
  // Without the name of a program an instruction is one.
  for (Snapshot& snapshot : capture.snapshots) snapshot.programs[0].module.reset();
  EXPECT_THAT(page(), HasSubstr("<code>all-reduce.3</code> (4 cores)</li>"));
}

TEST(MapTest, TheLegendLeavesOutSparseCoresThatNoChipShows) {
  Capture capture = FrozenJob(1, 4);
  Core sparse = SnapshotOf(capture, 0, 0).cores[0];
  sparse.type = CoreType::kSparseCore;
  sparse.sequencers[0].hlo.reset();
  sparse.sequencers[0].pc = 0x240;
  SnapshotOf(capture, 0, 0).cores.push_back(sparse);
  Verdict verdict;
  const auto page = [&] { return RenderHtml(BuildReport(capture, verdict, {})); };
  EXPECT_THAT(page(), Not(HasSubstr("pc 0x240</code> (1 core)</li>")));
  // Its chip's TensorCore runs nothing: the chip has the colour of the SparseCore.
  Core& tensor = SnapshotOf(capture, 0, 0).cores[0];
  tensor.sequencers[0] = Sequencer{};
  tensor.sequencers[0].type = SequencerType::kTensorCoreSequencer;
  tensor.sequencers[0].pc = 0;
  EXPECT_THAT(page(), HasSubstr("pc 0x240</code> (1 core)</li>"));
}

TEST(MapTest, ASliceTellsItsSparseCoresApartAndLast) {
  Capture capture = FrozenJob(1, 2);
  for (Snapshot& snapshot : capture.snapshots) {
    Core sparse = snapshot.cores[0];
    sparse.type = CoreType::kSparseCore;
    sparse.sequencers[0].hlo.reset();
    sparse.sequencers[0].pc = 0x240;
    for (int i = 0; i < 6; ++i) {
      sparse.index = i;
      snapshot.cores.push_back(sparse);
    }
  }
  EXPECT_THAT(RenderHtml(BuildReport(capture, Verdict(), {})),
              HasSubstr("2 hosts; 8 cores at <code>all-reduce.3</code>, 12 SparseCores at <code>pc "
                        "0x240</code>"));
}

TEST(MapTest, AHostWithoutCoresSaysHowItsProcessEnded) {
  Capture capture = FrozenJob(1, 4);
  Verdict verdict;
  verdict.cause = Cause::kUnrecoverableError;
  verdict.detail = Detail::kProcessExit;
  Culprit& culprit = verdict.culprits.emplace_back();
  culprit.worker = {0, 1};
  culprit.host = "tpu-0-1";
  Snapshot& snapshot = SnapshotOf(capture, 0, 1);
  snapshot.processes.emplace_back().exit_code = 1;
  const auto page = [&] { return RenderHtml(BuildReport(capture, verdict, {})); };
  EXPECT_THAT(page(), Not(HasSubstr("<span>exited with status 1</span>")));  // its chips say more
  snapshot.cores.clear();
  EXPECT_THAT(page(), HasSubstr("task 1</span> <span>exited with status 1</span>"));
}

TEST(WhyTest, NothingIsRedInAJobThatDoesNotHang) {
  Verdict verdict;
  verdict.cause = Cause::kNoHang;
  verdict.detail = Detail::kRunning;
  verdict.evidence = {{"a direct sign", Strength::kDirect, {}}};
  const auto page = [&] { return RenderHtml(BuildReport(FrozenJob(1, 2), verdict, {})); };
  EXPECT_THAT(page(), AllOf(HasSubstr("<span class=\"pill green\">direct</span>"),
                            Not(HasSubstr("class=\"pill red\""))));
  verdict.cause = Cause::kUnknown;
  EXPECT_THAT(page(), HasSubstr("<span class=\"pill red\">direct</span>"));
}

TEST(HloTest, MarksTheTokensThatDiffer) {
  const ExampleCase example = ExampleCases().front();
  Report report = BuildReport(example.capture, example.verdict, {});
  HloComparison& comparison = report.hlo_comparison.emplace();
  comparison.sides.resize(2);
  comparison.sides[0].instruction = "fusion.4 = f32[16,128] fusion(infeed.3)";
  comparison.sides[1].instruction = "fusion.2 = f32[8,128] fusion(infeed.3)";
  EXPECT_THAT(
      RenderHtml(report),
      AllOf(HasSubstr("<pre tabindex=\"0\"><mark>fusion.4</mark> = f32[<mark>16</mark>,128] "
                      "fusion(infeed.3)</pre>"),
            HasSubstr("<mark>fusion.2</mark> = f32[<mark>8</mark>,128]")));
  // Too long to be compared in the square of its length.
  comparison.sides[0].instruction = std::string(1000, '(');
  EXPECT_EQ(Unbalanced(RenderHtml(report)), "");
}

TEST(HtmlTest, MuchEvidenceIsFoldedAfterTheFirst) {
  Verdict verdict;
  verdict.cause = Cause::kBadTpuChip;
  for (int i = 0; i < 6; ++i)
    verdict.evidence.push_back({absl::StrCat("sign ", i), Strength::kStrong, {}});
  EXPECT_THAT(RenderHtml(BuildReport(FrozenJob(1, 4), verdict, {})),
              Not(HasSubstr(" more</summary>")));
  verdict.evidence.push_back({"one more", Strength::kWeak, {}});
  const std::string page = RenderHtml(BuildReport(FrozenJob(1, 4), verdict, {}));
  EXPECT_LT(page.find("<summary>1 more</summary>"), page.find("one more"));
}

TEST(HtmlTest, ThePageSaysByWhichReleaseItIs) {
  EXPECT_THAT(Page(ExampleCases().front()),
              HasSubstr(absl::StrCat("Written by rapideye ", Release(), ".")));
}

TEST(TimelineTest, InAJobThatRunsNothingStops) {
  const Capture capture = FrozenJob(2, 4);
  Verdict verdict;
  verdict.cause = Cause::kUnknown;
  EXPECT_THAT(RenderHtml(BuildReport(capture, verdict, {})), HasSubstr("class=\"stop\""));
  verdict.cause = Cause::kNoHang;
  EXPECT_THAT(RenderHtml(BuildReport(capture, verdict, {})),
              AllOf(Not(HasSubstr("class=\"stop\"")), Not(HasSubstr("a triangle"))));
}

TEST(HtmlTest, AHostWithoutAKnownCoreHasABoxThatSaysSo) {
  Capture capture = FrozenJob(1, 4);
  for (Snapshot& snapshot : capture.snapshots) snapshot.cores.clear();
  Verdict verdict;
  EXPECT_THAT(RenderHtml(BuildReport(capture, verdict, {})),
              HasSubstr("</i>no core is known</li>"));
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

TEST(HtmlTest, ASnapshotOnRequestIsCalledNoIncident) {
  ExampleCase example = ExampleCases().front();
  example.capture.header.trigger = "operator";
  const auto texts = [&example](const std::string& id) {
    ReportContext context;
    context.incident_id = id;
    const Report report = BuildReport(example.capture, example.verdict, context);
    return RenderHtml(report) + RenderText(report, TextFormat::kClassic);
  };
  EXPECT_THAT(texts(""), AllOf(HasSubstr(">Snapshot, no incident</span>"),
                               HasSubstr("Incident: none, this is a snapshot on request: offline-"),
                               Not(HasSubstr("rapideye show"))));
  EXPECT_THAT(texts("20261003T092420Z-1a2b3c4d"),
              AllOf(HasSubstr("Incident: 20261003T092420Z-1a2b3c4d"), Not(HasSubstr("napshot, no")),
                    HasSubstr("rapideye show 20261003T092420Z-1a2b3c4d")));
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
  WaitChain& chain = verdict.chain;
  chain.groups.resize(2);
  chain.groups[0].workers = {{1, 2}};
  chain.groups[1].workers = {{0, 0}};
  for (ChainGroup& group : chain.groups) {
    group.instruction = group.module = group.host_place = hostile;
    group.queue = {hostile};
  }
  chain.edges = {{0, 1, WaitEdgeKind::kDivergence}};
  LogEvent event;
  event.kind = LogKind::kOutOfMemory;
  event.text = hostile;
  event.age_ms = 60'000;
  snapshot.log_events = {event};
  snapshot.start_up.emplace().obstacles.emplace_back().subject = hostile;
  const std::string page = Page(example);

  EXPECT_EQ(Unbalanced(page), "");
  for (const char* tag : {"<script", "</script", "<img", "<style"}) {
    EXPECT_EQ(Count(page, tag), Count(harmless, tag)) << tag;
  }
  EXPECT_THAT(page, AllOf(Not(HasSubstr("\x1b")), Not(HasSubstr("\xFF")),
                          HasSubstr("&lt;/script&gt;&lt;script&gt;alert(1)")));
  EXPECT_THAT(MapOf(page)["workers"][6][2], HasSubstr("</script><script>alert(1)"));
}

TEST(HtmlTest, FourThousandHostsAreAPageUnderTwoMegabytesThatShowsTheCulprit) {
  ExampleCase example = ExampleCases().front();
  const Snapshot culprit = SnapshotOf(example.capture, 1, 2);
  example.capture = FrozenJob(64, 64);
  Snapshot& place = SnapshotOf(example.capture, 60, 7);
  place.cores = culprit.cores;
  example.verdict.culprits[0].worker = {60, 7};
  example.verdict.culprits[0].host = "tpu-60-7";
  const std::string page = Page(example);
  EXPECT_EQ(Unbalanced(page), "");
  EXPECT_LT(page.size(), 2'000'000u);
  // The other slices share a line; the culprit is readable without a script.
  EXPECT_THAT(page, AllOf(HasSubstr("<b>Slices 0-59,61-63</b>"),
                          HasSubstr("<li class=\"card\"><b>tpu-60-7</b>")));
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
