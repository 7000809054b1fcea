// Waits for the kernel to report that files have grown, or that names mean other files.
#ifndef RAPIDEYE_AGENT_SOURCES_LOG_FETCH_CHANGES_H_
#define RAPIDEYE_AGENT_SOURCES_LOG_FETCH_CHANGES_H_

#include <string>

namespace rapideye::agent {

// A reason to look sooner, never one not to look: it does not see what another host
// writes to a shared file system, and some sandboxes have none of it. Whatever cannot be
// watched is left out in silence. Not synchronised.
class FileChanges {
 public:
  struct News {
    bool any = false;
    bool names = false;  // files have come into a watched directory
  };

  FileChanges();
  ~FileChanges();
  FileChanges(const FileChanges&) = delete;
  FileChanges& operator=(const FileChanges&) = delete;

  // Readable once there is news; -1: there never is.
  int descriptor() const { return descriptor_; }
  bool HasNews() const;
  // The changes since the previous call.
  News Take() const;

  // The number of the watch, for Forget; -1: none.
  int WatchFile(const std::string& path) const;
  // For files that come; once more does no harm.
  void WatchDirectory(const std::string& path) const;
  void Forget(int watch) const;

 private:
  const int descriptor_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_LOG_FETCH_CHANGES_H_
