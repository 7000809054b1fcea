// The samples, as they are, shuffled, and with what a real collection loses or
// adds: the verdict is right, or UNKNOWN; it never accuses the innocent.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "classifier/classify.h"
#include "proto/capture/capture_reader.h"
#include "tests/verdicts/truth.h"

namespace rapideye::testing {
namespace {

std::string SampleDir() {
  const char* dir = std::getenv("RAPIDEYE_TEST_DATA");
  return dir == nullptr ? "tests/samples" : dir;
}

struct Sample {
  std::string name;
  Capture capture;
  Truth truth;
};

std::vector<Sample> Samples() {
  std::vector<Sample> samples;
  for (const auto& [name, truth] : LoadTruth(SampleDir() + "/truth.json")) {
    auto capture = wire::ReadCaptureFile(SampleDir() + "/" + name);
    EXPECT_TRUE(capture.ok()) << name << ": " << capture.status();
    if (capture.ok()) samples.push_back({name, *std::move(capture), truth});
  }
  return samples;
}

std::string Told(const Verdict& verdict) {
  std::string text(CauseName(verdict.cause));
  text += "/";
  text += DetailName(verdict.detail);
  for (const Culprit& culprit : verdict.culprits) text += "\n  " + culprit.why;
  return text;
}

TEST(Samples, AreAllThere) { EXPECT_EQ(Samples().size(), 11U); }

TEST(Samples, MeetTheirTruthEntirely) {
  for (const Sample& sample : Samples()) {
    const Verdict verdict = Classify(sample.capture);
    EXPECT_TRUE(Accepts(sample.truth, verdict)) << sample.name << ": " << Told(verdict);
  }
}

void ShufflePrograms(Snapshot& snapshot, std::mt19937& random) {
  std::vector<int32_t> order(snapshot.programs.size());
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<Program> programs(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    programs[static_cast<size_t>(order[i])] = snapshot.programs[i];
  }
  snapshot.programs = programs;
  for (Core& core : snapshot.cores) {
    if (core.program) core.program = order[static_cast<size_t>(*core.program)];
    for (QueuedProgram& queued : core.queued) {
      queued.program = order[static_cast<size_t>(queued.program)];
    }
  }
}

TEST(Samples, OrderChangesNothing) {
  std::mt19937 random(1);
  for (const Sample& sample : Samples()) {
    const Verdict before = Classify(sample.capture);
    Capture capture = sample.capture;
    std::shuffle(capture.snapshots.begin(), capture.snapshots.end(), random);
    auto& expected = capture.header.expected_workers;
    std::shuffle(expected.begin(), expected.end(), random);
    for (Snapshot& snapshot : capture.snapshots) {
      std::shuffle(snapshot.cores.begin(), snapshot.cores.end(), random);
      ShufflePrograms(snapshot, random);
    }
    const Verdict after = Classify(capture);
    EXPECT_EQ(Told(before), Told(after)) << sample.name;
    EXPECT_EQ(before.confidence, after.confidence) << sample.name;
    ASSERT_EQ(before.evidence.size(), after.evidence.size()) << sample.name;
    for (size_t i = 0; i < before.evidence.size(); ++i) {
      EXPECT_EQ(before.evidence[i].statement, after.evidence[i].statement) << sample.name;
    }
  }
}

void ForEachCore(Capture& capture, const std::function<void(Core&)>& change) {
  for (Snapshot& snapshot : capture.snapshots) {
    for (Core& core : snapshot.cores) change(core);
  }
}

std::set<WorkerId> Guilty(const Truth& truth) {
  std::set<WorkerId> guilty;
  for (const Accepted& accept : truth.accept) {
    for (const auto& culprits : {accept.culprits, accept.culprits_are_among}) {
      for (const TrueCulprit& c : culprits.value_or(std::set<TrueCulprit>())) {
        guilty.insert({c.slice, c.task});
      }
    }
  }
  return guilty;
}

bool Chance(std::mt19937& random, double p) {
  return std::uniform_real_distribution<>(0, 1)(random) < p;
}

using Guilt = std::set<WorkerId>;

void DropInnocentWorkers(Capture& capture, const Guilt& guilty, std::mt19937& random) {
  std::erase_if(capture.snapshots, [&](const Snapshot& snapshot) {
    return !guilty.contains(snapshot.worker) && Chance(random, 0.1);
  });
}

void DropHlo(Capture& capture, const Guilt&, std::mt19937&) {
  ForEachCore(capture, [](Core& core) {
    for (Sequencer& sequencer : core.sequencers) sequencer.hlo.reset();
  });
}

void DropSomeLaunchIdsAndPcs(Capture& capture, const Guilt&, std::mt19937& random) {
  ForEachCore(capture, [&](Core& core) {
    if (Chance(random, 0.05)) core.launch_id.reset();
    for (Sequencer& sequencer : core.sequencers) {
      if (Chance(random, 0.05)) sequencer.pc.reset();
    }
  });
}

void DropCohorts(Capture& capture, const Guilt&, std::mt19937&) { capture.header.cohorts.clear(); }

void DropSequenceAndHlo(Capture& capture, const Guilt& guilty, std::mt19937& random) {
  for (Cohort& cohort : capture.header.cohorts) cohort.sequence.clear();
  DropHlo(capture, guilty, random);
}

void DropTransfersAndIciLinks(Capture& capture, const Guilt&, std::mt19937&) {
  for (Snapshot& snapshot : capture.snapshots) {
    snapshot.transfers.clear();
    snapshot.ici_links.clear();
  }
}

void DropProbesAndSockets(Capture& capture, const Guilt&, std::mt19937&) {
  for (Snapshot& snapshot : capture.snapshots) {
    snapshot.probes.clear();
    snapshot.sockets.clear();
    snapshot.transfers.clear();
  }
}

void AddStrays(Capture& capture, const Guilt& guilty, std::mt19937& random) {
  for (Snapshot& snapshot : capture.snapshots) {
    if (guilty.contains(snapshot.worker)) continue;
    if (Chance(random, 0.3)) {
      snapshot.progress.emplace().input_wait_ms = 1200;
      snapshot.progress->phase = Phase::kStep;
    }
    if (Chance(random, 0.3)) snapshot.pcie = {{0, 0, 0, 40}};
    if (Chance(random, 0.3)) {
      LogEvent event;
      event.kind = LogKind::kFollowOn;
      event.text = "FAILED_PRECONDITION: The program continuator has halted unexpectedly";
      event.age_ms = 500'000;
      snapshot.log_events.push_back(event);
    }
    if (Chance(random, 0.3)) {
      snapshot.nics.resize(1);
      snapshot.nics[0].name = "eth3";
      snapshot.nics[0].up = true;
      snapshot.nics[0].rx_errors = 44;
    }
    for (Socket& socket : snapshot.sockets) socket.retransmits += Chance(random, 0.2) ? 3 : 0;
  }
}

void LetInnocentRuntimesTimeOut(Capture& capture, const Guilt& guilty, std::mt19937& random) {
  for (Snapshot& snapshot : capture.snapshots) {
    if (guilty.contains(snapshot.worker) || !Chance(random, 0.1)) continue;
    snapshot.runtime.state = RuntimeState::kTimedOut;
    if (Chance(random, 0.5)) snapshot.cores.clear();
  }
}

struct NamedNoise {
  const char* name;
  void (*apply)(Capture& capture, const Guilt& guilty, std::mt19937& random);
};
constexpr NamedNoise kNoTransfersAndIciLinks = {"no transfers and ICI links",
                                                DropTransfersAndIciLinks};
constexpr NamedNoise kStrays = {
    "strays: short input waits, correctable errors, follow-on lines, retransmits", AddStrays};
constexpr NamedNoise kNoises[] = {
    {"innocent workers missing", DropInnocentWorkers},
    {"no HLO", DropHlo},
    {"some launch ids and pcs absent", DropSomeLaunchIdsAndPcs},
    {"no cohorts", DropCohorts},
    {"no sequence and no HLO", DropSequenceAndHlo},
    kNoTransfersAndIciLinks,
    {"no probes and sockets", DropProbesAndSockets},
    kStrays,
    {"innocent runtimes timed out", LetInnocentRuntimesTimeOut},
};

TEST(Samples, NoiseNeverAccusesTheInnocent) {
  const std::vector<Sample> samples = Samples();
  for (const auto& [noise, apply] : kNoises) {
    for (const Sample& sample : samples) {
      for (unsigned seed = 0; seed < 5; ++seed) {
        std::mt19937 random(seed);
        Capture capture = sample.capture;
        apply(capture, Guilty(sample.truth), random);
        const Verdict verdict = Classify(capture);
        EXPECT_TRUE(AccusesNobodyWrongly(sample.truth, verdict))
            << sample.name << ", " << noise << ", seed " << seed << ": " << Told(verdict);
      }
    }
  }
}

// These two kinds of noise must not cost the verdict at all.
TEST(Samples, AreRightWithoutTransfersIciLinksAndWithStrays) {
  for (const Sample& sample : Samples()) {
    for (const auto& [noise, apply] : {kNoTransfersAndIciLinks, kStrays}) {
      std::mt19937 random(7);
      Capture capture = sample.capture;
      apply(capture, Guilty(sample.truth), random);
      const Verdict verdict = Classify(capture);
      EXPECT_TRUE(Accepts(sample.truth, verdict))
          << sample.name << ", " << noise << ": " << Told(verdict);
    }
  }
}

}  // namespace
}  // namespace rapideye::testing
