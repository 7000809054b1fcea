// When an agent whose training process has ended may go.
#ifndef RAPIDEYE_AGENT_DAEMON_LAST_WORDS_H_
#define RAPIDEYE_AGENT_DAEMON_LAST_WORDS_H_

#include "agent/core/effects.h"

namespace rapideye::agent {

// Follows what passes through the core. Once the process was seen to have ended, there
// is nothing more to stay for, unless an alarm has reached a coordinator: then all
// workers are looked at, this one too, and it is worth staying until that is
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
  bool awaited_ = false;  // somebody looks at what happened
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_LAST_WORDS_H_
