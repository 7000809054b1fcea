#include "agent/daemon/redaction.h"

#include <google/protobuf/descriptor.h>

#include <string>

#include "proto/wire/message_text.h"
#include "v1/check.pb.h"

namespace rapideye::agent {
namespace {

bool IsIdentity(const google::protobuf::FieldDescriptor& field) {
  switch (field.options().GetExtension(v1::check).names()) {
    case v1::Check::HOST:
    case v1::Check::NODE:
    case v1::Check::POD:
    case v1::Check::HARDWARE:
    case v1::Check::JOB:
    case v1::Check::INCARNATION:
      // The host of a peer in a log line is text of the log, not this worker's identity.
      return field.name() != "peer_host";
    default:
      return false;
  }
}

}  // namespace

void RedactMessage(const secrets::Redactor& redactor, google::protobuf::Message& message) {
  wire::VisitText(message, [&](const google::protobuf::FieldDescriptor& field, std::string& text) {
    return !IsIdentity(field) && redactor.Redact(text);
  });
}

}  // namespace rapideye::agent
