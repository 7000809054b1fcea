// VisitText walks over every text of a message, whatever fields it has or will have.
#ifndef RAPIDEYE_PROTO_WIRE_MESSAGE_TEXT_H_
#define RAPIDEYE_PROTO_WIRE_MESSAGE_TEXT_H_

#include <google/protobuf/message.h>

#include <string>

#include "absl/functional/function_ref.h"

namespace rapideye::wire {

// May change the text of this field; true: it has.
using TextVisitor =
    absl::FunctionRef<bool(const google::protobuf::FieldDescriptor& field, std::string& text)>;

// Visits every string in the message and in all that it holds, except those whose form
// is checked and holds no words (fingerprints, incident ids); fields of bytes are no text. A text
// that grew beyond what its reader takes is cut.
void VisitText(google::protobuf::Message& message, TextVisitor visit);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_MESSAGE_TEXT_H_
