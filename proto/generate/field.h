// Writes the C++ of one field: its member, its check on the way in, and the way out.
// Internal to proto/generate.
#ifndef RAPIDEYE_PROTO_GENERATE_FIELD_H_
#define RAPIDEYE_PROTO_GENERATE_FIELD_H_

#include <google/protobuf/descriptor.h>

#include <map>
#include <set>
#include <string>

namespace rapideye::generate {

// The pattern with every $name$ replaced.
std::string Fill(const char* pattern, const std::map<std::string, std::string>& values);

// RX_ERRORS or rx_errors: RxErrors.
std::string Camel(const std::string& name);
// rapideye.v1.Core.Type as it is called in rapideye::wire: v1::Core::Type.
std::string WireName(const std::string& full_name);
std::string EnumName(const google::protobuf::EnumDescriptor& type);
std::string ValueName(const google::protobuf::EnumDescriptor& type, int number);

// Refuses (std::invalid_argument) options that make no sense, or leave a value unbounded.
void Validate(const google::protobuf::FieldDescriptor& field);

std::string TypeOf(const google::protobuf::FieldDescriptor& field);
// The member of the struct: its name, or "id.slice" if it is a part of the member `id`.
std::string MemberOf(const google::protobuf::FieldDescriptor& field);
std::string Declaration(const google::protobuf::FieldDescriptor& field);
// The constant for the largest number, or the most bytes or entries; empty if there is none.
std::string Limit(const google::protobuf::FieldDescriptor& field);

// The lists of this message into which it or its members have indexes (`own`), or those of
// messages around it.
std::set<std::string> ListsIndexed(const google::protobuf::Descriptor& message, bool own);

// The lines that convert the field, in functions FromWire(at, in, out) and ToWire(in, out).
std::string FieldFromWire(const google::protobuf::FieldDescriptor& field);
std::string FieldToWire(const google::protobuf::FieldDescriptor& field);

}  // namespace rapideye::generate

#endif  // RAPIDEYE_PROTO_GENERATE_FIELD_H_
