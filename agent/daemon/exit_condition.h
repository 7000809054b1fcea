// ExitCondition tells another thread that an agent whose training process has ended may exit.
#ifndef RAPIDEYE_AGENT_DAEMON_EXIT_CONDITION_H_
#define RAPIDEYE_AGENT_DAEMON_EXIT_CONDITION_H_

namespace rapideye::agent {

// Carries AgentCore::MayEnd from the thread that owns the core to the thread that waits for
// the end. A new process in the place of the ended one revokes it.
class ExitCondition {
 public:
  ExitCondition();
  ~ExitCondition();
  ExitCondition(const ExitCondition&) = delete;
  ExitCondition& operator=(const ExitCondition&) = delete;

  // After each step of the core, on its thread.
  void Note(bool may_end);

  // Readable while the agent may go. Any thread.
  int fd() const { return done_; }

 private:
  const int done_;  // an eventfd
  bool may_end_ = false;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_DAEMON_EXIT_CONDITION_H_
