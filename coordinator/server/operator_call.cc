#include "coordinator/server/operator_call.h"

#include <grpcpp/server_context.h>

#include <algorithm>
#include <utility>

#include "coordinator/core/limits.h"
#include "proto/common/clock/clock.h"
#include "proto/transport/status_conversion.h"

namespace rapideye::coordinator {
// The limiter ---------------------------------------------------------------------

absl::Status CallLimiter::Admit(const std::shared_ptr<OperatorCall>& call) {
  const MutexLock lock(mutex_);
  if (!refusal_.ok()) return refusal_;
  if (calls_.size() >= kMaxOperatorCalls) {
    return absl::ResourceExhaustedError(
        "too many operators' calls at once; end some (rapideye status --watch?) or try again "
        "later");
  }
  calls_.push_back(call);
  return absl::OkStatus();
}

void CallLimiter::Remove(const OperatorCall* call) {
  const MutexLock lock(mutex_);
  std::erase_if(calls_, [call](const std::weak_ptr<OperatorCall>& one) {
    const std::shared_ptr<OperatorCall> alive = one.lock();
    return alive == nullptr || alive.get() == call;
  });
}

bool CallLimiter::Reserve(int64_t bytes) {
  const MutexLock lock(mutex_);
  if (bytes_ + bytes > kMaxOperatorBytes) return false;
  bytes_ += bytes;
  return true;
}

void CallLimiter::Release(int64_t bytes) {
  const MutexLock lock(mutex_);
  bytes_ -= bytes;
}

std::vector<std::shared_ptr<OperatorCall>> CallLimiter::Where(
    const std::function<bool(const OperatorCall&)>& wanted) {
  std::vector<std::shared_ptr<OperatorCall>> found;
  const MutexLock lock(mutex_);
  for (const std::weak_ptr<OperatorCall>& one : calls_) {
    std::shared_ptr<OperatorCall> call = one.lock();
    if (call != nullptr && wanted(*call)) found.push_back(std::move(call));
  }
  return found;
}

void CallLimiter::CutOffOverdue(absl::Duration now) {
  for (const auto& call :
       Where([now](const OperatorCall& one) { return now - one.begun() >= kOperatorCallLimit; })) {
    call->Refuse(absl::DeadlineExceededError("the answer was not ready, or not read, in time"));
  }
}

void CallLimiter::RefuseAll(const absl::Status& status) {
  {
    const MutexLock lock(mutex_);
    refusal_ = status;
  }
  for (const auto& call : Where([](const OperatorCall&) { return true; })) call->Refuse(status);
}

OperatorCall::OperatorCall(std::shared_ptr<CallLimiter> limiter)
    : limiter_(std::move(limiter)), begun_(MonotonicTime()) {}

// One reply ------------------------------------------------------------------------

std::shared_ptr<UnaryCall> UnaryCall::Begin(std::shared_ptr<CallLimiter> limiter,
                                            grpc::ServerUnaryReactor*& reactor) {
  auto call = std::make_shared<UnaryCall>(limiter);
  call->self_ = call;
  reactor = call.get();
  const absl::Status admitted = limiter->Admit(call);
  if (admitted.ok()) return call;
  call->Refuse(admitted);
  return nullptr;
}

void UnaryCall::Answer(const std::function<void()>& fill) {
  const MutexLock lock(mutex_);
  if (std::exchange(ended_, true)) return;
  fill();
  Finish(grpc::Status::OK);
}

void UnaryCall::Refuse(const absl::Status& status) {
  const MutexLock lock(mutex_);
  if (std::exchange(ended_, true)) return;
  Finish(transport::ToGrpc(status));
}

void UnaryCall::OnDone() {
  limiter().Remove(this);
  const std::shared_ptr<UnaryCall> self = std::move(self_);
}

// A document -----------------------------------------------------------------------

DocumentCall::DocumentCall(std::shared_ptr<CallLimiter> limiter,
                           grpc::CallbackServerContext* context)
    : OperatorCall(std::move(limiter)), context_(context) {}

std::shared_ptr<DocumentCall> DocumentCall::Begin(
    std::shared_ptr<CallLimiter> limiter, grpc::CallbackServerContext* context,
    grpc::ServerWriteReactor<v1::DocumentPart>*& reactor) {
  auto call = std::make_shared<DocumentCall>(limiter, context);
  call->self_ = call;
  reactor = call.get();
  const absl::Status admitted = limiter->Admit(call);
  if (admitted.ok()) return call;
  call->Refuse(admitted);
  return nullptr;
}

void DocumentCall::Deliver(Document document) {
  int64_t bytes = 0;
  for (const auto& one : {document.document, document.capture}) {
    if (one != nullptr) bytes += static_cast<int64_t>(one->size());
  }
  if (!limiter().Reserve(bytes)) {
    Refuse(absl::ResourceExhaustedError(
        "too much waits to be sent to other operators; try again later"));
    return;
  }
  const MutexLock lock(mutex_);
  if (ended_) {
    limiter().Release(bytes);
    return;
  }
  reserved_ = bytes;
  document_ = std::move(document);
  Continue();
}

void DocumentCall::Continue() {
  part_.Clear();
  if (document_.result.has_value()) {
    *part_.mutable_result() = *std::exchange(document_.result, std::nullopt);
  } else if (document_.document != nullptr && document_sent_ < document_.document->size()) {
    part_.set_document(document_.document->substr(document_sent_, kOperatorPartBytes));
    document_sent_ += part_.document().size();
  } else if (document_.capture != nullptr && capture_sent_ < document_.capture->size()) {
    part_.set_capture(document_.capture->substr(capture_sent_, kOperatorPartBytes));
    capture_sent_ += part_.capture().size();
  } else {
    ended_ = true;
    Finish(grpc::Status::OK);
    return;
  }
  writing_ = true;
  StartWrite(&part_);
}

void DocumentCall::Refuse(const absl::Status& status) {
  const MutexLock lock(mutex_);
  if (std::exchange(ended_, true)) return;
  final_status_ = transport::ToGrpc(status);
  if (!writing_) {
    Finish(final_status_);
  } else {
    context_->TryCancel();  // the call does not wait for a caller that does not read
  }
}

void DocumentCall::OnWriteDone(bool ok) {
  const MutexLock lock(mutex_);
  writing_ = false;
  if (ended_) {
    Finish(final_status_);
  } else if (!ok) {
    ended_ = true;
    Finish(grpc::Status::CANCELLED);
  } else {
    Continue();
  }
}

void DocumentCall::OnDone() {
  int64_t reserved = 0;
  {
    const MutexLock lock(mutex_);
    reserved = std::exchange(reserved_, 0);
    document_ = {};
  }
  limiter().Release(reserved);
  limiter().Remove(this);
  const std::shared_ptr<DocumentCall> self = std::move(self_);
}

}  // namespace rapideye::coordinator
