// HostScript plays an agent whose host shows its training process.
#ifndef RAPIDEYE_TESTS_SUPPORT_HOST_SCRIPT_H_
#define RAPIDEYE_TESTS_SUPPORT_HOST_SCRIPT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "tests/support/core_script.h"

namespace rapideye::agent {

class HostScript : public CoreScript {
 public:
  HostScript() : CoreScript(absl::Seconds(5), 1, /*watches_host=*/true) {
    host.Of<ProcessReading>() = ProcessReading{Alive({4211, 100}, 0), ""};
    AnswerWaiting();
  }

  static ProcessSample Alive(ProcessId id, int64_t cpu_ms) {
    ProcessSample sample;
    sample.id = id;
    sample.command = "python3";
    sample.state = ProcessState::kSleeping;
    sample.cpu_ms = cpu_ms;
    return sample;
  }

  // The runtime answers with another launch id each poll, or the same one.
  void Launch(int launch_id, absl::Duration time = absl::Seconds(5)) {
    reading = Serving({Running(0, "aa", launch_id, 7)});
    Pass(time);
  }

  ProcessSample& process() { return *host.Of<ProcessReading>()->process; }

  // Ends the process as the watcher reports it, without being asked.
  void End(std::optional<int32_t> exit_code, std::optional<int32_t> signal) {
    process().state = ProcessState::kExited;
    process().exit_code = exit_code;
    process().signal = signal;
    Step(HostSampled{0, host});
  }

  std::vector<wire::Alarm> SentAlarms() const { return Sent<wire::Alarm>(); }

 private:
  // Lets the first poll end: it began before the host had anything to show.
  void AnswerWaiting() { Pass(absl::Seconds(1)); }
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_TESTS_SUPPORT_HOST_SCRIPT_H_
