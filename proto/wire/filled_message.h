// For tests: makes messages with every field set, built by reflection, so that a field added later
// cannot be forgotten.
#ifndef RAPIDEYE_PROTO_WIRE_FILLED_MESSAGE_H_
#define RAPIDEYE_PROTO_WIRE_FILLED_MESSAGE_H_

#include <google/protobuf/message.h>

#include "proto/v1/evidence.h"

namespace rapideye::wire {

// Sets every field to a legal value of its own (lists get two entries);
// of a oneof, only its last member. Values keep the rules of their fields (check.proto).
void FillEveryField(google::protobuf::Message& message);

// Sets every field that has presence to its zero, and every list to one entry of
// such zeros; fingerprints stay legal.
void FillWithZeros(google::protobuf::Message& message);

// A legal capture of two workers, each with every field set.
Capture FilledCapture();

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_FILLED_MESSAGE_H_
