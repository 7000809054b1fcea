// Plays an AgentCore in virtual time against a runtime and a coordinator that
// a test moves by hand.
#ifndef RAPIDEYE_TESTS_SUPPORT_CORE_SCRIPT_H_
#define RAPIDEYE_TESTS_SUPPORT_CORE_SCRIPT_H_

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/core/agent_core.h"
#include "proto/common/time/instant.h"
#include "tests/support/sample_builder.h"

namespace rapideye::agent {

class CoreScript {
 public:
  struct PollSeen {
    absl::Duration at;
    Poll poll;
  };
  // Sees every effect before it is carried out.
  using Observer = std::function<void(absl::Duration now, const Effect&)>;

  explicit CoreScript(absl::Duration poll_interval = absl::Seconds(5), uint64_t seed = 1,
                      bool watches_host = false)
      : CoreScript(Settings(poll_interval, seed, watches_host), absl::Hours(100), nullptr) {
    Step(Wake{});
  }

  // Leaves the first Step to the test.
  CoreScript(const AgentSettings& settings, absl::Duration now, Observer observer)
      : watches_host_(settings.watches_host),
        observer_(std::move(observer)),
        core_(settings),
        now_(now) {}

  static AgentSettings Settings(absl::Duration poll_interval, uint64_t seed, bool watches_host);

  // Answer of the runtime from now on; with HLO if asked for it.
  RuntimeReading reading = Serving({Idle(0)});
  std::optional<RuntimeReading> reading_with_hlo;
  // False: polls stay unanswered until AnswerPoll.
  bool runtime_answers = true;
  // Answer of the host, for a script that watches it.
  HostReading host;
  bool host_answers = true;
  // Answer to a look that asks for stacks; absent: they take their time.
  std::optional<StackReading> stacks = StackReading{};

  void Step(const Event& event) { CarryOut(core_.Step(event, Now())); }

  // Lets time pass and wakes the core whenever it asks for that.
  void Pass(absl::Duration time);

  bool poll_waits() const { return waiting_.has_value(); }
  bool host_poll_waits() const { return waiting_host_ != 0; }
  void AnswerPoll() {
    const Poll poll = *std::exchange(waiting_, std::nullopt);
    Step(RuntimeSampled{poll.poll, poll.with_hlo ? reading_with_hlo.value_or(reading) : reading});
  }

  void AnswerHost() {
    HostReading answer = host;
    if (std::exchange(waiting_for_stacks_, false)) answer.Of<StackReading>() = stacks;
    Step(HostSampled{std::exchange(waiting_host_, 0), std::move(answer)});
  }

  void Receive(wire::CoordinatorMessage message) {
    Step(MessageReceived{stream, std::move(message)});
  }

  void Welcome(absl::Duration attention_after = absl::Seconds(10)) {
    wire::Welcome welcome;
    welcome.heartbeat_interval = absl::Minutes(1);
    welcome.attention_after = attention_after;
    Receive(welcome);
  }

  // Messages of one kind sent so far.
  template <typename T>
  std::vector<T> Sent() const {
    std::vector<T> found;
    for (const wire::AgentMessage& message : sent) {
      if (const T* m = std::get_if<T>(&message)) found.push_back(*m);
    }
    return found;
  }

  int HloPolls() const {
    return static_cast<int>(std::count_if(polls.begin(), polls.end(),
                                          [](const PollSeen& p) { return p.poll.with_hlo; }));
  }

  Snapshot Describe() const { return core_.Describe(Now()); }
  absl::Duration NextWake() const { return core_.NextWake(); }
  bool MayEnd() const { return core_.MayEnd(); }
  absl::Duration now() const { return now_; }
  Instant Now() const { return {now_, absl::UnixEpoch() + absl::Hours(1) + now_}; }

  std::vector<PollSeen> polls;
  std::vector<wire::AgentMessage> sent;
  std::vector<Log> logs;
  std::vector<SavedState> kept;
  int64_t stream = 0;  // the last one opened
  int connects = 0;
  int closes = 0;
  bool stuck = false;
  int launch = 100;  // for a test that counts launches

 private:
  void CarryOut(const Effects& effects);

  const bool watches_host_;
  const Observer observer_;
  AgentCore core_;
  int64_t waiting_host_ = 0;  // number of the poll
  bool waiting_for_stacks_ = false;
  absl::Duration now_;
  std::optional<Poll> waiting_;
};

inline AgentSettings CoreScript::Settings(absl::Duration poll_interval, uint64_t seed,
                                          bool watches_host) {
  AgentSettings settings;
  settings.hello.job = "job";
  settings.hello.worker = {1, 2};
  settings.hello.host = "host-1-2";
  settings.hello.agent_incarnation = 0xabc;
  settings.hello.poll_interval = poll_interval;
  settings.seed = seed;
  settings.watches_host = watches_host;
  return settings;
}

inline void CoreScript::Pass(absl::Duration time) {
  const absl::Duration end = now_ + time;
  while (core_.NextWake() <= end) {
    if (core_.NextWake() <= now_) {
      stuck = true;  // it would be woken for ever
      return;
    }
    now_ = core_.NextWake();
    Step(Wake{});
  }
  now_ = end;
}

inline void CoreScript::CarryOut(const Effects& effects) {
  for (const Effect& effect : effects) {
    if (observer_) observer_(now_, effect);
    if (const auto* poll = std::get_if<Poll>(&effect)) {
      polls.push_back({now_, *poll});
      waiting_ = *poll;
      waiting_host_ = poll->poll;
      waiting_for_stacks_ |= poll->look.stacks != StackLook::kNone;
    } else if (const auto* connect = std::get_if<Connect>(&effect)) {
      stream = connect->stream;
      ++connects;
    } else if (const auto* send = std::get_if<Send>(&effect)) {
      sent.push_back(send->message);
    } else if (std::holds_alternative<Close>(effect)) {
      ++closes;
    } else if (const auto* keep = std::get_if<Keep>(&effect)) {
      kept.push_back(keep->state);
    } else if (const auto* log = std::get_if<Log>(&effect)) {
      logs.push_back(*log);
    }
  }
  if (watches_host_ && host_answers && waiting_host_ != 0) AnswerHost();
  if (runtime_answers && waiting_.has_value()) AnswerPoll();
}

}  // namespace rapideye::agent

#endif  // RAPIDEYE_TESTS_SUPPORT_CORE_SCRIPT_H_
