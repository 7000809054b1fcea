// IncidentWriter turns collected evidence into a digest on disk and in the log, off the core's
// thread.
#ifndef RAPIDEYE_COORDINATOR_STORE_INCIDENT_WRITER_H_
#define RAPIDEYE_COORDINATOR_STORE_INCIDENT_WRITER_H_

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "classifier/classify.h"
#include "classifier/verdict/verdict.h"
#include "coordinator/core/events.h"
#include "coordinator/core/limits.h"
#include "coordinator/fleet/records/records.h"
#include "coordinator/store/digest_times.h"
#include "coordinator/store/incident_pipeline.h"
#include "digest/digest.h"
#include "proto/common/worker/worker.h"

namespace rapideye::coordinator {

struct RenderedDigest {
  std::string text;
  std::string json;
  std::string html;
};

// A digest that is in the log.
struct WrittenDigest {
  std::string incident_id;
  int64_t revision = 1;
  std::string job;
  absl::Time detected;  // the alarm
  std::string text;
  std::optional<ToldVerdict> verdict;  // as DigestLog has it
  DigestTimes times;
};

// The extent of a capture's evidence, to compare two looks at the same standstill.
struct EvidenceExtent {
  size_t workers = 0;          // that sent a snapshot
  size_t cores = 0;            // whose state they know
  size_t named_positions = 0;  // of which the HLO instruction is known
  size_t with_stacks = 0;      // workers

  static EvidenceExtent Of(const Capture& capture);
  // True if stacks have come that `before` lacked, and nothing else is lost.
  bool AddsStacksTo(const EvidenceExtent& before) const;
};

// Thread-safe. Its thread classifies, renders and logs; the pipeline's writes, so
// that a disk which hangs cannot silence the digest.
class IncidentWriter {
 public:
  struct Settings {
    digest::TextFormat text_format = digest::TextFormat::kClassic;
    // Time that a digest waits for the disk, so that it can name its files.
    absl::Duration disk_patience = kDiskPatience;
    // Time that a digest waits for its verdict; then it says what is known without the verdict.
    absl::Duration verdict_patience = kVerdictPatience;
    // Classifies; may be called on any thread, and may never return.
    std::function<Verdict(const Capture&)> classify = [](const Capture& capture) {
      return Classify(capture);
    };
    // Time for the digest's forms; then they come of a report without the workers' own evidence.
    absl::Duration render_patience = kVerdictPatience;
    // Builds the report; may be called on any thread, and may never return.
    std::function<digest::Report(const Capture&, const Verdict&, const digest::ReportContext&)>
        report = [](const Capture& capture, const Verdict& verdict,
                    const digest::ReportContext& context) {
          return digest::BuildReport(capture, verdict, context);
        };
    // Called on the writer's thread.
    DigestLog log_digest;
    // Called with every verdict, NO_HANG included. May be empty.
    std::function<void(Cause cause, absl::Duration classification)> classified;
    // Called with every digest that is in the log. May be empty.
    std::function<void(const WrittenDigest&)> digested = nullptr;
    // Called with every hang, before the pipeline gets it. May be empty.
    std::function<void(IncidentRecord)> found = nullptr;
    // Requests the texts of programs that have diverged; the answer is a Post of
    // TextsGathered. Empty: texts are not available.
    std::function<void(TextsWanted)> want_texts = nullptr;
    // Returns the number of the digest that an earlier coordinator has left of this incident; 1 if
    // it is not known. Called for a further look at the incident. May be empty.
    std::function<int64_t(const std::string& incident_id)> revision_on_disk = nullptr;
    // Called when the digest is in the log and the disk has done its work, has
    // failed for now, or has run out of time.
    std::function<void(IncidentConcluded)> concluded;
  };

  // `pipeline` outlives the writer.
  IncidentWriter(IncidentPipeline& pipeline, Settings settings);
  // Finishes incidents under way, without texts that have not arrived.
  ~IncidentWriter();

  void Post(Conclude conclude);
  // Ignored for an incident that waits for no texts.
  void Post(TextsGathered texts);

 private:
  // An incident on its way to its digest.
  struct Begun {
    // Shared with a classification that was not waited for.
    std::shared_ptr<Conclude> conclude;
    Verdict verdict;
    absl::Duration classification;
    std::vector<IncidentFile> texts = {};
    int64_t revision = 1;
    absl::Duration began = {};  // on the steady clock
  };

  // Returns an unknown verdict if classification takes too long.
  Verdict VerdictOn(const std::shared_ptr<Conclude>& conclude) const;
  void Process(Conclude conclude);
  // Renders all forms of the digest.
  RenderedDigest Render(const Begun& begun, const digest::ReportContext& context) const;
  // The revision of the digest that is out.
  int64_t RevisionOf(const std::string& incident_id) const;
  // True if a digest with a cause is out, and this look names the same, or one of its culprits.
  bool Repeats(const Begun& begun) const;
  // True if UNKNOWN is out, and this look, which says the same, has stacks that came too late then.
  bool HasLateStacks(const Begun& begun) const;
  // True if the verdict needs no digest; then reports that to the core, with the time for which the
  // verdict holds.
  bool SaysNothingNew(const Begun& begun);
  void Process(TextsGathered texts);
  // Finishes an incident without the texts that it still waits for.
  void FinishWaiting();
  void Finish(Begun begun);
  // The incident as the fleet remembers it.
  IncidentRecord RecordOf(const Begun& begun) const;
  // Reports a digest that is in the log.
  void Announce(const Begun& begun, std::string text,
                const std::optional<ToldVerdict>& verdict) const;

  IncidentPipeline& pipeline_;
  const Settings settings_;
  // Only the thread uses these.
  std::optional<Begun> awaits_texts_;
  std::string last_incident_;  // the last incident that got a digest
  int64_t last_revision_ = 1;
  Verdict last_verdict_;
  EvidenceExtent last_evidence_;
  Worker worker_;  // last member: its jobs use the others
};

}  // namespace rapideye::coordinator

#endif  // RAPIDEYE_COORDINATOR_STORE_INCIDENT_WRITER_H_
