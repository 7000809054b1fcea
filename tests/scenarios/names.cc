#include "tests/scenarios/names.h"

#include <string>

#include "tests/scenarios/random.h"

namespace rapideye::scenarios {
namespace {

constexpr HloWaits kCompute = HloWaits::kCompute;
constexpr HloWaits kInSlice = HloWaits::kInSlice;
constexpr HloWaits kSparse = HloWaits::kSparseCore;

// FNV-1a.
uint64_t Hash(uint64_t from, std::string_view bytes) {
  for (const char byte : bytes) {
    from = (from ^ static_cast<unsigned char>(byte)) * 0x100000001b3ULL;
  }
  return from;
}

const RealName& DrawName(const RealNames& from, Random& random) {
  int64_t places = 0;
  for (const RealName& name : from.names) places += name.places;
  int64_t at = random.Between(0, places - 1);
  for (const RealName& name : from.names) {
    if (at < name.places) return name;
    at -= name.places;
  }
  return from.names.back();
}

const RealNames& NamesFor(const Op& op, const Program& program, Naming naming) {
  switch (op.kind) {
    case OpKind::kInfeed:
      return RealInputs();
    case OpKind::kCompute:
      return RealComputes();
    case OpKind::kSparseWork:
      return RealSparseWork();
    case OpKind::kCollective:
      return program.sparse_collectives ? RealSparseWork() : RealCollectives(naming);
    case OpKind::kExchange:
      break;
  }
  return op.receive_from != 0 ? RealReceives() : RealSends();
}

// The name gets the number that the place had before: a program has each name once.
std::string Numbered(std::string_view name, std::string_view before) {
  const size_t mark = name.find('#');
  std::string numbered(name.substr(0, mark));
  numbered += before.substr(before.rfind('.') + 1);
  numbered += name.substr(mark + 1);
  return numbered;
}

}  // namespace

const RealNames& RealCollectives(Naming naming) {
  static const auto& v5e = *new RealNames{{"dense-v5e"},
                                          {{"all-reduce.#", kInSlice, 13},
                                           {"async-collective-done.#", kInSlice, 10},
                                           {"async-collective-start.#", kInSlice, 10},
                                           {"all-gather.#", kInSlice, 6},
                                           {"fusion.#", kInSlice, 2},
                                           {"fusion.#", HloWaits::kComputeWithCollective, 17}}};
  static const auto& shard_map = *new RealNames{{"named-v5e", "kernels-v5e"},
                                                {{"psum.#", kInSlice, 1},
                                                 {"pmax.#", kInSlice, 1},
                                                 {"reduce_scatter.#", kInSlice, 1},
                                                 {"ragged_all_to_all.#", kInSlice, 1},
                                                 {"collective-permute-done.#", kInSlice, 1},
                                                 {"ring_hop.#", HloWaits::kKernelInSlice, 1}}};
  return naming == Naming::kShardMap ? shard_map : v5e;
}

// A matmul that carries a step of a collective is not among them: its name and its text leave
// open whether its core computes, and the truth of a scenario rests on their saying so.
const RealNames& RealComputes() {
  static const auto& names =
      *new RealNames{{"dense-v5e", "named-v5e", "kernels-v5e", "pipeline-v5e-2-slices",
                      "embedding-v7x", "iocallback-v5e"},
                     {{"fusion.#", kCompute, 31},
                      {"copy-done.#", HloWaits::kOwnDma, 26},
                      {"copy.#", kCompute, 13},
                      {"add.#", kCompute, 13},
                      {"bitcast_dynamic-update-slice_fusion.#", kCompute, 11},
                      {"constant_dynamic-slice_fusion.#", kCompute, 10},
                      {"convert.#", kCompute, 10},
                      {"multiply_reduce_fusion.#", kCompute, 7},
                      {"constant_dynamic-update-slice_fusion.#", kCompute, 7},
                      {"broadcast_in_dim.#", kCompute, 5},
                      {"dynamic-slice.#", kCompute, 5},
                      {"multiply.#", kCompute, 5},
                      {"divide_subtract_fusion.#", kCompute, 5},
                      {"gather_fusion.#", kCompute, 3},
                      {"scatter_custom_fusion.#", kCompute, 2},
                      {"reduce_sum.#", kCompute, 1},
                      {"ragged_all_to_all.#", kCompute, 1},
                      {"convolution_tanh_fusion.#", kCompute, 1},
                      {"convolution_select_fusion.#", kCompute, 1},
                      {"my_flash_kernel.#", HloWaits::kKernel, 1}}};
  return names;
}

const RealNames& RealSparseWork() {
  static const auto& names =
      *new RealNames{{"embedding-v7x"},
                     {{"all-gather.#.cloned.1.call-done", kSparse, 2},
                      {"prepare_done_all-gather.#.cloned.1.call-start", kSparse, 2},
                      {"reduce-scatter.#.cloned.1.call-done", kSparse, 1},
                      {"prepare_done_reduce-scatter.#.cloned.1.call-start", kSparse, 1}}};
  return names;
}

const RealNames& RealInputs() {
  static const auto& names =
      *new RealNames{{"iocallback-v5e"}, {{"io_callback.#", HloWaits::kOwnHost, 4}}};
  return names;
}

const RealNames& RealReceives() {
  static const auto& names =
      *new RealNames{{"pipeline-v5e-2-slices"}, {{"recv-done.#", HloWaits::kOtherSlice, 4}}};
  return names;
}

const RealNames& RealSends() {
  static const auto& names =
      *new RealNames{{"pipeline-v5e-2-slices"}, {{"send-done.#", HloWaits::kOtherSlice, 4}}};
  return names;
}

void NamePlaces(Naming naming, Texts texts, uint64_t seed, std::vector<Program>& programs) {
  if (naming == Naming::kOpcodes) return;
  for (Program& program : programs) {
    for (Op& op : program.ops) {
      Random random(Hash(Hash(seed, program.module), op.hlo));
      const RealName& real = DrawName(NamesFor(op, program, naming), random);
      op.hlo = Numbered(real.name, op.hlo);
      if (texts == Texts::kAll) op.hlo_waits = real.waits;
    }
  }
}

}  // namespace rapideye::scenarios
