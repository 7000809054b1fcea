/* The progress page is a file of one page in which a training loop reports its step
 * and phase, for rapideye-agent to read when the job stands still.
 *
 * This header is the format, and a writer of it for C11 and C++; it needs Linux and
 * gcc or clang, and nothing else of this project. agent/progress/README.md has
 * examples, rapideye_progress.py is the same for Python.
 *
 *   struct rapideye_progress progress;
 *   rapideye_progress_open(&progress, NULL);          RAPIDEYE_PROGRESS_PAGE
 *   for (step = 0;; ++step) {
 *     rapideye_progress_input_begin(&progress);
 *     batch = next_batch();
 *     rapideye_progress_input_end(&progress);
 *     rapideye_progress_step(&progress, step);
 *     train(batch);
 *   }
 *   rapideye_progress_close(&progress);
 *
 * One thread writes. A page that could not be opened is written to without effect,
 * so that the loop need not care whether an agent reads it.
 */
#ifndef RAPIDEYE_AGENT_PROGRESS_RAPIDEYE_PROGRESS_H_
#define RAPIDEYE_AGENT_PROGRESS_RAPIDEYE_PROGRESS_H_

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#ifdef __cplusplus
extern "C" {
#endif

#define RAPIDEYE_PROGRESS_MAGIC UINT64_C(0x6579656469706172) /* "rapideye" */
#define RAPIDEYE_PROGRESS_VERSION 1
#define RAPIDEYE_PROGRESS_BYTES 4096
#define RAPIDEYE_PROGRESS_DEVICES 256 /* at most */
#define RAPIDEYE_PROGRESS_VARIABLE "RAPIDEYE_PROGRESS_PAGE"

enum rapideye_phase {
  RAPIDEYE_PHASE_NONE = 0,
  RAPIDEYE_PHASE_COMPILE = 1,
  RAPIDEYE_PHASE_INPUT = 2,
  RAPIDEYE_PHASE_STEP = 3,
  RAPIDEYE_PHASE_CHECKPOINT = 4,
  RAPIDEYE_PHASE_EVAL = 5
};

/* The beginning of the file; the rest of its 4096 bytes is zero. Little-endian.
 * Times are nanoseconds of CLOCK_MONOTONIC, which all processes of a boot share
 * unless they are in another time namespace; 0: not now. */
struct rapideye_progress_page {
  uint64_t magic;
  uint32_t version;
  uint32_t bytes;          /* of the file */
  char boot_id[40];        /* /proc/sys/kernel/random/boot_id, zeros behind it */
  uint64_t time_namespace; /* inode of /proc/self/ns/time; 0: not known */
  int64_t pid;             /* of the writer, as it counts; 0: it has closed the page */
  int64_t start_ticks;     /* of the writer, field 22 of /proc/self/stat */
  uint64_t sequence;       /* odd while what is around it is being written */
  int64_t step;            /* -1: none yet */
  int64_t phase;           /* enum rapideye_phase */
  int64_t phase_since;
  int64_t input_wait_since; /* of the wait for input that now lasts */
  /* The numbers of this process's devices in the job, as jax.local_devices() has them. Writers of
   * before leave zeros here: not known. Readers of before do not look. */
  int64_t device_count;
  /* Of the devices with numbers from `slice_first` to before `slice_end` all are in this process's
   * slice, and no others are. slice_end 0: not known. */
  int64_t slice_first;
  int64_t slice_end;
  int64_t devices[RAPIDEYE_PROGRESS_DEVICES];
};

struct rapideye_progress {
  struct rapideye_progress_page page; /* as it was last written */
  int descriptor;      /* holds the lock that tells the writer lives; -1: nothing is written */
  unsigned forks;      /* of this process when the page was opened */
  int64_t outer_phase; /* the phase around a wait for input */
  int64_t outer_since;
};

/* How often the process was forked off since it opened pages: a child shares its
 * parent's file, and must not write there. Weak: one for the program. */
/* NOLINTNEXTLINE(misc-definitions-in-headers) */
__attribute__((weak)) unsigned rapideye_progress_forks = 0;

static inline void rapideye_progress_forked(void) { ++rapideye_progress_forks; }

static inline int rapideye_progress_writes(const struct rapideye_progress* progress) {
  return progress->descriptor >= 0 && progress->forks == rapideye_progress_forks;
}

static inline int64_t rapideye_progress_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Writes these bytes of the page. By pwrite: whoever truncates a file that is mapped ends
 * the process (SIGBUS). If it fails, nothing is written any more. */
static inline void rapideye_progress_put(struct rapideye_progress* progress, const void* first,
                                         size_t size) {
  const off_t offset = (off_t)((const char*)first - (const char*)&progress->page);
  if (progress->descriptor < 0) return;
  if (pwrite(progress->descriptor, first, size, offset) == (ssize_t)size) return;
  close(progress->descriptor);
  progress->descriptor = -1;
}

/* What stands between the two is written as one: a reader that sees an odd sequence, or not
 * the same one twice, reads again. */
static inline void rapideye_progress_begin_write(struct rapideye_progress* progress) {
  progress->page.sequence |= 1;
  rapideye_progress_put(progress, &progress->page.sequence, sizeof(progress->page.sequence));
}

static inline void rapideye_progress_end_write(struct rapideye_progress* progress) {
  progress->page.sequence += 1;
  rapideye_progress_put(progress, &progress->page.sequence, sizeof(progress->page.sequence));
}

/* `since`, `wait`: on CLOCK_MONOTONIC. About a microsecond. */
static inline void rapideye_progress_write(struct rapideye_progress* progress, int64_t step,
                                           int64_t phase, int64_t since, int64_t wait) {
  struct rapideye_progress_page* page = &progress->page;
  rapideye_progress_begin_write(progress);
  page->step = step;
  page->phase = phase;
  page->phase_since = since;
  page->input_wait_since = wait;
  rapideye_progress_put(progress, &page->step,
                        offsetof(struct rapideye_progress_page, device_count) -
                            offsetof(struct rapideye_progress_page, step));
  rapideye_progress_end_write(progress);
}

/* The loop enters this phase now; RAPIDEYE_PHASE_NONE: it leaves the last one. */
static inline void rapideye_progress_phase(struct rapideye_progress* progress,
                                           enum rapideye_phase phase) {
  if (!rapideye_progress_writes(progress)) return;
  rapideye_progress_write(progress, progress->page.step, phase, rapideye_progress_now(), 0);
}

/* This process has these devices, by their numbers in the job: by them an agent tells which
 * cores meet at a collective. More than RAPIDEYE_PROGRESS_DEVICES are left out. The numbers of its
 * slice's devices, and of no others, are `slice_first` to before `slice_end`; 0, 0: not known. */
static inline void rapideye_progress_devices(struct rapideye_progress* progress,
                                             const int64_t* devices, size_t count,
                                             int64_t slice_first, int64_t slice_end) {
  struct rapideye_progress_page* page = &progress->page;
  if (!rapideye_progress_writes(progress)) return;
  if (count > RAPIDEYE_PROGRESS_DEVICES) count = 0;
  rapideye_progress_begin_write(progress);
  page->device_count = (int64_t)count;
  page->slice_first = slice_first;
  page->slice_end = slice_end;
  if (count > 0) memcpy(page->devices, devices, count * sizeof(*devices));
  rapideye_progress_put(progress, &page->device_count,
                        sizeof(*page) - offsetof(struct rapideye_progress_page, device_count));
  rapideye_progress_end_write(progress);
}

/* The loop begins this step now. */
static inline void rapideye_progress_step(struct rapideye_progress* progress, int64_t step) {
  if (!rapideye_progress_writes(progress)) return;
  rapideye_progress_write(progress, step, RAPIDEYE_PHASE_STEP, rapideye_progress_now(), 0);
}

/* The loop waits for input from now on, within whatever phase it is in. */
static inline void rapideye_progress_input_begin(struct rapideye_progress* progress) {
  struct rapideye_progress_page* page = &progress->page;
  int64_t now, phase, since;
  if (!rapideye_progress_writes(progress)) return;
  now = rapideye_progress_now();
  phase = progress->outer_phase = page->phase;
  since = progress->outer_since = page->phase_since;
  /* A wait in an evaluation is still the evaluation's. */
  if (phase == RAPIDEYE_PHASE_NONE || phase == RAPIDEYE_PHASE_STEP) {
    phase = RAPIDEYE_PHASE_INPUT;
    since = now;
  }
  rapideye_progress_write(progress, page->step, phase, since, now);
}

/* The input has come: the phase around the wait goes on. */
static inline void rapideye_progress_input_end(struct rapideye_progress* progress) {
  if (!rapideye_progress_writes(progress)) return;
  rapideye_progress_write(progress, progress->page.step, progress->outer_phase,
                          progress->outer_since, 0);
}

static inline void rapideye_progress_read_line(const char* path, char* line, int size) {
  FILE* file = fopen(path, "re");
  line[0] = '\0';
  if (file == NULL) return;
  if (fgets(line, size, file) == NULL) line[0] = '\0';
  fclose(file);
  line[strcspn(line, "\n")] = '\0';
}

static inline int64_t rapideye_progress_start_ticks(void) {
  char line[1024];
  const char* at;
  int field;
  rapideye_progress_read_line("/proc/self/stat", line, sizeof(line));
  at = strrchr(line, ')'); /* the name before it may hold anything */
  for (field = 2; at != NULL && field < 22; ++field) at = strchr(at + 1, ' ');
  return at == NULL ? 0 : strtoll(at + 1, NULL, 10);
}

static inline void rapideye_progress_introduce(struct rapideye_progress* progress) {
  struct rapideye_progress_page* page = &progress->page;
  struct stat time_namespace;
  rapideye_progress_begin_write(progress);
  page->magic = RAPIDEYE_PROGRESS_MAGIC;
  page->version = RAPIDEYE_PROGRESS_VERSION;
  page->bytes = RAPIDEYE_PROGRESS_BYTES;
  memset(page->boot_id, 0, sizeof(page->boot_id));
  rapideye_progress_read_line("/proc/sys/kernel/random/boot_id", page->boot_id,
                              sizeof(page->boot_id));
  page->time_namespace =
      stat("/proc/self/ns/time", &time_namespace) == 0 ? (uint64_t)time_namespace.st_ino : 0;
  page->pid = getpid();
  page->start_ticks = rapideye_progress_start_ticks();
  page->step = -1;
  page->phase = RAPIDEYE_PHASE_NONE;
  page->phase_since = 0;
  page->input_wait_since = 0;
  rapideye_progress_put(progress, page, sizeof(*page));
  rapideye_progress_end_write(progress);
}

/* Takes the file for this process: 0, or why not. A file that is neither empty nor a
 * page is somebody's, and stays as it is (EEXIST); one that others own, may write to or
 * know by another name is not written to (EPERM). */
static inline int rapideye_progress_prepare(struct rapideye_progress* progress) {
  struct stat status;
  struct rlimit limit;
  struct flock lock;
  const int descriptor = progress->descriptor;
  if (fstat(descriptor, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  if (status.st_uid != geteuid() || status.st_nlink != 1) return EPERM;
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return EPERM;
  /* A write beyond it would end the process (SIGXFSZ). */
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < RAPIDEYE_PROGRESS_BYTES) {
    return EFBIG;
  }
  /* Held until the process ends, however it does; a child does not inherit it. */
  memset(&lock, 0, sizeof(lock));
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  if (fcntl(descriptor, F_SETLK, &lock) != 0) return errno == EACCES ? EAGAIN : errno;
  if (status.st_size != 0) {
    struct rapideye_progress_page before;
    if (status.st_size != RAPIDEYE_PROGRESS_BYTES) return EEXIST;
    if (pread(descriptor, &before, sizeof(before), 0) != (ssize_t)sizeof(before)) return EIO;
    if (before.magic != 0 && before.magic != RAPIDEYE_PROGRESS_MAGIC) return EEXIST;
    progress->page.sequence = before.sequence; /* goes on */
    return 0;
  }
  (void)fchmod(descriptor, 0644); /* the agent may be another user */
  return posix_fallocate(descriptor, 0, RAPIDEYE_PROGRESS_BYTES);
}

/* Opens the page, makes the file if it is not there. `path` NULL: what
 * RAPIDEYE_PROGRESS_PAGE says. 0; or why there is no page: ENOENT (no path is given),
 * EAGAIN (another process writes it), EEXIST (the file is no page), EPERM (another user
 * owns it or may write to it), or what the system says. */
static inline int rapideye_progress_open(struct rapideye_progress* progress, const char* path) {
  static int watches_forks = 0;
  int error;
  memset(progress, 0, sizeof(*progress));
  progress->descriptor = -1;
  if (path == NULL) path = getenv(RAPIDEYE_PROGRESS_VARIABLE);
  if (path == NULL || path[0] == '\0') return ENOENT;
  if (!watches_forks) {
    error = pthread_atfork(NULL, NULL, rapideye_progress_forked);
    if (error != 0) return error;
    watches_forks = 1;
  }
  progress->descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
  if (progress->descriptor < 0) return errno;
  error = rapideye_progress_prepare(progress);
  if (error != 0) {
    close(progress->descriptor);
    progress->descriptor = -1;
    return error;
  }
  progress->forks = rapideye_progress_forks;
  rapideye_progress_introduce(progress);
  rapideye_progress_devices(progress, NULL, 0, 0, 0); /* none of a process before this one */
  return 0;
}

/* Says that nobody writes the page any more. The file stays, for the next process. */
static inline void rapideye_progress_close(struct rapideye_progress* progress) {
  if (rapideye_progress_writes(progress)) {
    rapideye_progress_begin_write(progress);
    progress->page.pid = 0;
    rapideye_progress_put(progress, &progress->page.pid, sizeof(progress->page.pid));
    rapideye_progress_end_write(progress);
  }
  if (progress->descriptor >= 0) close(progress->descriptor);
  progress->descriptor = -1;
}

#ifdef __cplusplus
}
#endif

#endif /* RAPIDEYE_AGENT_PROGRESS_RAPIDEYE_PROGRESS_H_ */
