#include "agent/exec/output_ring.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "agent/exec/limits.h"

namespace rapideye::agent {

// Positions count the bytes of the stream from its beginning. What is taken but not
// written is never overwritten: there is at most one piece of it.
struct OutputRing::Shared {
  std::atomic<uint64_t> taken;
  std::atomic<uint64_t> written;
  std::atomic<uint64_t> read;
  char bytes[kOutputRingBytes];
};

static_assert(std::atomic<uint64_t>::is_always_lock_free, "processes share them");

absl::StatusOr<std::unique_ptr<OutputRing>> OutputRing::Create() {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                      /*fd=*/-1, /*offset=*/0);
  if (memory == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for the command's output: ", std::strerror(errno)));
  }
  // The kernel gives zeroed memory, and every position begins at zero.
  return std::unique_ptr<OutputRing>(new OutputRing(static_cast<Shared*>(memory)));
}

OutputRing::~OutputRing() { munmap(shared_, sizeof(Shared)); }

absl::Span<char> OutputRing::Space() {
  const size_t at = shared_->taken.load(std::memory_order_relaxed) % kOutputRingBytes;
  return {shared_->bytes + at, std::min(kOutputPieceBytes, kOutputRingBytes - at)};
}

bool OutputRing::Took(size_t size) {
  const uint64_t before = shared_->taken.load(std::memory_order_relaxed);
  shared_->taken.store(before + size, std::memory_order_release);
  const uint64_t read = shared_->read.load(std::memory_order_relaxed);
  return before - read < kOutputWakeBytes && before + size - read >= kOutputWakeBytes;
}

absl::string_view OutputRing::Unwritten() const {
  const uint64_t written = shared_->written.load(std::memory_order_relaxed);
  const uint64_t size = shared_->taken.load(std::memory_order_relaxed) - written;
  const size_t at = written % kOutputRingBytes;
  return {shared_->bytes + at,
          static_cast<size_t>(std::min<uint64_t>(size, kOutputRingBytes - at))};
}

void OutputRing::Wrote(size_t size) {
  shared_->written.store(shared_->written.load(std::memory_order_relaxed) + size,
                         std::memory_order_release);
}

bool OutputRing::Drained() const {
  return written() == shared_->taken.load(std::memory_order_acquire);
}

uint64_t OutputRing::written() const { return shared_->written.load(std::memory_order_acquire); }

OutputRing::Portion OutputRing::Read(absl::Span<char> to) {
  Portion portion;
  const uint64_t taken = shared_->taken.load(std::memory_order_acquire);
  const uint64_t begin = shared_->read.load(std::memory_order_relaxed);
  // Bytes older than this may be overwritten by the next piece at this moment.
  constexpr uint64_t kSafe = kOutputRingBytes - kOutputPieceBytes;
  uint64_t at = begin;
  // Skips past the oldest byte that is left: the writer would overwrite it before it is copied.
  if (taken - at > kSafe) at = taken - kSafe / 2;
  while (at < taken && portion.size < to.size()) {
    const size_t place = at % kOutputRingBytes;
    const size_t size = std::min(
        {static_cast<size_t>(taken - at), kOutputRingBytes - place, to.size() - portion.size});
    std::memcpy(to.data() + portion.size, shared_->bytes + place, size);
    portion.size += size;
    at += size;
  }
  std::atomic_thread_fence(std::memory_order_acquire);
  // The bytes were overwritten while they were copied: none of them can be trusted.
  if (shared_->taken.load(std::memory_order_relaxed) - (at - portion.size) > kSafe) {
    portion.size = 0;
    at = taken;
  }
  portion.skipped = at - begin - portion.size;
  shared_->read.store(at, std::memory_order_relaxed);
  return portion;
}

}  // namespace rapideye::agent
