// OperatorCall carries one call of an operator from gRPC's thread to the thread that answers.
#ifndef RAPIDEYE_COORDINATOR_SERVER_OPERATOR_CALL_H_
#define RAPIDEYE_COORDINATOR_SERVER_OPERATOR_CALL_H_

#include <grpcpp/support/server_callback.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/time/time.h"
#include "proto/common/sync/mutex.h"
#include "v1/operator.pb.h"

namespace rapideye::coordinator {

class OperatorCall;

// Limits the number of open calls and the bytes that they hold.
// Thread-safe.
class CallLimiter {
 public:
  // RESOURCE_EXHAUSTED if there are kMaxOperatorCalls already; after RefuseAll,
  // its status.
  absl::Status Admit(const std::shared_ptr<OperatorCall>& call);
  void Remove(const OperatorCall* call);
  // Reserves bytes that wait to be sent; false if they exceed the limit.
  bool Reserve(int64_t bytes);
  void Release(int64_t bytes);

  // Ends calls that are older than kOperatorCallLimit.
  void CutOffOverdue(absl::Duration now);
  // Ends all calls, and those that come later.
  void RefuseAll(const absl::Status& status);

 private:
  std::vector<std::shared_ptr<OperatorCall>> Where(
      const std::function<bool(const OperatorCall&)>& wanted);

  Mutex mutex_;
  std::vector<std::weak_ptr<OperatorCall>> calls_ ABSL_GUARDED_BY(mutex_);
  int64_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  absl::Status refusal_ ABSL_GUARDED_BY(mutex_);  // of RefuseAll
};

// Thread-safe. Ends once, by the first of: an answer, a refusal, the caller.
class OperatorCall {
 public:
  explicit OperatorCall(std::shared_ptr<CallLimiter> limiter);
  virtual ~OperatorCall() = default;

  // Ends the call, unless it has ended.
  virtual void Refuse(const absl::Status& status) = 0;
  absl::Duration begun() const { return begun_; }

 protected:
  CallLimiter& limiter() { return *limiter_; }

 private:
  // Shared: work on a disk that hangs may outlive the service.
  const std::shared_ptr<CallLimiter> limiter_;
  const absl::Duration begun_;
};

// A call with one reply.
class UnaryCall final : public OperatorCall, public grpc::ServerUnaryReactor {
 public:
  // Returns nullptr, and refuses the call, if there is no room for it.
  static std::shared_ptr<UnaryCall> Begin(std::shared_ptr<CallLimiter> limiter,
                                          grpc::ServerUnaryReactor*& reactor);
  using OperatorCall::OperatorCall;

  // `fill` writes the reply; it is not called if the call has ended.
  void Answer(const std::function<void()>& fill);
  void Refuse(const absl::Status& status) override;

  void OnCancel() override { Refuse(absl::CancelledError("the caller has left")); }
  void OnDone() override;

 private:
  std::shared_ptr<UnaryCall> self_;  // until gRPC is done with it
  Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

// The answer to a streaming call.
struct Document {
  // For Snapshot: names the incident whose digest is the answer, if there is one.
  std::optional<v1::SnapshotResult> result;
  std::shared_ptr<const std::string> document;
  std::shared_ptr<const std::string> capture;  // nullptr: not asked for
};

// A call whose reply is a document, sent as fast as the caller reads.
class DocumentCall final : public OperatorCall, public grpc::ServerWriteReactor<v1::DocumentPart> {
 public:
  // Begins the call like UnaryCall::Begin.
  static std::shared_ptr<DocumentCall> Begin(std::shared_ptr<CallLimiter> limiter,
                                             grpc::CallbackServerContext* context,
                                             grpc::ServerWriteReactor<v1::DocumentPart>*& reactor);
  DocumentCall(std::shared_ptr<CallLimiter> limiter, grpc::CallbackServerContext* context);

  // Sends the document. Call at most once.
  void Deliver(Document document);
  void Refuse(const absl::Status& status) override;

  void OnWriteDone(bool ok) override;
  void OnCancel() override { Refuse(absl::CancelledError("the caller has left")); }
  void OnDone() override;

 private:
  // Writes the next part, or ends the call.
  void Continue() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  grpc::CallbackServerContext* const context_;
  std::shared_ptr<DocumentCall> self_;  // until gRPC is done with it
  Mutex mutex_;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;  // Finish was called, or will be after the write
  bool writing_ ABSL_GUARDED_BY(mutex_) = false;
  grpc::Status final_status_ ABSL_GUARDED_BY(mutex_);
  Document document_ ABSL_GUARDED_BY(mutex_);
  size_t document_sent_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t capture_sent_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t reserved_ ABSL_GUARDED_BY(mutex_) = 0;
  v1::DocumentPart part_ ABSL_GUARDED_BY(mutex_);  // of the write in flight
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_SERVER_OPERATOR_CALL_H_
