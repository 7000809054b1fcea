#include "agent/daemon/dump_reader.h"

#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "agent/sources/hlo_dump/fetch.h"
#include "agent/sources/hlo_dump/limits.h"

namespace rapideye::agent {
namespace {

ModuleTextFetched Read(const std::string& directory, const FetchModuleText& fetch,
                       const DumpFingerprints& known) {
  absl::StatusOr<wire::ModuleText> text =
      ReadModuleText(directory, fetch.module, fetch.fingerprint, fetch.deadline, known);
  if (!text.ok()) return {fetch.fetch, std::nullopt, std::string(text.status().message())};
  return {fetch.fetch, *std::move(text), ""};
}

// Kinds of jobs; of each kind only the latest job waits.
enum Kind { kFetch, kList };

}  // namespace

DumpReader::DumpReader(std::string directory, Sink sink)
    : directory_(std::move(directory)),
      sink_(std::make_shared<ClosableSink<Event>>(std::move(sink))),
      known_(std::make_shared<DumpFingerprints>()) {}

DumpReader::~DumpReader() {
  sink_->Close();
  worker_.Drop();
  worker_.Stop(absl::ZeroDuration());
}

void DumpReader::Start(const FetchModuleText& fetch) {
  worker_.PostLatest([directory = directory_, sink = sink_, known = known_,
                      fetch] { sink->Send(Read(directory, fetch, *known)); },
                     kFetch);
}

void DumpReader::Start(const ListDumps& list) {
  DumpLook look{.fingerprints = list.fingerprints};
  if (list.process_age.has_value()) look.since = absl::Now() - *list.process_age;
  worker_.PostLatest(
      [directory = directory_, sink = sink_, known = known_, look] {
        sink->Send(DumpsListed{ListHloDumps(directory, look, kHloDumpDeadline, *known)});
      },
      kList);
}

}  // namespace rapideye::agent
