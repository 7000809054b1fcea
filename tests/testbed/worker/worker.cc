#include "tests/testbed/worker/worker.h"

#include <unistd.h>

#include <condition_variable>
#include <mutex>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "tests/testbed/worker/hang_abort.h"

namespace rapideye::testbed {
namespace {

constexpr int kBatchesReadAhead = 4;
// All workers are told their peers at about the same time.
constexpr absl::Duration kConnectTimeout = absl::Seconds(20);

// The simulated device computes by letting time pass.
void Compute(absl::Duration duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, absl::ToChronoNanoseconds(duration), [] { return false; });
}

// The send whose data a receive waits for: the nearest one before it.
int SendBefore(const Program& program, int receive) {
  int send = receive;
  while (send > 0 && program.operations[send].kind != OperationKind::kSend) --send;
  return send;
}

}  // namespace

Worker::Worker(WorkerOptions options)
    : options_(std::move(options)),
      step_(MakeStep(options_.step)),
      dumps_(options_.hlo_dump_dir),
      input_(options_.batch_time, kBatchesReadAhead) {
  for (const ProgramPtr& program : step_) dumps_.Write(*program);
  const Generation& generation = options_.shape.generation;
  std::vector<Core*> tensor_cores;
  for (int chip = 0; chip < options_.shape.chips; ++chip) {
    for (int i = 0; i < generation.tensor_cores; ++i) {
      const int ordinal = static_cast<int>(tensor_cores.size());
      cores_.push_back(std::make_unique<Core>(CoreId{chip, CoreType::kTensorCore, i, ordinal}));
      tensor_cores.push_back(cores_.back().get());
    }
    for (int i = 0; i < generation.sparse_cores; ++i) {
      cores_.push_back(std::make_unique<Core>(CoreId{chip, CoreType::kSparseCore, i, 0}));
    }
  }
  sent_.resize(tensor_cores.size());
  host_ = std::make_unique<Host>(options_.host, step_, std::move(tensor_cores), input_);
}

absl::Status Worker::Listen() {
  absl::StatusOr<std::unique_ptr<Mesh>> mesh =
      Mesh::Listen(options_.self, options_.mesh_address.value_or(WorkerAddress(options_.self)),
                   [this](MeshMessage message) { mailbox_.Deliver(std::move(message)); });
  if (!mesh.ok()) return mesh.status();
  mesh_ = *std::move(mesh);
  exchange_ = std::make_unique<Exchange>(
      options_.shape, options_.self, mailbox_,
      [this](WorkerId to, const MeshMessage& message) { mesh_->Send(to, message); });
  return absl::OkStatus();
}

Worker::~Worker() {
  hang_watch_ = std::jthread();
  host_->Stop();
  for (const std::unique_ptr<Core>& core : cores_) core->Stop();
}

absl::Status Worker::Connect(const MeshAddresses& addresses) {
  return mesh_->Connect(Peers(options_.shape, options_.self), addresses, kConnectTimeout);
}

void Worker::Start() {
  for (const std::unique_ptr<Core>& core : cores_) {
    if (core->id().type == CoreType::kSparseCore) {
      StartSparseCore(*core);
      continue;
    }
    core->Start(
        [this, id = core->id()](const Launch& launch, int operation, const std::stop_token& stop) {
          return Execute(id, launch, operation, stop);
        },
        {.dequeued = [this] { host_->OnDequeued(); },
         .completed = [this](const Launch& launch) { host_->OnCompleted(launch); },
         .failed =
             [this](const absl::Status& status) {
               options_.announce(absl::StrCat("error ", status.ToString()));
             }});
  }
  host_->Start();
  if (options_.abort_on_hang == absl::ZeroDuration()) return;
  hang_watch_ = std::jthread(
      [this](const std::stop_token& stop) { AbortOnHang(*this, options_.abort_on_hang, stop); });
}

void Worker::StartSparseCore(Core& core) {
  if (!options_.step.offload) return;  // idle, as most of them are
  core.Start(
      [](const Launch& launch, int operation, const std::stop_token& stop) {
        Compute(launch.program->operations[operation].duration, stop);
        return absl::OkStatus();
      },
      {.dequeued = [] {},
       .completed = [this, chip = core.id().chip](
                        const Launch& launch) { offload_.Finish(chip, launch.run_id); },
       .failed = [](const absl::Status&) {}});
}

void Worker::HandOver(int chip, const Launch& launch) {
  const std::vector<Core*> cores = SparseCoresOf(chip);
  offload_.Begin(chip, launch.run_id, static_cast<int>(cores.size()));
  Launch sparse = launch;
  sparse.program = launch.program->sparse;
  for (Core* core : cores) core->Enqueue(sparse);
}

std::vector<Core*> Worker::CoresOf(int chip, CoreType type) const {
  std::vector<Core*> found;
  for (const std::unique_ptr<Core>& core : cores_) {
    if (core->id().chip == chip && core->id().type == type) found.push_back(core.get());
  }
  return found;
}

std::vector<Core*> Worker::TensorCoresOf(int chip) const {
  return CoresOf(chip, CoreType::kTensorCore);
}

std::vector<Core*> Worker::SparseCoresOf(int chip) const {
  return CoresOf(chip, CoreType::kSparseCore);
}

void Worker::AnnounceEffect(absl::string_view fault, absl::string_view what) const {
  options_.announce(absl::StrCat("fault-effective ", fault,
                                 " unix-ms=", absl::ToUnixMillis(absl::Now()), " ", what));
}

void Worker::Log(absl::string_view severity, absl::string_view where,
                 absl::string_view text) const {
  options_.announce(absl::StrCat(
      severity, absl::FormatTime("%m%d %H:%M:%E6S", absl::Now(), absl::LocalTimeZone()), " ",
      absl::Dec(getpid(), absl::kSpacePad7), " ", where, "] ", text));
}

absl::Status Worker::Execute(const CoreId& core, const Launch& launch, int operation,
                             const std::stop_token& stop) {
  const Operation& op = launch.program->operations[operation];
  const OperationId id{launch.program->fingerprint, launch.launch_id, operation};
  const OperationId transfer{launch.program->channel, launch.transfer_id, operation};
  switch (op.kind) {
    case OperationKind::kInput:
      input_.AwaitInfeed(launch.step, stop);
      return absl::OkStatus();
    case OperationKind::kCompute:
      Compute(op.duration, stop);
      return absl::OkStatus();
    case OperationKind::kCollective:
      return exchange_->AllReduce(id, core.tensor_core, stop);
    case OperationKind::kSend:
      sent_[static_cast<size_t>(core.tensor_core)] = absl::Now();
      exchange_->SendToNeighbours(transfer, core.tensor_core);
      return absl::OkStatus();
    case OperationKind::kReceive: {
      OperationId sent_at = transfer;
      sent_at.operation = SendBefore(*launch.program, operation);
      const absl::Time begun = absl::Now();
      absl::Status received = exchange_->ReceiveFromNeighbours(sent_at, core.tensor_core, stop);
      if (received.ok()) {
        const absl::Time now = absl::Now();
        inbound_transfers_.Add(now - begun);
        end_to_end_.Add(now - sent_[static_cast<size_t>(core.tensor_core)]);
      }
      return received;
    }
    case OperationKind::kOffload:
      // One TensorCore speaks for the chip.
      if (core.index == 0) HandOver(core.chip, launch);
      return absl::OkStatus();
    case OperationKind::kAwaitOffload:
      if (core.index == 0) offload_.Await(core.chip, launch.run_id, stop);
      return absl::OkStatus();
  }
  return absl::InternalError("an operation of no known kind");
}

}  // namespace rapideye::testbed
