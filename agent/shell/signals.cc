#include "agent/shell/signals.h"

#include <pthread.h>
#include <signal.h>  // NOLINT: sigwait is POSIX, not in <csignal>

#include <utility>

namespace rapideye::agent {
namespace {

sigset_t EndingSignals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  return signals;
}

}  // namespace

void BlockEndingSignals() {
  const sigset_t signals = EndingSignals();
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
}

SignalWatch::SignalWatch(std::function<void()> handler)
    : handler_(std::move(handler)), thread_([this] { Run(); }) {}

SignalWatch::~SignalWatch() {
  stopping_ = true;
  pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
}

void SignalWatch::Run() {
  const sigset_t signals = EndingSignals();
  while (true) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (stopping_) return;
    handler_();
  }
}

}  // namespace rapideye::agent
