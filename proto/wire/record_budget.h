// RecordBudget limits the memory that one record of a capture may take once parsed.
#ifndef RAPIDEYE_PROTO_WIRE_RECORD_BUDGET_H_
#define RAPIDEYE_PROTO_WIRE_RECORD_BUDGET_H_

#include <google/protobuf/message.h>

#include <cstddef>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "proto/wire/limits.h"

namespace rapideye::wire {

// Counts the memory of messages as they are made, and refuses a record that
// would take more than its limit: an empty message costs two bytes on the
// wire and some two hundred in memory.
class RecordBudget {
 public:
  explicit RecordBudget(size_t limit = kMaxRecordMemory) : limit_(limit), left_(limit) {}
  void Reset() { left_ = limit_; }
  // False once the budget is spent.
  bool Charge(size_t bytes);
  size_t spent() const { return limit_ - left_; }
  bool ChargeMessage(const google::protobuf::Descriptor& type);
  absl::Status Exceeded() const;

 private:
  size_t limit_;
  size_t left_;
  absl::flat_hash_map<const google::protobuf::Descriptor*, size_t> sizes_;
};

// Walks a serialised message without building it, and charges what parsing it
// would cost. False if the budget does not suffice, the nesting is too deep or
// the bytes are malformed; `error` then says which.
bool ChargeSerialised(const google::protobuf::Descriptor& type, std::string_view bytes,
                      RecordBudget& budget, absl::Status& error);

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_RECORD_BUDGET_H_
