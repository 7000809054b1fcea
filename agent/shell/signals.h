// SIGTERM and SIGINT as a call on a thread of their own.
#ifndef RAPIDEYE_AGENT_SHELL_SIGNALS_H_
#define RAPIDEYE_AGENT_SHELL_SIGNALS_H_

#include <atomic>
#include <functional>
#include <thread>

namespace rapideye::agent {

// Call first of all, before any thread starts: threads inherit it.
void BlockEndingSignals();

// Calls `handler` for every SIGTERM and SIGINT of the process, while it lives.
// They must be blocked in all threads.
class SignalWatch {
 public:
  explicit SignalWatch(std::function<void()> handler);
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

 private:
  void Run();

  std::function<void()> handler_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SHELL_SIGNALS_H_
