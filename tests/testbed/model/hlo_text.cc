#include "tests/testbed/model/hlo_text.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace rapideye::testbed {
namespace {

constexpr size_t kFirstLine = 40;  // of the script, for the first operation

std::string Shape(const Program& program) {
  return absl::StrCat("f32[", program.batch, ",128]{1,0:T(8,128)}");
}

// The line of the script that an operation comes from.
std::string Metadata(const std::string& operation, size_t line) {
  return absl::StrCat(", metadata={op_name=\"", operation,
                      "\" source_file=\"train.py\" source_line=", line, "}\n");
}

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
  const std::string shape = Shape(program);
  std::string text =
      absl::StrCat("HloModule ", program.module, ", is_scheduled=true, entry_computation_layout={(",
                   shape, ")->", shape,
                   "}\n\n"
                   "region_0.1 {\n"
                   "  x.1 = f32[] parameter(0)\n"
                   "  y.1 = f32[] parameter(1)\n"
                   "  ROOT sum.1 = f32[] add(x.1, y.1)\n"
                   "}\n\n"
                   "ENTRY ",
                   program.computation, " {\n  param.0 = ", shape, " parameter(0)\n");
  std::string operand = "param.0";
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const std::string& name = program.operations[i].hlo;
    const bool last = i + 1 == program.operations.size();
    absl::StrAppend(&text, "  ", last ? "ROOT " : "", name, " = ", shape, " ", Opcode(name), "(",
                    operand, ")", Attributes(program, i),
                    Metadata(absl::StrCat("jit(step)/", Opcode(name)), kFirstLine + i));
    operand = name;
  }
  return text + "}\n";
}

std::string SourceText(const Program& program) {
  const std::string shape = Shape(program);
  std::string text = absl::StrCat("HloModule ", program.module, ", entry_computation_layout={(",
                                  shape, ")->", shape, "}\n\nENTRY main.1 {\n  batch.1 = ", shape,
                                  " parameter(0)", Metadata("batch", kFirstLine - 1));
  std::string operand = "batch.1";
  for (size_t i = 0; i < program.operations.size(); ++i) {
    const std::string opcode(Opcode(program.operations[i].hlo));
    const bool last = i + 1 == program.operations.size();
    std::string name = absl::StrCat(opcode, ".", i + 2);
    absl::StrAppend(&text, "  ", last ? "ROOT " : "", name, " = ", shape, " ", opcode, "(", operand,
                    ")", Metadata(absl::StrCat("jit(step)/", opcode), kFirstLine + i));
    operand = std::move(name);
  }
  return text + "}\n";
}

}  // namespace rapideye::testbed
