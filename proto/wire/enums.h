// Enums of the wire and of the evidence. Both list the same names in the same
// order; the assertions below fail to compile when one side grows alone.
#ifndef RAPIDEYE_PROTO_WIRE_ENUMS_H_
#define RAPIDEYE_PROTO_WIRE_ENUMS_H_

#include "classifier/evidence.h"
#include "v1/capture.pb.h"

namespace rapideye::wire {

// Pairs an evidence enum with its wire enum and the last value of both.
template <typename Evidence>
struct EnumTwin;

#define RAPIDEYE_ENUM_TWIN(evidence, last, message, name, LAST)        \
  template <>                                                          \
  struct EnumTwin<evidence> {                                          \
    using Wire = v1::message##_##name;                                 \
    static constexpr int kLast = v1::message::LAST;                    \
    static_assert(static_cast<int>(evidence::last) == kLast);          \
    static_assert(static_cast<int>(v1::message::name##_MAX) == kLast); \
  }

RAPIDEYE_ENUM_TWIN(RuntimeState, kUnimplemented, RuntimeHealth, State, UNIMPLEMENTED);
RAPIDEYE_ENUM_TWIN(ProcessState, kExited, Process, State, EXITED);
RAPIDEYE_ENUM_TWIN(SequencerType, kSparseCoreTileExecuteCoreSequencer, Sequencer, Type,
                   SPARSE_CORE_TILE_EXECUTE_CORE_SEQUENCER);
RAPIDEYE_ENUM_TWIN(CoreType, kSparseCore, Core, Type, SPARSE_CORE);
RAPIDEYE_ENUM_TWIN(Phase, kEval, Progress, Phase, EVAL);
RAPIDEYE_ENUM_TWIN(TransferDirection, kRecv, Transfer, Direction, RECV);
RAPIDEYE_ENUM_TWIN(SocketState, kGone, Socket, State, GONE);
RAPIDEYE_ENUM_TWIN(LogKind, kBenign, LogEvent, Kind, BENIGN);
RAPIDEYE_ENUM_TWIN(HloMatch, kLatestDump, HloSide, Match, LATEST_DUMP);
RAPIDEYE_ENUM_TWIN(HloOutcome, kNotComparable, HloComparison, Outcome, NOT_COMPARABLE);
RAPIDEYE_ENUM_TWIN(MetricSource, kInputPipeline, Metric, Source, INPUT_PIPELINE);
RAPIDEYE_ENUM_TWIN(LogSource, kKernelLog, LogEvent, Source, KERNEL_LOG);

#undef RAPIDEYE_ENUM_TWIN

// A value that this version does not know counts as not reported.
template <typename Evidence>
Evidence EnumFromWire(typename EnumTwin<Evidence>::Wire value) {
  const int number = static_cast<int>(value);
  return number > 0 && number <= EnumTwin<Evidence>::kLast ? static_cast<Evidence>(number)
                                                           : Evidence::kUnspecified;
}

template <typename Evidence>
typename EnumTwin<Evidence>::Wire EnumToWire(Evidence value) {
  return static_cast<typename EnumTwin<Evidence>::Wire>(static_cast<int>(value));
}

}  // namespace rapideye::wire

#endif  // RAPIDEYE_PROTO_WIRE_ENUMS_H_
