// JsonHandler fills a message from SAX events, by reflection. Internal to proto/wire.
#ifndef RAPIDEYE_PROTO_WIRE_JSON_HANDLER_H_
#define RAPIDEYE_PROTO_WIRE_JSON_HANDLER_H_

#include <google/protobuf/message.h>

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "proto/wire/record_budget.h"

namespace rapideye::wire {

// Receives nlohmann's SAX events and fills one message. An event that breaks a
// rule sets status() and stops the parser by returning false; nothing throws.
// The rules are those of ReadJsonRecord (json_record.h).
class JsonHandler {
 public:
  JsonHandler(google::protobuf::Message& root, RecordBudget& budget)
      : root_(root), budget_(budget) {}

  const absl::Status& status() const { return status_; }

  // The SAX interface, by the names that nlohmann asks for.
  bool null();
  bool boolean(bool value);
  bool number_integer(int64_t value);
  bool number_unsigned(uint64_t value);
  bool number_float(double value, const std::string& text);
  bool string(std::string& value);
  bool binary(nlohmann::json::binary_t& value);
  bool start_object(size_t elements);
  bool key(std::string& name);
  bool end_object();
  bool start_array(size_t elements);
  bool end_array();
  bool parse_error(size_t position, const std::string& last_token,
                   const nlohmann::json::exception& error);

 private:
  // An object that fills `message`, or the list `field` of it.
  struct Frame {
    google::protobuf::Message* message = nullptr;
    // Object: the field of the last key, null if it is unknown. List: its field.
    const google::protobuf::FieldDescriptor* field = nullptr;
    int index = -1;  // list: of the present element; object: -1
    bool is_list = false;
    uint64_t seen = 0;  // object: fields by number of declaration
    std::unique_ptr<absl::flat_hash_set<std::string>> unknown_keys;
  };

  // True if the value that comes belongs to nothing that is known.
  bool Skipping() const {
    return skipped_depth_ > 0 || (!frames_.empty() && frames_.back().field == nullptr);
  }
  // Begins a scalar of JSON type `found`: false if it cannot stand here (status()
  // is then set) or is to be skipped (then `skip` is set).
  bool BeginScalar(absl::string_view found, bool& skip);
  bool BeginContainer(absl::string_view found, bool& skip);
  bool NextElement();
  bool SeeKnown(Frame& frame, const google::protobuf::FieldDescriptor& field);
  bool SeeUnknown(Frame& frame, std::string& name);

  bool SetInteger(int64_t value);
  bool SetEnum(const google::protobuf::EnumValueDescriptor* value);
  bool Push(google::protobuf::Message& message);

  // "expected an integer, found a string"
  bool FailType(absl::string_view found);
  bool Fail(absl::string_view problem);

  google::protobuf::Message& root_;
  RecordBudget& budget_;
  std::vector<Frame> frames_;
  int skipped_depth_ = 0;
  absl::Status status_;
};

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_JSON_HANDLER_H_
