// Follows the kernel's log.
#ifndef RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_FETCH_H_
#define RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_FETCH_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/sources/kernel_log/state.h"
#include "agent/sources/pcie/parse.h"

namespace rapideye::agent {

// Reads from the oldest line that the kernel still has. Without news a look costs one
// system call. Not synchronised.
class KernelLog {
 public:
  // `path` is normally "/dev/kmsg".
  explicit KernelLog(std::string path);
  ~KernelLog();
  KernelLog(const KernelLog&) = delete;
  KernelLog& operator=(const KernelLog&) = delete;

  // The lines about these devices since the last call. Bounded in lines and time; the
  // rest comes with the next call.
  KernelLogReading Read(const std::vector<TpuDevice>& tpus);

 private:
  bool Open(KernelLogReading& reading);
  void Take(std::string_view bytes, const std::vector<TpuDevice>& tpus, KernelLogReading& reading);
  void TakeLine(std::string_view line, const std::vector<TpuDevice>& tpus,
                KernelLogReading& reading);
  void TakeProperty(std::string_view line, const std::vector<TpuDevice>& tpus,
                    KernelLogReading& reading);
  void Keep(std::optional<KernelLine> line, KernelLogReading& reading);

  const std::string path_;
  int file_ = -1;
  bool backlog_ = true;    // until all that was there has been read
  std::string partial_;    // the beginning of a line
  std::string record_;     // the last record, while its dictionary may follow
  std::string subsystem_;  // of its dictionary, so far
  std::optional<int64_t> last_sequence_;
  bool told_of_loss_ = false;
  std::map<std::string, size_t> known_;  // of this look: key and place in the reading
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_KERNEL_LOG_FETCH_H_
