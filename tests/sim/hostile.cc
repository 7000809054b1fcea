#include "tests/sim/hostile.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "v1/agent.pb.h"

namespace rapideye::sim {

// Speaks for a worker of the job, but is older than its agent, of another job, or
// out of its shape.
wire::Hello Hostile::Impostor() {
  const scenarios::Layout& layout = job_.layout();
  wire::Hello hello;
  hello.job = job_.name();
  hello.worker = layout.Id(random_.Index(layout.machines.size()));
  hello.host = "impostor";
  hello.agent_incarnation = 1;
  hello.slices = layout.slices;
  hello.tasks_per_slice = layout.tasks;
  hello.poll_interval = options_.poll_interval;
  switch (random_.Index(4)) {
    case 0:
      hello.job = "another job";
      hello.agent_incarnation = std::numeric_limits<int64_t>::max();
      break;
    case 1:
      hello.worker.slice = layout.slices + 5;
      break;
    case 2:
      hello.protocol_version = wire::kNewestProtocolVersion + 1;
      hello.agent_incarnation = std::numeric_limits<int64_t>::max();
      break;
    default:
      break;
  }
  return hello;
}

std::string Hostile::Garbage() {
  std::string bytes = wire::ToWire(wire::AgentMessage(Impostor())).SerializeAsString();
  if (random_.Chance(0.5)) {
    bytes.clear();
    const int64_t length = random_.Between(0, 200);
    for (int64_t i = 0; i < length; ++i) bytes += static_cast<char>(random_.Next());
    return bytes;
  }
  for (int i = 0; i < 4; ++i) {
    bytes[static_cast<size_t>(random_.Index(bytes.size()))] = static_cast<char>(random_.Next());
  }
  if (WouldBeLearnt(bytes)) bytes.clear();
  return bytes;
}

// Where no shape is configured, a worker beyond it that no longer states one is taken at
// its word: that is how a job's shape is learnt, and no attack that anybody could tell.
bool Hostile::WouldBeLearnt(const std::string& bytes) const {
  v1::AgentMessage message;
  if (options_.shape_is_configured || !message.ParseFromString(bytes)) return false;
  if (!message.has_hello()) return false;
  const WorkerId worker = {message.hello().worker().slice(), message.hello().worker().task()};
  const std::vector<scenarios::Machine>& machines = job_.layout().machines;
  return std::none_of(machines.begin(), machines.end(),
                      [&](const auto& machine) { return machine.id == worker; });
}

void Hostile::Attack() {
  const Connection connection = network_.Connect(this);
  const auto say = [&](const wire::AgentMessage& message) {
    network_.FromAgent(connection, wire::ToWire(message).SerializeAsString());
  };
  switch (random_.Index(5)) {
    case 0:  // says nothing at all
      return;
    case 1:
      for (int i = 0; i < 5; ++i) network_.FromAgent(connection, Garbage());
      return;
    case 2: {  // answers that nobody asked for
      Snapshot snapshot;
      snapshot.worker = job_.layout().Id(0);
      snapshot.host = "impostor";
      for (int i = 0; i < 5; ++i) say(wire::SnapshotReply{random_.Between(0, 9), snapshot});
      for (int i = 0; i < 5; ++i) {
        say(wire::ModuleTextReply{random_.Between(0, 9), std::nullopt, "nobody asked"});
      }
      // Everybody fails to reach the first worker.
      Probe probe;
      probe.peer = snapshot.worker;
      for (int i = 0; i < 5; ++i) say(wire::ProbeReply{random_.Between(0, 9), {probe}, ""});
      return;
    }
    case 3:  // a word before hello
      return say(wire::Alarm{wire::AlarmKind::kHangLine, "everything hangs\nreally"});
    default:
      say(Impostor());
      for (int i = 0; i < 300; ++i) say(wire::Heartbeat{});
      return;
  }
}

}  // namespace rapideye::sim
