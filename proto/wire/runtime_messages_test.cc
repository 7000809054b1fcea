// The TPU runtime's messages, byte for byte: what is written by hand below is what
// a runtime sends. Field numbers and types are the runtime's, not ours to change.
#include <gtest/gtest.h>

#include <string>

#include "v1/runtime_status.pb.h"
#include "v1/tpu_telemetry.pb.h"

namespace tpu_telemetry {
namespace {

using tpu::monitoring::runtime::GetTpuRuntimeStatusRequest;
using tpu::monitoring::runtime::GetTpuRuntimeStatusResponse;
using tpu::monitoring::runtime::ListSupportedMetricsRequest;
using tpu::monitoring::runtime::ListSupportedMetricsResponse;
using tpu::monitoring::runtime::MetricRequest;
using tpu::monitoring::runtime::MetricResponse;

// "0a 05" -> the two bytes; anything but hex digits separates.
std::string Bytes(const std::string& hex) {
  std::string digits;
  for (char c : hex) {
    if (std::isxdigit(static_cast<unsigned char>(c))) digits += c;
  }
  std::string out;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    out += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
  }
  return out;
}

// Checks both directions: the message serialises to these bytes, and they parse back to a
// message that serialises the same and knows every byte of them.
template <typename Message>
void ExpectWire(const Message& message, const std::string& hex) {
  EXPECT_EQ(message.SerializeAsString(), Bytes(hex)) << message.DebugString();
  Message back;
  ASSERT_TRUE(back.ParseFromString(Bytes(hex)));
  EXPECT_TRUE(back.GetReflection()->GetUnknownFields(back).empty());
  EXPECT_EQ(back.DebugString(), message.DebugString());
}

TEST(RuntimeWireTest, SequencerInfo) {
  SequencerInfo info;
  info.set_sequencer_type(TPU_SEQUENCER_TYPE_SPARSE_CORE_TILE_EXECUTE_CORE_SEQUENCER);
  info.set_sequencer_index(1);
  info.set_pc(6749);
  info.set_tag(3);
  info.set_tracemark(48);
  info.set_program_id(300);
  info.set_run_id(-1);
  info.set_hlo_location("HLO: a");
  info.set_hlo_detailed_info("[]");
  ExpectWire(info,
             "08 06"                             // sequencer_type = 1: 6
             "10 01"                             // sequencer_index = 2: 1
             "18 dd 34"                          // pc = 3: 6749
             "20 03"                             // tag = 4: 3
             "28 30"                             // tracemark = 5: 48
             "30 ac 02"                          // program_id = 6: 300
             "38 ff ff ff ff ff ff ff ff ff 01"  // run_id = 7: -1, ten bytes
             "42 06 48 4c 4f 3a 20 61"           // hlo_location = 8
             "4a 02 5b 5d");                     // hlo_detailed_info = 9
}

TEST(RuntimeWireTest, APcOfZeroIsSentAndAnAbsentOneIsNot) {
  SequencerInfo zero;
  zero.set_pc(0);
  ExpectWire(zero, "18 00");
  SequencerInfo absent;
  ExpectWire(absent, "");
  absent.ParseFromString("");
  EXPECT_FALSE(absent.has_pc());
  absent.ParseFromString(Bytes("18 00"));
  EXPECT_TRUE(absent.has_pc());
  EXPECT_EQ(absent.pc(), 0);
}

TEST(RuntimeWireTest, EveryZeroHasPresence) {
  CurrentCoreStateSummary summary;
  summary.mutable_core_id()->set_global_core_id(0);
  summary.mutable_core_id()->set_chip_id(0);
  summary.mutable_core_id()->mutable_core_on_chip()->set_type(TPU_CORE_TYPE_INVALID);
  summary.mutable_core_id()->mutable_core_on_chip()->set_index(0);
  summary.add_sequencer_info();
  summary.set_xdb_server_running(false);
  summary.set_program_fingerprint("");
  summary.set_launch_id(0);
  summary.add_queued_program_info()->set_launch_id(0);
  summary.set_error_message("");
  ExpectWire(summary,
             "0a 0a"            // core_id = 1, ten bytes
             "  08 00"          //   global_core_id = 1
             "  10 00"          //   chip_id = 2
             "  1a 04"          //   core_on_chip = 3
             "    08 00 10 00"  //     type = 1, index = 2
             "12 00"            // sequencer_info = 2, empty
             "18 00"            // xdb_server_running = 3
             "22 00"            // program_fingerprint = 4
             "28 00"            // launch_id = 5
             "32 02 10 00"      // queued_program_info = 6 { launch_id = 2 }
             "3a 00");          // error_message = 7
}

TEST(RuntimeWireTest, CurrentCoreStateSummary) {
  CurrentCoreStateSummary summary;
  TpuCoreIdentifier& id = *summary.mutable_core_id();
  id.set_global_core_id(130);
  id.set_chip_id(7);
  id.mutable_core_on_chip()->set_type(TPU_CORE_TYPE_SPARSE_CORE);
  id.mutable_core_on_chip()->set_index(1);
  summary.add_sequencer_info()->set_sequencer_type(TPU_SEQUENCER_TYPE_SPARSE_CORE_SEQUENCER);
  summary.add_sequencer_info()->set_pc(5);
  summary.set_xdb_server_running(true);
  summary.set_program_fingerprint(std::string("\x81\xdd\x00\xff", 4));  // bytes, not UTF-8
  summary.set_launch_id(-2);
  QueuedProgramInfo& queued = *summary.add_queued_program_info();
  queued.set_run_id(104818);
  queued.set_launch_id(306852198);
  queued.set_program_fingerprint("\xAB");
  summary.set_error_message("halt");
  ExpectWire(summary,
             "0a 0b  08 82 01  10 07  1a 04 08 03 10 01"        // core_id = 1
             "12 02  08 04"                                     // sequencer_info = 2
             "12 02  18 05"                                     // and another
             "18 01"                                            // xdb_server_running = 3
             "22 04  81 dd 00 ff"                               // program_fingerprint = 4
             "28 fe ff ff ff ff ff ff ff ff 01"                 // launch_id = 5: -2
             "32 0d  08 f2 b2 06  10 e6 e2 a8 92 01  1a 01 ab"  // queued_program_info = 6
             "3a 04  68 61 6c 74");                             // error_message = 7
}

TEST(RuntimeWireTest, StatusResponseIsAMapByGlobalCoreId) {
  GetTpuRuntimeStatusResponse response;
  response.set_host_name("h");
  (*response.mutable_core_states())[3].set_launch_id(9);
  ExpectWire(response,
             "0a 01 68"         // host_name = 1
             "12 06"            // core_states = 2, an entry:
             "  08 03"          //   key = 1: 3
             "  12 02 28 09");  //   value = 2 { launch_id = 5: 9 }

  // Entries in any order; a later one of the same key wins; a key left out is 0.
  GetTpuRuntimeStatusResponse parsed;
  ASSERT_TRUE(
      parsed.ParseFromString(Bytes("12 06 08 05 12 02 28 01"
                                   "12 06 08 05 12 02 28 02"
                                   "12 04 12 02 28 07")));
  EXPECT_FALSE(parsed.has_host_name());
  ASSERT_EQ(parsed.core_states_size(), 2);
  EXPECT_EQ(parsed.core_states().at(5).launch_id(), 2);
  EXPECT_EQ(parsed.core_states().at(0).launch_id(), 7);
}

TEST(RuntimeWireTest, Requests) {
  GetTpuRuntimeStatusRequest status;
  ExpectWire(status, "");  // no HLO: the expensive part is asked for explicitly
  status.set_include_hlo_info(true);
  ExpectWire(status, "08 01");
  MetricRequest metric;
  metric.set_metric_name("m");
  metric.set_skip_node_aggregation(true);
  ExpectWire(metric, "0a 01 6d 10 01");
  ListSupportedMetricsRequest list;
  list.set_filter(".*");
  ExpectWire(list, "0a 02 2e 2a");
  ListSupportedMetricsResponse supported;
  supported.add_supported_metric()->set_metric_name("m");
  ExpectWire(supported, "0a 03 0a 01 6d");
}

TEST(RuntimeWireTest, Metrics) {
  MetricResponse response;
  auto& metric = *response.mutable_metric();
  metric.set_name("n");
  metric.set_description("d");
  auto& gauge = *metric.add_metrics();
  gauge.mutable_attribute()->set_key("k");
  gauge.mutable_attribute()->mutable_value()->set_int_attr(4);
  gauge.mutable_timestamp()->set_seconds(1);
  gauge.mutable_gauge()->set_as_int(0);
  auto& distribution = *metric.add_metrics();
  distribution.mutable_distribution()->set_count(2);
  distribution.mutable_distribution()->set_mean(1.0);
  distribution.mutable_distribution()->add_bucket_counts(3);
  distribution.mutable_start_timestamp()->set_nanos(5);
  ExpectWire(response,
             "0a 2f"                             // metric = 1
             "  0a 01 6e"                        //   name = 1
             "  12 01 64"                        //   description = 2
             "  1a 11"                           //   metrics = 3
             "    0a 07 0a 01 6b 12 02 18 04"    //     attribute = 1 { key, value { int 3 } }
             "    12 02 08 01"                   //     timestamp = 2 { seconds = 1 }
             "    1a 02 10 00"                   //     gauge = 3 { as_int = 2: 0 }
             "  1a 14"                           //   metrics = 3
             "    2a 0e"                         //     distribution = 5
             "      08 02"                       //       count = 1
             "      11 00 00 00 00 00 00 f0 3f"  //       mean = 2: 1.0
             "      3a 01 03"                    //       bucket_counts = 7, packed
             "    3a 02 10 05");                 //     start_timestamp = 7
}

TEST(RuntimeWireTest, ValuesOfANewerRuntimeAreKept) {
  SequencerInfo info;
  ASSERT_TRUE(info.ParseFromString(Bytes("08 63 18 05 7a 01 78")));  // type 99, field 15
  EXPECT_EQ(static_cast<int>(info.sequencer_type()), 99);
  EXPECT_EQ(info.pc(), 5);
  EXPECT_EQ(info.SerializeAsString(), Bytes("08 63 18 05 7a 01 78"));
}

}  // namespace
}  // namespace tpu_telemetry
