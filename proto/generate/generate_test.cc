// Tests compare the code generated of example.proto to the letter, and see .proto files refused.
#include "proto/generate/generate.h"

#include <gmock/gmock.h>
#include <google/protobuf/descriptor.pb.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <stdexcept>

#include "v1/check.pb.h"

namespace rapideye::generate {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::DescriptorProto;
using google::protobuf::FileDescriptorProto;
using google::protobuf::FileDescriptorSet;
using testing::HasSubstr;
using v1::Check;

// Reads example.proto and its imports, as protobuf's compiler has written them.
FileDescriptorSet Example() {
  std::ifstream in(RAPIDEYE_EXAMPLE_DESCRIPTORS, std::ios::binary);
  FileDescriptorSet set;
  EXPECT_TRUE(set.ParseFromIstream(&in)) << RAPIDEYE_EXAMPLE_DESCRIPTORS;
  return set;
}

std::map<std::string, std::string> GenerateFrom(const FileDescriptorSet& set) {
  DescriptorPool pool;
  for (const FileDescriptorProto& file : set.file()) pool.BuildFile(file);
  return Generate(*pool.FindFileByName("example.proto"));
}

TEST(GenerateTest, WritesAValueOfEachMessage) {
  const std::string text = GenerateFrom(Example())["proto/generate/example.h"];
  EXPECT_THAT(text,
              HasSubstr(R"(// Generated from example.proto by proto/generate: change that, not this.
//
// A yard and what stands in it: every rule once, for generate_test.cc.
#ifndef RAPIDEYE_PROTO_GENERATE_EXAMPLE_H_
#define RAPIDEYE_PROTO_GENERATE_EXAMPLE_H_

)"));
  EXPECT_THAT(text,
              HasSubstr("#include \"absl/time/time.h\"\n"
                        "#include \"proto/common/address/address.h\"\n\nnamespace rapideye {\n"));
  EXPECT_THAT(text, HasSubstr(R"(// A place in the yard.
struct Place {
  int32_t row = 0;
  static constexpr int kMaxRow = 9;
  int32_t column = 0;

  friend auto operator<=>(const Place&, const Place&) = default;
  template <typename H>
  friend H AbslHashValue(H hash, const Place& value) {
    return H::combine(std::move(hash), value.row, value.column);
  }
};

enum class ItemKind {
  kUnspecified,
  kBox,  // of wood
  kTallCrate,
};
std::string_view NameOf(ItemKind value);
std::optional<ItemKind> ItemKindNamed(std::string_view name);

struct Item {
  ItemKind kind = ItemKind::kUnspecified;
  std::string name{};  // as painted on it
  std::optional<std::string> remark{};
  // Since it came.
  std::optional<absl::Duration> age{};
  int32_t owner = 0;
  int64_t weight = 0;
  std::optional<int64_t> balance{};
  std::string print{};

  friend bool operator==(const Item&, const Item&) = default;
};

struct Yard {
  Place gate{};
  std::optional<Place> tower{};
  Place well{};
  std::vector<std::string> owners{};
  static constexpr int kMaxOwners = 8;
  std::vector<Item> items{};
  static constexpr int kMaxItems = 100;
  bool open = false;
  int64_t seen_unix_ms = 0;
  absl::Duration wait{};
  int32_t version = 3;
  std::string seal{};
  static constexpr int kMaxSealBytes = 16;
  std::string note{};
  std::vector<IpAddress> addresses{};
  static constexpr int kMaxAddresses = 2;

  friend bool operator==(const Yard&, const Yard&) = default;
};

using News = std::variant<Yard, Place>;

struct Town {
  std::vector<Yard> yards{};
  static constexpr int kMaxYards = 4;

  friend bool operator==(const Town&, const Town&) = default;
};

)"));
}

TEST(GenerateTest, WritesTheNamesOfEnumsBothWays) {
  EXPECT_THAT(GenerateFrom(Example())["proto/generate/example.cc"],
              HasSubstr(R"(std::string_view NameOf(ItemKind value) {
  static constexpr std::string_view kNames[] = {
      "KIND_UNSPECIFIED",
      "BOX",
      "TALL_CRATE",
  };
  const auto number = static_cast<size_t>(value);
  return number < std::size(kNames) ? kNames[number] : std::string_view();
}

std::optional<ItemKind> ItemKindNamed(std::string_view name) {
  for (int i = 0; !NameOf(static_cast<ItemKind>(i)).empty(); ++i) {
    if (NameOf(static_cast<ItemKind>(i)) == name) return static_cast<ItemKind>(i);
  }
  return std::nullopt;
}

)"));
}

TEST(GenerateTest, WritesConversionsWithTheChecks) {
  EXPECT_THAT(
      GenerateFrom(Example())["proto/generate/example_fields.cc"],
      HasSubstr(
          R"(void FromWire(const FieldScope& at, const example::Item& in, Item& out, int owners) {
  out.kind = Known(in.kind(), ItemKind::kTallCrate);
  if (in.name().empty()) at.Fail("name", "is missing");
  out.name = at.String("name", in.name());
  if (in.has_remark() && in.remark().empty()) at.Fail("remark", "is empty");
  if (in.has_remark()) out.remark = at.String("remark", in.remark(), kMaxTextBytes);
  if (in.has_age_ms()) out.age = at.Age("ageMs", in.age_ms());
  out.owner = at.Index("owner", in.owner(), owners, "owners");
  if (in.weight() == 0) at.Fail("weight", "must be above 0");
  out.weight = at.Number("weight", in.weight());
  if (in.has_balance()) out.balance = in.balance();
  out.print = at.Fingerprint("print", in.print());
}

void ToWire(const Item& in, example::Item& out) {
  out.set_kind(static_cast<example::Item::Kind>(in.kind));
  out.set_name(WireName(in.name));
  if (in.remark) out.set_remark(WireText(*in.remark));
  if (in.age) out.set_age_ms(WireMs(*in.age));
  out.set_owner(in.owner);
  out.set_weight(in.weight);
  if (in.balance) out.set_balance(*in.balance);
  out.set_print(WireName(in.print));
}

void FromWire(const FieldScope& at, const example::Yard& in, Yard& out) {
  const int owners = in.owners_size();
  if (!in.has_gate()) at.Fail("gate", "is missing");
  FromWire(FieldScope(at, "gate"), in.gate(), out.gate);
  if (in.has_tower()) FromWire(FieldScope(at, "tower"), in.tower(), out.tower.emplace());
  out.well.row = at.Number("row", in.row(), 9);
  out.well.column = at.Number("column", in.column());
  at.Values("owners", in.owners(), Yard::kMaxOwners, out.owners,
            [](const FieldScope& entry, const auto& value) { return entry.String("", value); });
  at.List("items", in.items(), Yard::kMaxItems, out.items, owners);
  at.AtLeast("items", in.items().size(), 1, Yard::kMaxItems);
  out.open = in.open();
  out.seen_unix_ms = at.Number("seenUnixMs", in.seen_unix_ms(), kMaxUnixMs);
  out.wait = at.Interval("waitMs", in.wait_ms());
  out.version = in.version();
  if (in.seal().empty()) at.Fail("seal", "is missing");
  out.seal = at.Bytes("seal", in.seal(), 16);
  out.note = at.String("note", in.note());
  at.Values("ip", in.ip(), Yard::kMaxAddresses, out.addresses,
            [](const FieldScope& entry, const auto& value) { return entry.Ip("", value); });
}

void ToWire(const Yard& in, example::Yard& out) {
  ToWire(in.gate, *out.mutable_gate());
  if (in.tower) ToWire(*in.tower, *out.mutable_tower());
  out.set_row(in.well.row);
  out.set_column(in.well.column);
  for (const auto& entry : in.owners) out.add_owners(WireName(entry));
  for (const auto& entry : in.items) ToWire(entry, *out.add_items());
  out.set_open(in.open);
  out.set_seen_unix_ms(in.seen_unix_ms);
  out.set_wait_ms(WireIntervalMs(in.wait));
  out.set_version(in.version);
  out.set_seal(in.seal);
  if (!in.note.empty()) out.set_note(WireName(in.note));
  for (const auto& entry : in.addresses) out.add_ip(ToBytes(entry));
}

bool FromWire(const example::News& in, News& out, absl::Status& error) {
  switch (in.news_case()) {
    case example::News::kYard:
      FromWire(FieldScope("yard", error), in.yard(), out.emplace<Yard>());
      return true;
    case example::News::kPlaceTaken:
      FromWire(FieldScope("placeTaken", error), in.place_taken(), out.emplace<Place>());
      return true;
    default:
      return false;
  }
}

void ToWire(const News& in, example::News& out) {
  if (const auto* value = std::get_if<Yard>(&in)) {
    ToWire(*value, *out.mutable_yard());
  }
  if (const auto* value = std::get_if<Place>(&in)) {
    ToWire(*value, *out.mutable_place_taken());
  }
}

)"));
}

TEST(GenerateTest, WhatIsOnlyAMessageOrOnlyAValueIsNotConverted) {
  auto files = GenerateFrom(Example());
  const std::string& declared = files["proto/generate/example_fields.h"];
  EXPECT_THAT(declared, HasSubstr("const example::Yard& in, Yard& out);\n"));
  EXPECT_THAT(declared, testing::Not(HasSubstr("Town")));
  EXPECT_THAT(declared, testing::Not(HasSubstr("Letter")));
  EXPECT_THAT(files["proto/generate/example.h"], testing::Not(HasSubstr("Letter")));
}

// Every refusal: what brings it about in example.proto.
struct Refusal {
  const char* message;
  const char* field;
  std::function<void(Check&)> change;
  const char* error;
};

const Refusal kRefusals[] = {
    {"Yard", "owners", [](Check& c) { c.clear_max_items(); },
     "rapideye.example.Yard.owners: a list has max_items, and nothing else has"},
    {"Yard", "open", [](Check& c) { c.set_max_items(2); },
     "rapideye.example.Yard.open: a list has max_items, and nothing else has"},
    {"Item", "owner", [](Check& c) { c.set_index_of("oners"); },
     "rapideye.example.Item.owner: there is no list oners"},
    {"Item", "name", [](Check& c) { c.set_kind(Check::INTERVAL); },
     "rapideye.example.Item.name: this rule is for int32 and int64"},
    {"Item", "weight", [](Check& c) { c.set_kind(Check::TEXT); },
     "rapideye.example.Item.weight: this rule is for strings"},
    {"Item", "print", [](Check& c) { c.set_kind(Check::IP); },
     "rapideye.example.Item.print: this rule is for bytes"},
    {"Item", "balance", [](Check& c) { c.set_max(3); },
     "rapideye.example.Item.balance: max is for bytes, and for numbers without a kind"},
    {"Yard", "seal", [](Check& c) { c.clear_max(); },
     "rapideye.example.Yard.seal: bytes need a max"},
    {"Item", "name", [](Check& c) { c.set_plain(true); },
     "rapideye.example.Item.name: only an optional string can be plain"},
    {"Yard", "tower", [](Check& c) { c.set_required(true); },
     "rapideye.example.Yard.tower: cannot be required: say min_items of a list, and nothing of "
     "what is optional"},
};

TEST(GenerateTest, RefusesRulesThatMakeNoSense) {
  for (const Refusal& refusal : kRefusals) {
    FileDescriptorSet set = Example();
    for (DescriptorProto& message : *set.mutable_file()->rbegin()->mutable_message_type()) {
      for (auto& field : *message.mutable_field()) {
        if (message.name() != refusal.message || field.name() != refusal.field) continue;
        refusal.change(*field.mutable_options()->MutableExtension(v1::check));
      }
    }
    try {
      GenerateFrom(set);
      ADD_FAILURE() << "accepted: " << refusal.error;
    } catch (const std::invalid_argument& error) {
      EXPECT_STREQ(error.what(), refusal.error);
    }
  }
}

TEST(GenerateTest, RefusesEnumsWithGaps) {
  FileDescriptorSet set = Example();
  for (DescriptorProto& message : *set.mutable_file()->rbegin()->mutable_message_type()) {
    for (auto& type : *message.mutable_enum_type()) type.mutable_value(2)->set_number(7);
  }
  try {
    GenerateFrom(set);
    ADD_FAILURE() << "accepted";
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "rapideye.example.Item.Kind: values are numbered 0, 1, 2 and so on");
  }
}

}  // namespace
}  // namespace rapideye::generate
