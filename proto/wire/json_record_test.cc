// Tests of the fields and values that one line of a JSON capture may and may not hold.
#include "proto/wire/json_record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "proto/wire/limits.h"

namespace rapideye::wire {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

absl::StatusOr<v1::CaptureRecord> Read(const std::string& line) {
  std::istringstream stream(line);
  ByteSource in(MakePlainReader(stream), kMaxCaptureBytes);
  RecordBudget budget;
  v1::CaptureRecord record;
  absl::Status status = ReadJsonRecord(in, budget, record);
  if (!status.ok()) return status;
  return record;
}

std::string ErrorOf(const std::string& line) {
  absl::StatusOr<v1::CaptureRecord> record = Read(line);
  if (record.ok()) return "accepted";
  EXPECT_EQ(record.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(record.status().message());
}

// Lines of a snapshot with these fields, and of one core with these.
std::string Snapshot(absl::string_view fields) {
  return absl::StrCat(R"({"snapshot":{)", fields, "}}");
}
std::string Core(absl::string_view fields) {
  return Snapshot(absl::StrCat(R"("cores":[{},{)", fields, "}]"));
}

TEST(JsonRecordTest, ReadsEveryKindOfField) {
  absl::StatusOr<v1::CaptureRecord> record = Read(Snapshot(
      R"("worker":{"slice":1,"task":2},"host":"h\u00e9\n","capturedUnixMs":1790086325563,)"
      R"("runtime":{"state":"TIMED_OUT"},"nics":[{"name":"eth0","up":true,"rxErrors":"12"}],)"
      R"("cores":[{"sequencers":[{"pc":-9223372036854775808,"tag":9223372036854775807}]}],)"
      R"("stacks":[{"thread":"main","frames":["a","b"]}])"));
  ASSERT_TRUE(record.ok()) << record.status();
  const v1::Snapshot& snapshot = record->snapshot();
  EXPECT_EQ(snapshot.worker().slice(), 1);
  EXPECT_EQ(snapshot.host(), "hé\n");
  EXPECT_EQ(snapshot.captured_unix_ms(), 1790086325563);
  EXPECT_EQ(snapshot.runtime().state(), v1::RuntimeHealth::TIMED_OUT);
  EXPECT_TRUE(snapshot.nics(0).up());
  EXPECT_EQ(snapshot.nics(0).rx_errors(), 12);
  EXPECT_EQ(snapshot.cores(0).sequencers(0).pc(), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(snapshot.cores(0).sequencers(0).tag(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(snapshot.stacks(0).frames(1), "b");
}

TEST(JsonRecordTest, ReadsListsOfNumbers) {
  const auto line = [](const std::string& tasks) {
    return Snapshot(absl::StrCat(R"("logEvents":[{"peerTasks":)", tasks, "}]"));
  };
  absl::StatusOr<v1::CaptureRecord> record = Read(line("[3,-1]"));
  ASSERT_TRUE(record.ok()) << record.status();
  ASSERT_EQ(record->snapshot().log_events(0).peer_tasks_size(), 2);
  EXPECT_EQ(record->snapshot().log_events(0).peer_tasks(1), -1);
  EXPECT_EQ(ErrorOf(line("3")), "snapshot.logEvents[0].peerTasks: expected a list, found a number");
  EXPECT_EQ(ErrorOf(line("[\"3\"]")),
            "snapshot.logEvents[0].peerTasks[0]: expected an integer, found a string");
  EXPECT_EQ(ErrorOf(line("[1,4294967296]")),
            "snapshot.logEvents[0].peerTasks[1]: 4294967296 is out of range");
}

TEST(JsonRecordTest, AbsentIsNotZero) {
  absl::StatusOr<v1::CaptureRecord> record = Read(Core(R"("chip":0,"launchId":null)"));
  ASSERT_TRUE(record.ok()) << record.status();
  EXPECT_TRUE(record->snapshot().cores(1).has_chip());
  EXPECT_FALSE(record->snapshot().cores(1).has_launch_id());
  EXPECT_FALSE(record->snapshot().cores(0).has_chip());
}

struct Case {
  const char* name;
  std::string rejected;
  std::string error;
  std::string accepted;
};
void PrintTo(const Case& c, std::ostream* out) { *out << c.rejected; }

class JsonRecordRuleTest : public testing::TestWithParam<Case> {};

TEST_P(JsonRecordRuleTest, RejectsWithThePathAndAcceptsTheTwin) {
  EXPECT_EQ(ErrorOf(GetParam().rejected), GetParam().error);
  EXPECT_EQ(ErrorOf(GetParam().accepted), "accepted");
}

const Case kTypes[] = {
    {"StringForInt", Core(R"("chip":"0")"),
     "snapshot.cores[1].chip: expected an integer, found a string", Core(R"("chip":0)")},
    {"WordsForInt64", Core(R"("stuckMs":"soon")"),
     "snapshot.cores[1].stuckMs: expected an integer, found the string 'soon'",
     Core(R"("stuckMs":"65000")")},
    {"BlankInInt64", Core(R"("stuckMs":" 1")"),
     "snapshot.cores[1].stuckMs: expected an integer, found the string ' 1'",
     Core(R"("stuckMs":"-1")")},
    {"LeadingZero", Core(R"("stuckMs":"01")"),
     "snapshot.cores[1].stuckMs: expected an integer, found the string '01'",
     Core(R"("stuckMs":"0")")},
    {"Int64StringTooLarge", Core(R"("stuckMs":"9223372036854775808")"),
     "snapshot.cores[1].stuckMs: expected an integer, found the string '9223372036854775808'",
     Core(R"("stuckMs":"9223372036854775807")")},
    {"Int64TooLarge", Core(R"("stuckMs":9223372036854775808)"),
     "snapshot.cores[1].stuckMs: 9223372036854775808 is out of range",
     Core(R"("stuckMs":9223372036854775807)")},
    {"Int32TooLarge", Core(R"("launchId":2147483648)"),
     "snapshot.cores[1].launchId: 2147483648 is out of range", Core(R"("launchId":2147483647)")},
    {"Int32TooSmall", Core(R"("launchId":-2147483649)"),
     "snapshot.cores[1].launchId: -2147483649 is out of range", Core(R"("launchId":-2147483648)")},
    {"Fraction", Core(R"("chip":1.5)"),
     "snapshot.cores[1].chip: expected an integer, found the number '1.5'", Core(R"("chip":1)")},
    {"WholeFraction", Core(R"("chip":1.0)"),
     "snapshot.cores[1].chip: expected an integer, found the number '1.0'",
     Core(R"("unknown":1.0)")},
    {"Exponent", Core(R"("stuckMs":1e3)"),
     "snapshot.cores[1].stuckMs: expected an integer, found the number '1e3'",
     Core(R"("stuckMs":1000)")},
    {"BoolForInt", Core(R"("chip":true)"),
     "snapshot.cores[1].chip: expected an integer, found a boolean", Core(R"("chip":1)")},
    {"IntForBool", Snapshot(R"("nics":[{"up":1}])"),
     "snapshot.nics[0].up: expected true or false, found a number",
     Snapshot(R"("nics":[{"up":false}])")},
    {"IntForString", Snapshot(R"("host":5)"), "snapshot.host: expected a string, found a number",
     Snapshot(R"("host":"5")")},
    {"ObjectForString", Snapshot(R"("host":{})"),
     "snapshot.host: expected a string, found an object", Snapshot(R"("host":"")")},
    {"ListForObject", Snapshot(R"("worker":[])"),
     "snapshot.worker: expected an object, found a list", Snapshot(R"("worker":{})")},
    {"ObjectForList", Snapshot(R"("cores":{})"), "snapshot.cores: expected a list, found an object",
     Snapshot(R"("cores":[])")},
    {"NumberForList", Snapshot(R"("cores":3)"), "snapshot.cores: expected a list, found a number",
     Snapshot(R"("cores":null)")},
    {"NullInList", Snapshot(R"("cores":[{},null])"),
     "snapshot.cores[1]: expected an object, found null", Snapshot(R"("cores":[{},{}])")},
    {"ListInList", Snapshot(R"("cores":[[]])"),
     "snapshot.cores[0]: expected an object, found a list", Snapshot(R"("cores":[{}])")},
    {"NumberInStrings", Snapshot(R"("stacks":[{"frames":["f",1]}])"),
     "snapshot.stacks[0].frames[1]: expected a string, found a number",
     Snapshot(R"("stacks":[{"frames":["f","1"]}])")},
    {"BoolForEnum", Core(R"("type":true)"),
     "snapshot.cores[1].type: expected a name, found a boolean", Core(R"("type":"SPARSE_CORE")")},
    {"FractionForEnum", Core(R"("type":1.5)"),
     "snapshot.cores[1].type: expected a name, found the number '1.5'", Core(R"("type":1)")},
};
INSTANTIATE_TEST_SUITE_P(Types, JsonRecordRuleTest, testing::ValuesIn(kTypes),
                         [](const auto& info) { return std::string(info.param.name); });

const Case kStructure[] = {
    {"KeyTwice", Core(R"("chip":1,"chip":1)"), "snapshot.cores[1].chip: the key stands here twice",
     Core(R"("chip":1,"chipId":1)")},
    {"NullKeyTwice", Core(R"("chip":null,"chip":1)"),
     "snapshot.cores[1].chip: the key stands here twice", Core(R"("chip":null)")},
    {"UnknownKeyTwice", Core(R"("new":1,"new":2)"),
     "snapshot.cores[1]: the key 'new' stands here twice", Core(R"("new":1,"newer":2)")},
    {"TwoRecords", R"({"header":{},"snapshot":{}})",
     "snapshot: stands beside another record in the same line", R"({"header":{},"other":{}})"},
    {"NoRecord", R"({"other":{}})", "holds neither of the keys 'header' and 'snapshot'",
     R"({"snapshot":{}})"},
    {"NullRecord", R"({"header":null})", "holds neither of the keys 'header' and 'snapshot'",
     R"({"header":{}})"},
    {"NotAnObject", R"(["snapshot"])", "expected an object, found a list", R"({"snapshot":{}})"},
    {"JustANumber", "7", "expected an object, found a number", R"({"snapshot":{}})"},
    {"JustNull", "null", "expected an object, found null", R"({"header":{}})"},
    {"ByteOrderMark", "\xEF\xBB\xBF{\"header\":{}}", "does not begin with '{'",
     " {\"header\":{}} "},
    {"Nul", std::string("{\"header\":{}}\0rest", 18), "a NUL byte after 13 bytes",
     R"({"header":{"job":"\u0000"}})"},
};
INSTANTIATE_TEST_SUITE_P(Structure, JsonRecordRuleTest, testing::ValuesIn(kStructure),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(JsonRecordTest, WhatIsNotStrictJsonNamesTheByte) {
  for (const char* line : {R"({"header":{})",
                           R"({"header":{}}x)",
                           R"({"header":{}}{"header":{}})",
                           R"({"header":})",
                           R"({header:{}})",
                           R"({'header':{}})",
                           R"({"header":{"version":NaN}})",
                           R"({"header":{"version":Infinity}})",
                           R"({"header":{"version":01}})",
                           R"({"header":{"version":+1}})",
                           R"({"header":{"version":1,}})",
                           R"({"header":{}} // why)",
                           R"({"header":{"job":"\x41"}})",
                           R"({"header":{"job":"\ud800"}})",
                           "{\"header\":{\"job\":\"\t\"}}",
                           "{\"header\":{\"job\":\"\xFF\"}}",
                           "{\"header\":{\"job\":\"\xED\xA0\x80\"}}",
                           "{\"header\":{\"job\":\"",
                           "hello",
                           "{",
                           "{}}",
                           R"({"new":{"a":NaN},"header":{}})"}) {
    EXPECT_THAT(ErrorOf(line), StartsWith("not strict JSON at byte ")) << line;
  }
  EXPECT_EQ(ErrorOf(R"({"header":{"version":1,"job":"\ud83d\ude00"}})"), "accepted");
}

TEST(JsonRecordTest, UnknownFieldsAreSkippedWhateverTheyHold) {
  EXPECT_EQ(ErrorOf(Core(R"("new":{"a":[1.5,null,{"b":[[]]}],"a":"twice"},"chip":1)")), "accepted");
  EXPECT_EQ(ErrorOf(R"({"header":{"expected_workers":7}})"), "accepted");  // not camelCase
}

TEST(JsonRecordTest, UnknownNamesOfEnumsCountAsNotReported) {
  for (const char* value : {"\"QUANTUM_CORE\"", "99", "-1", "99999999999"}) {
    absl::StatusOr<v1::CaptureRecord> record = Read(Core(absl::StrCat("\"type\":", value)));
    ASSERT_TRUE(record.ok()) << record.status();
    EXPECT_EQ(record->snapshot().cores(1).type(), v1::Core::TYPE_UNSPECIFIED);
  }
  EXPECT_EQ(Read(Core(R"("type":3)"))->snapshot().cores(1).type(), v1::Core::SPARSE_CORE);
}

std::string Nested(int depth, const std::string& open, const std::string& close) {
  std::string out = R"({"new":)";
  for (int i = 1; i < depth; ++i) out += open;
  out += "null";
  for (int i = 1; i < depth; ++i) out += close;
  return out + R"(,"header":{}})";
}

TEST(JsonRecordTest, NestingIsBounded) {
  EXPECT_EQ(ErrorOf(Nested(kMaxNesting, "[", "]")), "accepted");
  EXPECT_EQ(ErrorOf(Nested(kMaxNesting + 1, "[", "]")), "nested deeper than 32 levels");
  EXPECT_EQ(ErrorOf(Nested(kMaxNesting, "{\"a\":", "}")), "accepted");
  EXPECT_EQ(ErrorOf(Nested(100'000, "{\"a\":", "}")), "nested deeper than 32 levels");
  EXPECT_EQ(ErrorOf(std::string(100'000, '[')), "expected an object, found a list");
}

TEST(JsonRecordTest, LinesAreBounded) {
  const std::string begin = R"({"header":{},"new":")";
  const std::string end = "\"}";
  const std::string longest(kMaxRecordBytes - begin.size() - end.size(), 'x');
  EXPECT_EQ(ErrorOf(begin + longest + end), "accepted");
  EXPECT_EQ(ErrorOf(begin + longest + "x" + end), "longer than 67108864 bytes");
}

TEST(JsonRecordTest, MemoryIsBounded) {
  // Legal lines whose parsed form would be a hundred times their size.
  std::string objects = "{}";
  for (int i = 0; i < 1'000'000; ++i) objects += ",{}";
  EXPECT_THAT(ErrorOf(Snapshot(absl::StrCat(R"("logEvents":[)", objects, "]"))),
              AllOf(StartsWith("snapshot.logEvents["), EndsWith("bytes of memory")));
  std::string keys = "\"k\":0";
  for (int i = 0; i < 3'000'000; ++i) absl::StrAppend(&keys, ",\"", absl::Hex(i), "\":0");
  EXPECT_THAT(ErrorOf(Snapshot(keys)), HasSubstr("bytes of memory"));
  EXPECT_EQ(ErrorOf(Snapshot(R"("logEvents":[{},{},{}],"k":0,"l":0)")), "accepted");
}

TEST(JsonRecordTest, ErrorsQuoteLittleAndNothingThatCouldForgeALine) {
  const std::string hostile =
      absl::StrCat(R"("\u001b[31m\nline 1: )", std::string(100'000, 'x'), "\"");
  const std::string error = ErrorOf(Core(absl::StrCat("\"stuckMs\":", hostile)));
  EXPECT_THAT(error, AllOf(HasSubstr("\\033[31m\\nline 1: xxx"), Not(HasSubstr("\n"))));
  EXPECT_LT(error.size(), 400u);
  EXPECT_LT(ErrorOf(absl::StrCat("{\"header\":", hostile, "x")).size(), 400u);
}

}  // namespace
}  // namespace rapideye::wire
