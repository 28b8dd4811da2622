// Preloaded into a program, makes its system calls fail as FAULT says: eintr, slow, quota, clock.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static atomic_long calls;
static atomic_long written;

static int fault_is(const char* name) {
  const char* fault = getenv("FAULT");
  return fault != NULL && strcmp(fault, name) == 0;
}

static int is_file(int fd) {
  struct stat info;
  return fd > 2 && fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
}

// Whether this call is one that a signal interrupts.
static int interrupted(void) { return fault_is("eintr") && atomic_fetch_add(&calls, 1) % 3 == 0; }

// What is left of a call that writes `size` bytes; negative: it fails with errno.
static ssize_t allowed(int fd, size_t size) {
  if (interrupted()) {
    errno = EINTR;
    return -1;
  }
  if (!is_file(fd)) return (ssize_t)size;
  if (fault_is("eintr") && size > 1) return (ssize_t)(size / 2);
  if (fault_is("slow")) {
    const struct timespec pause = {0, 2000000};
    nanosleep(&pause, NULL);
  }
  if (fault_is("quota")) {
    const long limit = atol(getenv("FAULT_BYTES"));
    if (atomic_fetch_add(&written, (long)size) + (long)size > limit) {
      errno = EDQUOT;
      return -1;
    }
  }
  return (ssize_t)size;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void* data, size_t size) {
  const ssize_t part = allowed(fd, size);
  return part < 0 ? part : REAL(write)(fd, data, (size_t)part);
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t offset) {
  const ssize_t part = allowed(fd, size);
  return part < 0 ? part : REAL(pwrite64)(fd, data, (size_t)part, offset);
}

ssize_t pwrite(int fd, const void* data, size_t size, off_t offset) {
  return pwrite64(fd, data, size, offset);
}

ssize_t writev(int fd, const struct iovec* parts, int count) {
  if (count == 0 || allowed(fd, parts[0].iov_len) < 0) return count == 0 ? 0 : -1;
  return REAL(writev)(fd, parts, fault_is("eintr") ? 1 : count);
}

ssize_t read(int fd, void* data, size_t size) {
  if (interrupted()) {
    errno = EINTR;
    return -1;
  }
  if (fault_is("eintr") && is_file(fd) && size > 1) size /= 2;
  return REAL(read)(fd, data, size);
}

int fsync(int fd) {
  if (interrupted()) {
    errno = EINTR;
    return -1;
  }
  return REAL(fsync)(fd);
}

static long jump(void) {
  static atomic_ulong state = 88172645463325252UL;
  unsigned long x = atomic_load(&state);
  x ^= x << 13;
  x ^= x >> 7;
  x ^= x << 17;
  atomic_store(&state, x);
  const long year = 365L * 24 * 3600;
  return (long)(x % (unsigned long)(2 * year)) - year;
}

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int code = REAL(clock_gettime)(clock, now);
  if (code == 0 && clock == CLOCK_REALTIME && fault_is("clock")) now->tv_sec += jump();
  return code;
}

int gettimeofday(struct timeval* restrict now, void* restrict zone) {
  const int code = REAL(gettimeofday)(now, zone);
  if (code == 0 && fault_is("clock")) now->tv_sec += jump();
  return code;
}

time_t time(time_t* out) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (out != NULL) *out = now.tv_sec;
  return now.tv_sec;
}
