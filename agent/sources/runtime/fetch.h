// Queries the TPU runtime's status service for the state of its cores.
#ifndef RAPIDEYE_AGENT_SOURCES_RUNTIME_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_RUNTIME_FETCH_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace rapideye::agent {

class RuntimeClient {
 public:
  // `address` is HOST:PORT of a service on this host, plaintext. Connects when
  // first asked.
  explicit RuntimeClient(const std::string& address);
  ~RuntimeClient();
  RuntimeClient(const RuntimeClient&) = delete;
  RuntimeClient& operator=(const RuntimeClient&) = delete;

  // The bytes of the answer, unparsed. Blocks for at most `deadline`; one call
  // at a time. UNAVAILABLE: no process listens. DEADLINE_EXCEEDED: a process listens
  // and does not answer. UNIMPLEMENTED: a runtime without this service.
  // RESOURCE_EXHAUSTED: an answer larger than the channel takes. CANCELLED:
  // after Cancel. Others as the runtime gives them.
  absl::StatusOr<std::string> Fetch(bool with_hlo, absl::Duration deadline);

  // Ends the present call and every later one. Any thread.
  void Cancel();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_RUNTIME_FETCH_H_
