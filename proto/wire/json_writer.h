// Writes messages as one line of JSON, the way captures are written.
#ifndef RAPIDEYE_PROTO_WIRE_JSON_WRITER_H_
#define RAPIDEYE_PROTO_WIRE_JSON_WRITER_H_

#include <google/protobuf/message.h>

#include <string>

namespace rapideye::wire {

// Appends the message in the proto3 JSON mapping, without blanks or newline:
// fields in the order of their declaration under camelCase names; integers as
// numbers; a field with presence if it is present, a scalar without always, zero
// included; enums by name, left out where not reported; lists left out where
// empty. Strings must be UTF-8.
void AppendJson(const google::protobuf::Message& message, std::string& out);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_JSON_WRITER_H_
