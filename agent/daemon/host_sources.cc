#include "agent/daemon/host_sources.h"

#include "absl/time/time.h"
#include "proto/common/clock/clock.h"

namespace rapideye::agent {
namespace {

template <typename Source>
std::unique_ptr<Fetcher<typename Source::Reading>> Make(const HostOptions& options,
                                                        HostFindings& found) {
  if (options.disabled.contains(Source::kName)) return nullptr;
  return Source::MakeFetcher(options, found);
}

template <typename... Source>
FetchersOf<SourceList<Source...>> MakeAll(SourceList<Source...>, const HostOptions& options,
                                          HostFindings& found) {
  return {{Make<Source>(options, found)...}};
}

template <typename Source>
void ReadOne(Fetcher<typename Source::Reading>* fetcher, const HostLook& look, absl::Duration now,
             HostFindings& found, HostReading& reading) {
  reading.Of<typename Source::Reading>() =
      fetcher != nullptr ? fetcher->Fetch(look, now, found) : Source::WithoutFetcher(look);
}

template <typename... Source>
HostReading ReadAll(const FetchersOf<SourceList<Source...>>& fetchers, const HostLook& look,
                    absl::Duration now, HostFindings& found) {
  HostReading reading;
  (ReadOne<Source>(std::get<std::unique_ptr<Fetcher<typename Source::Reading>>>(fetchers.all).get(),
                   look, now, found, reading),
   ...);
  return reading;
}

}  // namespace

HostSources::HostSources(const HostOptions& options)
    : fetchers_(MakeAll(Sources(), options, found_)) {}

HostReading HostSources::Read(HostLook look) {
  found_.process.reset();
  found_.tpus_listed = false;
  return ReadAll(fetchers_, look, MonotonicTime(), found_);
}

int HostSources::exit_descriptor() const {
  return found_.exit_descriptor ? found_.exit_descriptor() : -1;
}

}  // namespace rapideye::agent
