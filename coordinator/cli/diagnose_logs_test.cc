// rapideye diagnose on the logs of a job, as a shell would run it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "tests/support/run_program.h"

namespace rapideye::cli {
namespace {

using nlohmann::ordered_json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr char kCapture[] =
    R"({"header":{"version":1,"job":"llama","expectedWorkers":[{"slice":0,"task":0,"host":"h0"},{"slice":1,"task":0,"host":"h1"}],"detectedUnixMs":1795348810000}}
{"snapshot":{"worker":{"slice":0,"task":0},"host":"h0","runtime":{"state":"SERVING"}}}
)";
constexpr char kSteps[] =
    "2026-11-22 12:00:00,000 INFO root: completed step: 1\n"
    "2026-11-22 12:00:01,000 INFO root: completed step: 2\n"
    "2026-11-22 12:00:02,000 INFO root: completed step: 3\n";
constexpr char kRaised[] =
    "2026-11-22 12:00:03,000 ERROR root: failed\n"
    "Traceback (most recent call last):\n"
    "  File \"/job/train.py\", line 181, in <module>\n"
    "ValueError: loss is not finite\n";

std::string Compressed(const std::string& name, const std::string& content) {
  std::string path = TempPath(name);
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
  return path;
}

std::string Entry(int pod, const std::string& time, const std::string& text) {
  return ordered_json{
      {"timestamp", time},
      {"textPayload", text},
      {"resource", {{"labels", {{"pod_name", "train-slice-0-" + std::to_string(pod) + "-x2k2q"}}}}}}
      .dump();
}

ordered_json Only(const Result& result) {
  EXPECT_EQ(result.exit_status, 0) << result.err;
  const auto objects = JsonLines(result.out);
  EXPECT_THAT(objects, SizeIs(1));
  return objects.empty() ? ordered_json() : objects[0];
}

std::vector<int> Ranks(const ordered_json& verdict) {
  std::vector<int> ranks;
  for (const auto& culprit : verdict["culprits"]) ranks.push_back(culprit["rank"].get<int>());
  return ranks;
}

TEST(DiagnoseLogsTest, AllLogsAreOneJobAndOneObject) {
  const std::string a = File("rank-0.log", kSteps);
  const std::string b = Compressed("rank-1.log.gz", std::string(kSteps) + kRaised);
  const ordered_json verdict = Only(Rapideye({"diagnose", a, b}));
  EXPECT_EQ(verdict.begin().key(), "logs");
  EXPECT_EQ(verdict["logs"], ordered_json({a, b}));
  EXPECT_FALSE(verdict.contains("capture"));
  EXPECT_EQ(verdict["detail"], "PROCESS_EXIT");
  EXPECT_THAT(Ranks(verdict), ElementsAre(1));
  EXPECT_EQ(verdict["culprits"][0]["slice"], 0);
  EXPECT_EQ(verdict["culprits"][0]["task"], 1);
  EXPECT_THAT(verdict["lacking"].dump(), HasSubstr("rapideye-agent"));
  // The order of the files changes nothing.
  const ordered_json turned = Only(Rapideye({"diagnose", b, a}));
  EXPECT_EQ(turned["incidentId"], verdict["incidentId"]);
  EXPECT_THAT(Rapideye({"diagnose", "--format=text", a, b}).out,
              AllOf(StartsWith("Some workers have halted"), HasSubstr("rapideye-agent")));
  EXPECT_THAT(Rapideye({"diagnose", "--format=html", a, b}).out, StartsWith("<!DOCTYPE html>"));
}

TEST(DiagnoseLogsTest, ContentDecidesWhatAFileIs) {
  // A capture counts as a capture whatever its name, also if it is broken.
  const std::string capture = File("capture.log", kCapture);
  EXPECT_EQ(Only(Rapideye({"diagnose", capture}))["capture"], capture);
  const std::string broken = File("broken.log", "{\"header\": 7}\n2026-11-22 12:00:00,000 x\n");
  EXPECT_THAT(Rapideye({"diagnose", broken}).err, HasSubstr("broken.log: line 1: "));
  const std::string nothing[] = {File("empty.log", ""), File("none.json", "[]"),
                                 File("prose.txt", "Once upon a time\nthere was a job.\n"),
                                 File("binary.log", std::string(4096, '\0') + "\xff\xfe\x01"),
                                 TempPath("absent.log")};
  for (const std::string& path : nothing) {
    const Result result = Rapideye({"diagnose", path});
    EXPECT_EQ(result.exit_status, 2) << path;
    EXPECT_THAT(result.err, HasSubstr(path));
    EXPECT_THAT(result.out, IsEmpty());
  }
  // A log of numbers alone is known by the names of its peers; prose is never taken for a log.
  const std::string log = File("numbers-0.log", kSteps);
  const std::string numbers = File("numbers-1.log", "16\n8\n");
  EXPECT_EQ(Only(Rapideye({"diagnose", log, numbers}))["logs"], ordered_json({log, numbers}));
  EXPECT_EQ(Rapideye({"diagnose", log, nothing[2]}).exit_status, 2);
  EXPECT_EQ(Rapideye({"diagnose", log, nothing[0]}).exit_status, 2);
  // So is the log of a worker that has said nothing.
  const std::string silent = File("numbers-2.log", "");
  const ordered_json said = Only(Rapideye({"diagnose", log, silent, numbers}));
  EXPECT_EQ(said["logs"], ordered_json({log, silent, numbers}));
  EXPECT_EQ(said["workers"]["expected"], 3);
  EXPECT_EQ(said["workers"]["reported"], 2);
  const std::string worker = File("mnist-worker-0.log", kSteps);
  const std::string master = File("mnist-master-0.log", "16\n8\n");
  EXPECT_EQ(Only(Rapideye({"diagnose", worker, master}))["logs"], ordered_json({worker, master}));
  EXPECT_EQ(Rapideye({"diagnose", numbers}).exit_status, 2);
}

TEST(DiagnoseLogsTest, ReadsExportsInEitherOrderAndForm) {
  std::vector<std::string> entries;
  for (int step = 1; step < 5; ++step) {
    const std::string time = "2026-11-22T12:00:0" + std::to_string(step) + ".5Z";
    for (int pod = 0; pod < 3; ++pod) {
      entries.push_back(Entry(pod, time, "completed step: " + std::to_string(step)));
    }
  }
  entries.push_back(Entry(1, "2026-11-22T12:00:06Z", kRaised));
  std::string lines;
  std::string array;
  for (const std::string& entry : entries) {
    lines += entry + "\n";
    array = entry + (array.empty() ? "" : ",\n") + array;  // newest first
  }
  for (const std::string& path :
       {File("lines.json", lines), File("array.json", "[\n" + array + "\n]\n")}) {
    const ordered_json verdict = Only(Rapideye({"diagnose", path}));
    EXPECT_EQ(verdict["detail"], "PROCESS_EXIT");
    EXPECT_THAT(Ranks(verdict), ElementsAre(1));
    EXPECT_EQ(verdict["culprits"][0]["host"], "train-slice-0-1-x2k2q");
  }
}

// A job of three, of which one raises, in one file, a line as `write` makes it of each.
std::string InOneFile(
    absl::FunctionRef<std::string(int rank, int second, const std::string& text)> write) {
  std::string file;
  const auto add = [&](int rank, int second, const std::string& text) {
    file += write(rank, second, text) + "\n";
  };
  for (int step = 1; step <= 3; ++step) {
    for (int rank = 0; rank < 3; ++rank) add(rank, step, absl::StrCat("completed step: ", step));
  }
  add(1, 4, "Traceback (most recent call last):");
  add(1, 4, "  File \"/job/train.py\", line 181, in <module>");
  add(1, 4, "ValueError: loss is not finite");
  add(0, 9, "Barrier timed out. Id: save::1. Timed out task names: /job:jax_worker/task:1");
  return file;
}

std::string Iso(int second) { return absl::StrCat("2026-11-22T12:00:0", second, "Z"); }
std::string Pod(int rank) { return absl::StrCat("train-0-", rank); }

void ExpectTheOneThatRaised(const std::vector<std::string>& files) {
  for (const std::string& content : files) {
    const ordered_json verdict = Only(Rapideye({"diagnose", File("shared.log", content)}));
    EXPECT_EQ(verdict["detail"], "PROCESS_EXIT") << content;
    EXPECT_THAT(Ranks(verdict), ElementsAre(1)) << content;
  }
}

TEST(DiagnoseLogsTest, ReadsWhatCollectorsOfLogsWrite) {
  constexpr int64_t kStart = 1'795'348'800;
  ExpectTheOneThatRaised({
      // Fluent Bit, Filebeat, Loki in two forms, journald, Vertex AI, Vector.
      InOneFile([](int rank, int second, const std::string& text) {
        return ordered_json{
            {"log", text + "\n"}, {"time", Iso(second)}, {"kubernetes", {{"pod_name", Pod(rank)}}}}
            .dump();
      }),
      InOneFile([](int rank, int second, const std::string& text) {
        return ordered_json{{"@timestamp", Iso(second)},
                            {"kubernetes", {{"pod", {{"name", Pod(rank)}}}}},
                            {"message", text}}
            .dump();
      }),
      InOneFile([](int rank, int second, const std::string& text) {
        return ordered_json{
            {"labels", {{"pod", Pod(rank)}}}, {"line", text}, {"timestamp", Iso(second)}}
            .dump();
      }),
      InOneFile([](int rank, int second, const std::string& text) {
        return ordered_json{{"date", absl::StrCat((kStart + second) * 1'000'000'000)},
                            {"stream", {{"pod", Pod(rank)}}},
                            {"line", text}}
            .dump();
      }),
      InOneFile([](int rank, int second, const std::string& text) {
        return ordered_json{{"__REALTIME_TIMESTAMP", absl::StrCat((kStart + second) * 1'000'000)},
                            {"_HOSTNAME", absl::StrCat("tpu-", rank)},
                            {"MESSAGE", text}}
            .dump();
      }),
      InOneFile([](int rank, int second, const std::string& text) {
        return ordered_json{
            {"textPayload", text},
            {"timestamp", Iso(second)},
            {"resource", {{"labels", {{"task_name", absl::StrCat("workerpool0-", rank)}}}}}}
            .dump();
      }),
      InOneFile([](int rank, int second, const std::string& text) {
        return ordered_json{{"host", absl::StrCat("node-", rank)},
                            {"message", text},
                            {"ts", static_cast<double>(kStart + second)}}
            .dump();
      }),
      // Programs that log JSON: the rank as a number, beside lines of a launcher, or as text.
      InOneFile([](int rank, int second, const std::string& text) {
        const ordered_json launcher = {{"ts", Iso(second)}, {"message", "3 processes run"}};
        const ordered_json line = {{"ts", Iso(second)}, {"rank", rank}, {"message", text}};
        return absl::StrCat(launcher.dump(), "\n", line.dump());
      }),
      InOneFile([](int rank, int second, const std::string& text) {
        return ordered_json{
            {"timestamp", Iso(second)},
            {"jsonPayload", {{"process_index", absl::StrCat(rank)}, {"message", text}}}}
            .dump();
      }),
  });
}

// Two bytes for each of these characters, with the mark of their order before the first.
std::string InUtf16(const std::string& text, bool little) {
  std::string bytes = little ? "\xff\xfe" : "\xfe\xff";
  for (const char c : text) bytes += little ? std::string{c, '\0'} : std::string{'\0', c};
  return bytes;
}

TEST(DiagnoseLogsTest, ReadsTheUtf16OfPowerShell) {
  // Longer than what is read at once.
  std::string many = kSteps;
  while (many.size() < 300'000) many.insert(0, "2026-11-22 11:59:59,000 INFO root: loading\n");
  for (const bool little : {true, false}) {
    const auto file = [little](int rank, const std::string& text) {
      return File(absl::StrCat("utf16-", rank, ".log"), InUtf16(text, little));
    };
    const ordered_json verdict =
        Only(Rapideye({"diagnose", file(0, many), file(1, many + kRaised), file(2, many)}));
    EXPECT_EQ(verdict["cause"], "UNRECOVERABLE_ERROR");
    EXPECT_THAT(Ranks(verdict), ElementsAre(1));
  }
}

TEST(DiagnoseLogsTest, SaysHowAFileIsCompressed) {
  const Result result = Rapideye({"diagnose", File("log.xz",
                                                   "\xfd"
                                                   "7zXZ\x1a\x1b")});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_THAT(result.err, HasSubstr("log.xz: is compressed with xz: unpack it first"));
}

TEST(DiagnoseLogsTest, TheOnlyHostOfAFileSaysLessThanItsName) {
  const auto file = [](int rank, const std::string& text) {
    return File(absl::StrCat("host-of-rank-", rank, ".log"),
                ordered_json{{"host", absl::StrCat("node-", 17 + rank)}, {"message", text}}.dump());
  };
  const ordered_json verdict = Only(
      Rapideye({"diagnose", file(0, "RuntimeError: Connection closed by peer"), file(1, kRaised)}));
  EXPECT_THAT(Ranks(verdict), ElementsAre(1));
}

TEST(DiagnoseLogsTest, ReadsWhatLaunchersAndJournalsWrite) {
  ExpectTheOneThatRaised({
      // SkyPilot, kubetail, Docker Compose, stern, a journal of several hosts, pdsh.
      InOneFile([](int rank, int, const std::string& text) {
        const std::string node = rank == 0 ? "head" : absl::StrCat("worker", rank);
        return absl::StrCat("(", node, ", rank=", rank, ", pid=2134) ", text);
      }),
      InOneFile([](int rank, int, const std::string& text) {
        return absl::StrCat("[", Pod(rank), "-x2k2q jax] ", text);
      }),
      InOneFile([](int rank, int, const std::string& text) {
        return absl::StrCat("worker-", rank, "  | ", text);
      }),
      InOneFile([](int rank, int second, const std::string& text) {
        return absl::StrCat(Pod(rank), " jax ", Iso(second), " ", text);
      }),
      InOneFile([](int rank, int second, const std::string& text) {
        return absl::StrCat("Nov 22 12:00:0", second, " tpu-", rank, " python3[41]: ", text);
      }),
      InOneFile([](int rank, int, const std::string& text) {
        return absl::StrCat("node", rank, ": ", text);
      }),
  });
}

// A field in quotes.
std::string Quoted(const std::string& text) {
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

TEST(DiagnoseLogsTest, ReadsTheTablesOfLogServices) {
  // Cloud Logging; CloudWatch; Datadog, newest first and with line breaks within a message.
  ExpectTheOneThatRaised({
      "\xef\xbb\xbf\"timestamp\",insertId,\"resource.labels.pod_name\",textPayload\r\n" +
          InOneFile([](int rank, int second, const std::string& text) {
            return absl::StrCat(Iso(second), ",x,", Pod(rank), ",", Quoted(text), "\r");
          }),
      "@timestamp,@message,@logStream\n" +
          InOneFile([](int rank, int second, const std::string& text) {
            return absl::StrCat(Iso(second), ",", Quoted(text), ",train/worker-", rank, "/0ab1");
          }),
      absl::StrCat("Date,Host,Message\n", Iso(9), ",node0,Connection closed by peer\n", Iso(4),
                   ",node1,", Quoted(std::string(kRaised)), "\n", Iso(1),
                   ",node1,completed step: 1\n", Iso(1), ",node0,completed step: 1"),
  });
  const Result cut =
      Rapideye({"diagnose", File("cut.csv", "timestamp,message\n2026-11-22T12:00:00Z,\"cut")});
  EXPECT_EQ(cut.exit_status, 2);
  EXPECT_THAT(cut.err, AllOf(HasSubstr("cut.csv"), HasSubstr("row 2")));
  EXPECT_EQ(Rapideye({"diagnose", File("empty.csv", "timestamp,message\n")}).exit_status, 2);
  // A table of something else is no export.
  EXPECT_EQ(Rapideye({"diagnose", File("loss.csv", "step,loss\n1,2.3\n")}).exit_status, 2);
}

TEST(DiagnoseLogsTest, ReadsTheLogsThatSomebodyHasPutIntoOneFile) {
  for (const char* heading :
       {"==> logs/rank-$.log <==", "=== rank $ ===", "Pod train-0-$-x2k2q:"}) {
    std::string content;
    for (int rank = 0; rank < 3; ++rank) {
      std::string name = heading;
      name.replace(name.find('$'), 1, std::to_string(rank));
      content += name + "\n" + kSteps + (rank == 1 ? kRaised : "") + "\n";
    }
    const ordered_json verdict = Only(Rapideye({"diagnose", File("pasted.txt", content)}));
    EXPECT_EQ(verdict["detail"], "PROCESS_EXIT") << content;
    EXPECT_THAT(Ranks(verdict), ElementsAre(1)) << content;
    EXPECT_EQ(verdict["workers"]["expected"], 3) << content;
  }
}

TEST(DiagnoseLogsTest, ABrokenLogLeavesTheJobWithoutVerdict) {
  const std::string good = File("rank-0.log", kSteps);
  std::string cut = Slurp(Compressed("whole.gz", std::string(kSteps) + kRaised));
  cut.resize(cut.size() - 9);
  for (const std::string& path :
       {File("rank-1.log.gz", cut), File("cut.json", "[" + Entry(1, "2026-11-22T12:00:00Z", "x")),
        File("no.json", Entry(1, "2026-11-22T12:00:00Z", "x") + "\nx")}) {
    const Result result = Rapideye({"diagnose", good, path});
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr(path), Not(HasSubstr(good))));
    EXPECT_THAT(result.out, IsEmpty());
  }
}

TEST(DiagnoseLogsTest, LogsJoinOneCaptureAndNoMore) {
  const std::string capture = File("capture.jsonl", kCapture);
  const std::string log = File("rank-1.log", std::string(kSteps) + kRaised);
  const ordered_json verdict = Only(Rapideye({"diagnose", log, capture}));
  EXPECT_EQ(verdict["capture"], capture);
  EXPECT_EQ(verdict["logs"], ordered_json({log}));
  EXPECT_EQ(verdict["detail"], "PROCESS_EXIT");
  // Rank 1 of the job is the first worker of the second slice.
  EXPECT_EQ(verdict["culprits"][0]["slice"], 1);
  EXPECT_EQ(verdict["culprits"][0]["host"], "h1");
  const Result several = Rapideye({"diagnose", capture, capture, log});
  EXPECT_EQ(several.exit_status, 2);
  EXPECT_THAT(several.err, HasSubstr("several captures"));
  const Result stranger = Rapideye({"diagnose", capture, File("rank-7.log", kRaised)});
  EXPECT_EQ(stranger.exit_status, 2);
  EXPECT_THAT(stranger.err, HasSubstr("no worker of the capture"));
}

TEST(DiagnoseLogsTest, StandardInputIsAFileLikeAnyOther) {
  const auto diagnose = [](std::vector<std::string> args, const std::string& input) {
    args.insert(args.begin(), "diagnose");
    return Rapideye(args, /*stdout_fd=*/-1, input);
  };
  const std::string capture = File("capture.jsonl", kCapture);
  const std::string raised = std::string(kSteps) + kRaised;
  const std::string log = File("rank-1.log", raised);
  EXPECT_EQ(Only(diagnose({"-"}, capture))["capture"], "-");
  // The file's name tells no rank, so a label has to.
  const std::string labelled = Compressed(
      "labels.gz", "0: " + std::string(kSteps, 0, 53) + "1: " + std::string(kSteps, 53, 53));
  const ordered_json of_logs = Only(diagnose({log, "-"}, labelled));
  EXPECT_EQ(of_logs["logs"], ordered_json({log, "-"}));
  EXPECT_EQ(of_logs["detail"], "PROCESS_EXIT");
  const ordered_json joined = Only(diagnose({log, "-"}, capture));
  EXPECT_EQ(joined["capture"], "-");
  EXPECT_EQ(joined["logs"], ordered_json({log}));
  EXPECT_EQ(joined["culprits"][0]["host"], "h1");
  // Standard input gives the file's verdict; text of several captures names each capture.
  ordered_json of_input = Only(diagnose({"-"}, log));
  ordered_json of_file = Only(diagnose({log}, "/dev/null"));
  EXPECT_EQ(of_input["logs"], ordered_json({"-"}));
  EXPECT_EQ(of_input["detail"], of_file["detail"]);
  EXPECT_THAT(diagnose({"--format=text", capture, "-"}, capture).out, HasSubstr("==> - <=="));
}

TEST(DiagnoseLogsTest, StandardInputThatIsNoneIsNamed) {
  const std::string log = File("rank-0.log", kSteps);
  const std::string broken = File("broken.jsonl", "{\"header\": 7}\n");
  const std::string prose = File("prose.txt", "Once upon a time\nthere was a job.\n");
  for (const std::string& input : {std::string("/dev/null"), std::string("/"), broken, prose}) {
    const Result result = Rapideye({"diagnose", log, "-"}, /*stdout_fd=*/-1, input);
    EXPECT_EQ(result.exit_status, 2) << input;
    EXPECT_THAT(result.err, StartsWith("rapideye: -: ")) << input;
    EXPECT_THAT(result.out, IsEmpty()) << input;
  }
  const Result twice = Rapideye({"diagnose", "-", "-"}, /*stdout_fd=*/-1, log);
  EXPECT_EQ(twice.exit_status, 2);
  EXPECT_THAT(twice.err, HasSubstr("once only"));
  EXPECT_THAT(twice.out, IsEmpty());
}

TEST(DiagnoseLogsTest, APatternSaysWhoseALogIs) {
  const std::string a = File("box-a5.txt", kSteps);
  const std::string b = File("box-a6.txt", std::string(kSteps) + kRaised);
  EXPECT_THAT(Ranks(Only(Rapideye({"diagnose", "--worker-from=box-a(\\d+)", a, b}))),
              ElementsAre(6));
  const ordered_json named = Only(Rapideye(
      {"diagnose", "--worker-from=box-a(?P<slice>5|6).*t(?P<task>)|box-a(?P<rank>\\d)", a, b}));
  EXPECT_THAT(Ranks(named), ElementsAre(6));
  for (const char* wrong : {"--worker-from=box", "--worker-from=(", "--worker-from=(a)(b)"}) {
    const Result result = Rapideye({"diagnose", wrong, a, b});
    EXPECT_EQ(result.exit_status, 2) << wrong;
    EXPECT_THAT(result.err, HasSubstr("--worker-from"));
    EXPECT_THAT(result.out, IsEmpty());
  }
}

}  // namespace
}  // namespace rapideye::cli
