// Faults of the host's side: input, callbacks, the main thread, storage.
#include "tests/world/kinds.h"

namespace rapideye::world {
namespace {

void LoaderOf(Draft& draft, const std::set<int>& workers, const std::string& source) {
  for (const int worker : workers) {
    draft.Break(Happening::kLoaderStops, worker).source = source;
  }
  draft.Accept("DATA_INPUT_STALL", {"INPUT_PIPELINE"}, draft.Workers(workers));
  draft.plan.truth.activity = HostActivity::kInput;
  if (!draft.plan.evidence.page && !draft.plan.evidence.stacks) {
    draft.plan.truth.accepted.front().details.insert("PROGRAM_NOT_QUEUED");
  }
}

void LoaderStarves(Draft& draft) { LoaderOf(draft, {draft.AnyWorker()}, "starved"); }

void LoaderStarvesEverywhere(Draft& draft) {
  std::set<int> all;
  for (int worker = 0; worker < draft.plan.shape.workers(); ++worker) {
    all.insert(worker);
  }
  LoaderOf(draft, all, "starved");
  // Hosts that had a batch more than the others stand in a launch that these never got.
  draft.plan.truth.accepted.front().some_of = true;
  if (!draft.plan.evidence.page && !draft.plan.evidence.stacks) {
    draft.Accept("UNKNOWN", {}, {});
  }
}

// The main thread has dispatched ahead: page and stack tell of steps, and only the instruction
// tells of the infeed.
void InfeedStarves(Draft& draft) {
  LoaderOf(draft, {draft.AnyWorker()}, "starved");
  if (!draft.plan.evidence.hlo) {
    draft.plan.truth.accepted.front().details.clear();
    if (draft.plan.shape.hosts <= 2) {  // nor are there enough others to stand apart from
      draft.Accept("UNKNOWN", {}, {});
    }
  }
}

void CallbackBlocks(Draft& draft) {
  const int worker = draft.AnyWorker();
  draft.Break(Happening::kCallbackBlocks, worker);
  draft.Accept("DATA_INPUT_STALL", {}, {draft.Worker(worker)});
  if (!draft.plan.evidence.hlo && !draft.plan.evidence.stacks) {
    draft.Accept("UNKNOWN", {}, {});
  }
}

void ThreadIn(Draft& draft, HostActivity activity) {
  const int worker = draft.AnyWorker();
  draft.Break(Happening::kThreadBlocks, worker).activity = activity;
  draft.Accept("DATA_INPUT_STALL", {"PROGRAM_NOT_QUEUED"}, {draft.Worker(worker)});
  draft.plan.truth.activity = activity;
}

void InLock(Draft& draft) { ThreadIn(draft, HostActivity::kLock); }
void InRetry(Draft& draft) { ThreadIn(draft, HostActivity::kRetry); }
void InCollector(Draft& draft) { ThreadIn(draft, HostActivity::kGarbageCollection); }
void InCompiler(Draft& draft) { ThreadIn(draft, HostActivity::kCompilation); }
void InRead(Draft& draft) { ThreadIn(draft, HostActivity::kStorageRead); }

void StorageHangs(Draft& draft) {
  const int worker = draft.AnyWorker();
  draft.Break(Happening::kStorageHangs, worker).delay = 0;
  draft.Accept("DATA_INPUT_STALL", {"PROGRAM_NOT_QUEUED"}, {draft.Worker(worker)});
  draft.plan.truth.activity = HostActivity::kCheckpointSave;
  if (!draft.plan.evidence.stacks) {
    // All are idle, and by their pages all are in a checkpoint.
    std::set<int> all;
    for (int other = 0; other < draft.plan.shape.workers(); ++other) {
      all.insert(other);
    }
    draft.Accept("DATA_INPUT_STALL", {"PROGRAM_NOT_QUEUED"}, draft.Workers(all), true);
    if (!draft.plan.evidence.page) {
      draft.Accept("UNKNOWN", {}, {});
    }
  }
}

void StorageHangsEverywhere(Draft& draft) {
  std::set<int> all;
  for (int worker = 0; worker < draft.plan.shape.workers(); ++worker) {
    draft.Break(Happening::kStorageHangs, worker).delay = 0;
    all.insert(worker);
  }
  draft.Accept("DATA_INPUT_STALL", {"PROGRAM_NOT_QUEUED"}, draft.Workers(all));
  draft.plan.truth.activity = HostActivity::kCheckpointSave;
  if (!draft.plan.evidence.page && !draft.plan.evidence.stacks) {
    draft.Accept("UNKNOWN", {}, {});
  }
}

}  // namespace

std::vector<Kind> HostKinds() {
  const ShapeNeeds two{.workers = 2};
  return {
      {"loader-starves", {.shape = two}, LoaderStarves},
      {"loader-starves-everywhere", {.shape = two}, LoaderStarvesEverywhere},
      {"infeed-starves", {.shape = two, .infeed = true}, InfeedStarves},
      {"callback-blocks", {.shape = two, .callback = true}, CallbackBlocks},
      {"thread-in-lock", {.shape = two}, InLock},
      {"thread-in-retry", {.shape = two}, InRetry},
      {"thread-in-collector", {.shape = two}, InCollector},
      {"thread-in-compiler", {.shape = two}, InCompiler},
      {"thread-in-read", {.shape = two}, InRead},
      {"storage-hangs", {.shape = two, .save = true}, StorageHangs},
      {"storage-hangs-everywhere", {.shape = two, .save = true}, StorageHangsEverywhere},
  };
}

}  // namespace rapideye::world
