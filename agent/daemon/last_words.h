// LastWords decides when an agent whose training process has ended may exit.
#ifndef RAPIDEYE_AGENT_DAEMON_LAST_WORDS_H_
#define RAPIDEYE_AGENT_DAEMON_LAST_WORDS_H_

#include "agent/core/effects.h"

namespace rapideye::agent {

// Observes the events and effects of the core. Once the process has ended, the agent may
// exit, unless an alarm has reached a coordinator: then the coordinator collects evidence
// from all workers, this one too, and the agent stays until the incident is
// concluded.
//
// Note is for the thread that owns the core, which notes the effects of an event
// before the event.
class LastWords {
 public:
  LastWords();
  ~LastWords();
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  void Note(const Effect& effect);
  void Note(const Event& event);

  // Readable once the agent may go. Any thread.
  int fd() const { return done_; }

 private:
  const int done_;  // an eventfd
  bool ended_ = false;
  bool awaited_ = false;  // a coordinator collects evidence
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_LAST_WORDS_H_
