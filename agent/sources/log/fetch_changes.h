// Waits for the kernel to report that files have grown, or that names mean other files.
#ifndef RAPIDEYE_AGENT_SOURCES_LOG_FETCH_CHANGES_H_
#define RAPIDEYE_AGENT_SOURCES_LOG_FETCH_CHANGES_H_

#include <string>

namespace rapideye::agent {

// News is a reason to look sooner; its absence is no reason not to look: another host's writes
// to a shared file system give no news, and some sandboxes give none at all. Whatever cannot be
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
  // Reports files that come into the directory; a second call does no harm.
  void WatchDirectory(const std::string& path) const;
  void Forget(int watch) const;

 private:
  const int descriptor_;
};

}  // namespace rapideye::agent

#endif  // RAPIDEYE_AGENT_SOURCES_LOG_FETCH_CHANGES_H_
