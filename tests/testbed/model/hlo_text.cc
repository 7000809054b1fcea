#include "tests/testbed/model/hlo_text.h"

#include "absl/strings/str_cat.h"

namespace rapideye::testbed {
namespace {

constexpr char kShape[] = "f32[8,128]{1,0:T(8,128)}";

std::string Attributes(const Program& program, size_t i) {
  const Operation& operation = program.operations[i];
  switch (operation.kind) {
    case OperationKind::kCollective:
      return absl::StrCat(", channel_id=", i + 1, ", replica_groups={}, to_apply=region_0.1");
    case OperationKind::kSend:
    case OperationKind::kReceive:
      return absl::StrCat(", channel_id=", i + 1,
                          ", is_host_transfer=true, frontend_attributes={"
                          "_xla_host_transfer_handler_name=\"xla_megascale_runtime\"}");
    case OperationKind::kOffload:
    case OperationKind::kAwaitOffload:
      return ", async_execution_thread=\"sparsecore\"";
    case OperationKind::kCompute: {
      const bool last = i + 1 == program.operations.size();
      const int64_t code = last ? 0 : program.operations[i + 1].pc - operation.pc;
      return absl::StrCat(", backend_config={\"code_size\":\"", code, "\"}");
    }
    default:
      return "";
  }
}

}  // namespace

std::string HloText(const Program& program) {
  std::string text =
      absl::StrCat("HloModule ", program.module, ", is_scheduled=true, entry_computation_layout={(",
                   kShape, ")->", kShape,
                   "}\n\n"
                   "region_0.1 {\n"
                   "  x.1 = f32[] parameter(0)\n"
                   "  y.1 = f32[] parameter(1)\n"
                   "  ROOT sum.1 = f32[] add(x.1, y.1)\n"
                   "}\n\n"
                   "ENTRY ",
                   program.computation, " {\n  param.0 = ", kShape, " parameter(0)\n");
  std::string operand = "param.0";
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const std::string& name = program.operations[i].hlo;
    const bool last = i + 1 == program.operations.size();
    absl::StrAppend(&text, "  ", last ? "ROOT " : "", name, " = ", kShape, " ", Opcode(name), "(",
                    operand, ")", Attributes(program, i), ", metadata={op_name=\"jit(step)/",
                    Opcode(name), "\" source_file=\"train.py\" source_line=", 40 + i, "}\n");
    operand = name;
  }
  return text + "}\n";
}

}  // namespace rapideye::testbed
