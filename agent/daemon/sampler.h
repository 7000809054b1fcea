// Sampler polls the TPU runtime when the core asks, on a thread of its own.
#ifndef RAPIDEYE_AGENT_DAEMON_SAMPLER_H_
#define RAPIDEYE_AGENT_DAEMON_SAMPLER_H_

#include <functional>
#include <string>

#include "agent/core/effects.h"
#include "agent/daemon/instruction_reader.h"
#include "agent/sources/runtime/fetch.h"
#include "agent/sources/runtime/sample.h"
#include "proto/common/worker/worker.h"

namespace rapideye::agent {

class Sampler {
 public:
  // Called on the sampler's thread, once per Poll.
  using Sink = std::function<void(RuntimeSampled)>;

  // `hlo_dump_dir`: where XLA dumps its programs; empty: nowhere.
  Sampler(const std::string& runtime_address, const std::string& hlo_dump_dir, Sink sink);
  // Waits for no runtime: a poll under way is given up.
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Returns at once. A poll that has not begun gives way to a newer one.
  void Start(const Poll& poll);

 private:
  RuntimeClient runtime_;
  InstructionReader instructions_;
  const Sink sink_;
  Worker worker_;  // last: its jobs use the others
};

// One reading of the runtime, fetched and parsed. Blocks up to `deadline`.
RuntimeReading ReadRuntime(RuntimeClient& runtime, bool with_hlo, absl::Duration deadline);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_SAMPLER_H_
