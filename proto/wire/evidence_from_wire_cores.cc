// What a host's TPU cores showed.
#include "proto/wire/enums.h"
#include "proto/wire/evidence_parts.h"
#include "proto/wire/field_scope.h"

namespace rapideye::wire {
namespace {

Sequencer SequencerFromWire(const FieldScope& at, const v1::Sequencer& m) {
  Sequencer out;
  out.type = EnumFromWire<SequencerType>(m.type());
  out.index = at.NonNegative("index", m.index());
  // Positions and ids are whatever the runtime says, negative ones included.
  out.pc = Optional(m.has_pc(), m.pc());
  out.tag = Optional(m.has_tag(), m.tag());
  out.tracemark = Optional(m.has_tracemark(), m.tracemark());
  out.run_id = Optional(m.has_run_id(), m.run_id());
  out.hlo = at.Name("hlo", Optional(m.has_hlo(), m.hlo()));
  out.hlo_text = at.Text("hloText", Optional(m.has_hlo_text(), m.hlo_text()));
  out.frozen_ms = at.NonNegative("frozenMs", Optional(m.has_frozen_ms(), m.frozen_ms()));
  return out;
}

QueuedProgram QueuedFromWire(const FieldScope& at, const v1::QueuedProgram& m, size_t programs) {
  QueuedProgram out;
  out.program = at.Index("program", m.program(), programs, "programs");
  out.launch_id = Optional(m.has_launch_id(), m.launch_id());
  out.run_id = Optional(m.has_run_id(), m.run_id());
  return out;
}

Transition TransitionFromWire(const FieldScope& at, const v1::Transition& m, size_t programs) {
  Transition out;
  out.age_ms = at.NonNegative("ageMs", m.age_ms());
  out.within_ms = at.NonNegative("withinMs", Optional(m.has_within_ms(), m.within_ms()));
  if (m.has_program()) out.program = at.Index("program", m.program(), programs, "programs");
  out.launch_id = Optional(m.has_launch_id(), m.launch_id());
  out.pc = Optional(m.has_pc(), m.pc());
  out.tag = Optional(m.has_tag(), m.tag());
  return out;
}

}  // namespace

Core CoreFromWire(const FieldScope& at, const v1::Core& m, size_t programs) {
  Core out;
  out.chip = at.NonNegative("chip", Optional(m.has_chip(), m.chip()));
  out.chip_id = Optional(m.has_chip_id(), m.chip_id());  // the runtime's own number
  out.coords = at.Name("coords", Optional(m.has_coords(), m.coords()));
  out.physical = at.Name("physical", Optional(m.has_physical(), m.physical()));
  out.type = EnumFromWire<CoreType>(m.type());
  out.index = at.NonNegative("index", m.index());
  if (m.has_program()) out.program = at.Index("program", m.program(), programs, "programs");
  out.launch_id = Optional(m.has_launch_id(), m.launch_id());
  out.stuck_ms = at.NonNegative("stuckMs", Optional(m.has_stuck_ms(), m.stuck_ms()));
  at.List("sequencers", m.sequencers(), kMaxSequencersPerCore, out.sequencers, SequencerFromWire);
  at.List("queued", m.queued(), kMaxQueuedPerCore, out.queued,
          [programs](const FieldScope& queued, const v1::QueuedProgram& message) {
            return QueuedFromWire(queued, message, programs);
          });
  out.error = at.Text("error", Optional(m.has_error(), m.error()));
  at.List("transitions", m.transitions(), kMaxTransitionsPerCore, out.transitions,
          [programs](const FieldScope& transition, const v1::Transition& message) {
            return TransitionFromWire(transition, message, programs);
          });
  return out;
}

}  // namespace rapideye::wire
