// Lists the sources of evidence that an operator can switch off. A new source is its folder
// and a line here.
#ifndef RAPIDEYE_AGENT_SOURCES_REGISTRY_H_
#define RAPIDEYE_AGENT_SOURCES_REGISTRY_H_

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "agent/sources/hlo_dump/state.h"
#include "agent/sources/kernel_log/state.h"
#include "agent/sources/log/state.h"
#include "agent/sources/nic/state.h"
#include "agent/sources/pcie/state.h"
#include "agent/sources/platform/state.h"
#include "agent/sources/probe/state.h"
#include "agent/sources/process/state.h"
#include "agent/sources/progress_page/state.h"
#include "agent/sources/runtime_metrics/state.h"
#include "agent/sources/source.h"
#include "agent/sources/stacks/state.h"
#include "agent/sources/start_up/state.h"
#include "agent/sources/tcp/state.h"

namespace rapideye::agent {

template <typename... Source>
struct SourceList {};

// In the order in which they are read, observed and added to a snapshot: the process comes
// before what is read of it.
using Sources = SourceList<  //
    TrainingLogSource,       //
    ProcessSource,           //
    TcpSource,               //
    NicSource,               //
    PcieSource,              //
    KernelLogSource,         //
    HloDumpSource,           //
    ProgressPageSource,      //
    RuntimeMetricsSource,    //
    ProbeSource,             //
    StartUpSource,           //
    PlatformSource,          //
    StacksSource>;

// The readings of one look at the host. Sources that were not read are absent.
template <typename List>
class ReadingsOf;
template <typename... Source>
class ReadingsOf<SourceList<Source...>> {
 public:
  template <typename Reading>
  std::optional<Reading>& Of() {
    return std::get<std::optional<Reading>>(readings_);
  }
  template <typename Reading>
  const std::optional<Reading>& Of() const {
    return std::get<std::optional<Reading>>(readings_);
  }

 private:
  std::tuple<std::optional<typename Source::Reading>...> readings_;
};
using HostReading = ReadingsOf<Sources>;

// The states of all sources.
template <typename List>
class StatesOf;
template <typename... Source>
class StatesOf<SourceList<Source...>> {
 public:
  template <typename State>
  State& Of() {
    return std::get<State>(states_);
  }
  template <typename State>
  const State& Of() const {
    return std::get<State>(states_);
  }

  // Calls function(state) for each source, as a SourceState.
  template <typename Function>
  void ForEach(Function function) {
    (function(static_cast<SourceState&>(Of<typename Source::State>())), ...);
  }
  template <typename Function>
  void ForEach(Function function) const {
    (function(static_cast<const SourceState&>(Of<typename Source::State>())), ...);
  }

  // Calls function(state, reading) for each source that was looked at, with its own types.
  template <typename Function>
  void ForEachRead(const ReadingsOf<SourceList<Source...>>& readings, Function function) {
    const auto visit = [&](auto& state, const auto& reading) {
      if (reading.has_value()) function(state, *reading);
    };
    (visit(Of<typename Source::State>(), readings.template Of<typename Source::Reading>()), ...);
  }

 private:
  std::tuple<typename Source::State...> states_;
};
using SourceStates = StatesOf<Sources>;

// Names as `--disable` takes them, in the order of the list. The runtime is the reason for an
// agent, and cannot be switched off.
std::vector<std::string> SourceNames();

// Each name once. INVALID_ARGUMENT names the wrong names, and the sources that exist.
absl::StatusOr<std::set<std::string>> ParseSources(const std::vector<std::string>& names);

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_REGISTRY_H_
