// InstructionReader adds to samples of the runtime what cores wait for, by XLA's dumps.
#ifndef RAPIDEYE_AGENT_DAEMON_INSTRUCTION_READER_H_
#define RAPIDEYE_AGENT_DAEMON_INSTRUCTION_READER_H_

#include <memory>
#include <string>

#include "absl/time/time.h"
#include "agent/sources/hlo_dump/fetch.h"
#include "agent/sources/runtime/sample.h"
#include "proto/common/worker/worker.h"

namespace rapideye::agent {

// Reads on a thread of its own: the directory may be on a network that hangs.
class InstructionReader {
 public:
  // Without a directory it adds nothing.
  explicit InstructionReader(const std::string& directory);
  // Waits for no disk: a read under way is left behind.
  ~InstructionReader();
  InstructionReader(const InstructionReader&) = delete;
  InstructionReader& operator=(const InstructionReader&) = delete;

  // Fills hlo_waits and meeting of the sequencers whose module and instruction the runtime has
  // named. Blocks for at most `patience`: what takes longer is there for a later sample. One call
  // at a time.
  void AddWaits(RuntimeSample& sample, absl::Duration patience);

 private:
  const std::shared_ptr<InstructionWaits> waits_;  // the thread's alone; null: no directory
  Worker worker_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_INSTRUCTION_READER_H_
