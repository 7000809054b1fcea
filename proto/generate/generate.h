// Writes the C++ of a .proto: plain values, their conversions to messages and back,
// with the checks that its fields state as options (proto/v1/check.proto).
//
//   * Of each message a struct: std::optional for `optional`, std::vector for `repeated`,
//     the comments carried over, equality; of each enum an enum class, with its names.
//   * FromWire, which checks every field, and ToWire, on proto/wire/field_scope.h.
//
// Links protobuf alone: a build step that includes the result has to wait for this program.
#ifndef RAPIDEYE_PROTO_GENERATE_GENERATE_H_
#define RAPIDEYE_PROTO_GENERATE_GENERATE_H_

#include <google/protobuf/descriptor.h>

#include <map>
#include <string>

namespace rapideye::generate {

// The files by their path from the root of the repository. Throws std::invalid_argument
// that names the field whose rule is missing, makes no sense or is not implemented.
std::map<std::string, std::string> Generate(const google::protobuf::FileDescriptor& file);

}  // namespace rapideye::generate

#endif  // RAPIDEYE_PROTO_GENERATE_GENERATE_H_
