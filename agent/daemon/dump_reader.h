// DumpReader reads XLA's dumps when the core asks, on a thread of its own: a large one takes a
// second, and the directory may be on a network.
#ifndef RAPIDEYE_AGENT_DAEMON_DUMP_READER_H_
#define RAPIDEYE_AGENT_DAEMON_DUMP_READER_H_

#include <functional>
#include <memory>
#include <string>

#include "agent/core/effects.h"
#include "agent/sources/hlo_dump/fetch.h"
#include "proto/common/worker/closable_sink.h"
#include "proto/common/worker/worker.h"

namespace rapideye::agent {

class DumpReader {
 public:
  // Called on the reader's thread, which may outlive the reader but makes no calls then.
  using Sink = std::function<void(Event)>;

  DumpReader(std::string directory, Sink sink);
  // Waits for no disk: a read under way is left behind.
  ~DumpReader();
  DumpReader(const DumpReader&) = delete;
  DumpReader& operator=(const DumpReader&) = delete;

  // Return at once. A request that has not begun gives way to a newer one of its kind.
  void Start(const FetchModuleText& fetch);
  void Start(const ListDumps& list);

 private:
  const std::string directory_;
  const std::shared_ptr<ClosableSink<Event>> sink_;  // with the thread, which may outlive this
  const std::shared_ptr<DumpFingerprints> known_;    // the thread's alone
  Worker worker_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_DUMP_READER_H_
