#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "coordinator/core/coordinator_core.h"
#include "coordinator/core/limits.h"

namespace rapideye::coordinator {

// Streams ----------------------------------------------------------------------

void CoordinatorCore::On(const StreamOpened& event) {
  if (stopping_) {
    Emit(Close{event.stream, absl::UnavailableError("the coordinator is stopping")});
    return;
  }
  streams_.Open(event, now_.monotonic);
}

void CoordinatorCore::On(const StreamRefused& event) {
  ++job_.counters.streams_refused;
  WarnOfPeer(absl::StrFormat("refused a stream at %s: %s", Quoted(event.peer),
                             Quoted(std::string(event.status.message()))));
}

void CoordinatorCore::On(const StreamCutOff& event) {
  ++job_.counters.cut_off;
  if (!streams_.Contains(event.stream)) return;
  WarnOfPeer(absl::StrFormat("cut off the stream at %s: %s",
                             streams_.DebugName(event.stream, job_.membership),
                             Quoted(std::string(event.status.message()))));
}

void CoordinatorCore::On(const StreamClosed& event) { Drop(event.stream, /*log=*/true); }

void CoordinatorCore::Drop(StreamId stream, bool log) {
  streams_.Erase(stream);
  const std::optional<WorkerId> worker = job_.membership.Leave(stream);
  if (!worker.has_value()) return;
  all_connected_ = false;
  job_.progress.Disconnected(*worker);
  restart_.OnLeave(*worker);
  LeaveCollections(*worker);
  if (log) {
    Info(absl::StrFormat("%s disconnected (%d connected)", Describe(*job_.membership.Find(*worker)),
                         job_.membership.connected()));
  }
}

void CoordinatorCore::LeaveCollections(const WorkerId& worker) {
  if (Incident* one = Collecting()) one->OnLeave(worker, now_.monotonic, effects_);
  if (texts_.has_value()) texts_->OnLeave(worker, now_.monotonic, effects_);
}

void CoordinatorCore::Refuse(StreamId stream, const absl::Status& status) {
  WarnOfPeer(absl::StrFormat("closed the stream at %s: %s",
                             streams_.DebugName(stream, job_.membership),
                             Quoted(std::string(status.message()))));
  Emit(Close{stream, status});
  Drop(stream, /*log=*/false);
}

void CoordinatorCore::WarnOfPeer(const std::string& text) {
  streams_.Warn(text, now_.monotonic, job_.counters.unlogged_lines, effects_);
}

void CoordinatorCore::CloseSilentStreams() {
  for (const PeerStreams::Overdue& one : streams_.FindOverdue(job_.membership, now_.monotonic)) {
    ++(one.nameless ? job_.counters.hello_timeouts : job_.counters.silent_streams);
    Refuse(one.stream, one.status);
  }
}

bool CoordinatorCore::TakeToken(StreamId stream) {
  const absl::Status status = streams_.CountMessage(stream, now_.monotonic);
  if (status.ok()) return true;
  ++job_.counters.floods;
  Refuse(stream, status);
  return false;
}

void CoordinatorCore::CloseAll() {
  streams_.CloseAll(absl::UnavailableError("the coordinator is stopping"), effects_);
}

// Messages ---------------------------------------------------------------------

void CoordinatorCore::On(const MessageSkipped& event) {
  if (streams_.Contains(event.stream)) TakeToken(event.stream);
}

void CoordinatorCore::On(const MessageMalformed& event) {
  if (!streams_.Contains(event.stream)) return;
  ++job_.counters.messages_refused;
  Refuse(event.stream, event.status);
}

void CoordinatorCore::On(MessageReceived& event) {
  if (!streams_.Contains(event.stream)) return;  // closed; the message was on its way
  if (!TakeToken(event.stream)) return;
  streams_.OnMessage(event.stream, now_.monotonic);
  absl::Status status;
  if (const auto* hello = std::get_if<wire::Hello>(&event.message)) {
    status = OnHello(event.stream, *hello);
    ++(status.ok() ? job_.counters.hellos_admitted : job_.counters.hellos_refused);
    if (absl::IsAlreadyExists(status)) ++job_.counters.duplicate_agents;
    if (absl::IsPermissionDenied(status)) ++job_.counters.foreign_agents;
  } else if (const Member* member = job_.membership.FindByStream(event.stream)) {
    status = Dispatch(*member, event);
    if (!status.ok()) ++job_.counters.messages_refused;
  } else {
    ++job_.counters.messages_refused;
    status = absl::FailedPreconditionError("the first message of a stream must be a hello");
  }
  if (!status.ok()) Refuse(event.stream, status);
}

}  // namespace rapideye::coordinator
