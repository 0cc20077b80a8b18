#define _GNU_SOURCE
#include "CBelfrySystem.h"

#include <netdb.h>
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <fcntl.h>
#include <linux/netlink.h>
#include <libgen.h>
#include <malloc.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timex.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/// Evaluates a call until a signal does not interrupt it, and yields its result or a negative errno.
#define RETRY(call)                                                                                \
    ({                                                                                             \
        __auto_type outcome_ = (call);                                                             \
        while (outcome_ < 0 && errno == EINTR) outcome_ = (call);                                  \
        outcome_ < 0 ? (__typeof__(outcome_))(-errno) : outcome_;                                  \
    })

/// Calls the kernel past libc's function, where every turn or delivery does: that function is a
/// cancellation point, which costs a process with threads two locked instructions, and nobody
/// cancels a thread here.
#define DIRECTLY(call, ...) syscall(SYS_##call, __VA_ARGS__)

int64_t belfry_monotonic_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int64_t belfry_wall_nanoseconds(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

int belfry_wall_is_synchronized(void) {
    struct timex state = {0};
    int outcome = RETRY(adjtimex(&state));
    if (outcome < 0) return outcome;
    return outcome != TIME_ERROR && !(state.status & STA_UNSYNC);
}

struct belfry_file_system belfry_file_system_of(const char *path) {
    struct statfs state;
    int status = RETRY(statfs(path, &state));
    if (status < 0) return (struct belfry_file_system){.status = status};
    return (struct belfry_file_system){
        .kind = (int64_t)(uint32_t)state.f_type,
        .free_bytes = (int64_t)state.f_bavail * (int64_t)state.f_bsize,
    };
}

int belfry_random(void *bytes, size_t count) {
    size_t done = 0;
    while (done < count) {
        ssize_t outcome = RETRY(getrandom((char *)bytes + done, count - done, 0));
        if (outcome < 0) return (int)outcome;
        done += (size_t)outcome;
    }
    return 0;
}

const char *belfry_error_text(int error) { return strerrordesc_np(error); }

ssize_t belfry_read(int descriptor, void *bytes, size_t count) {
    return RETRY(read(descriptor, bytes, count));
}

ssize_t belfry_write(int descriptor, const void *bytes, size_t count) {
    return RETRY(write(descriptor, bytes, count));
}

int belfry_await_room(int descriptor) {
    struct pollfd room = {.fd = descriptor, .events = POLLOUT};
    return RETRY(poll(&room, 1, -1));
}

int belfry_open_for_reading(const char *path) { return RETRY(open(path, O_RDONLY | O_CLOEXEC)); }

bool belfry_is_terminal(int descriptor) { return isatty(descriptor) == 1; }

// Linux frees the number even when close(2) reports EINTR, so it is never repeated.
void belfry_close(int descriptor) { (void)close(descriptor); }

// The threshold does not move then: what is freed above it is the system's again at once.
void belfry_return_large_blocks(size_t byte_count) {
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, (int)byte_count);
#else
    (void)byte_count;
#endif
}

int64_t belfry_allocated_bytes(void) {
#ifdef __GLIBC__
    struct mallinfo2 all = mallinfo2();
    return (int64_t)(all.uordblks + all.hblkhd);
#else
    return -1;
#endif
}

void belfry_trim_memory(void) {
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

// MARK: Addresses

static uint64_t load64(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 0; i < 8; i++) value = value << 8 | bytes[i];
    return value;
}

static void store64(uint8_t *bytes, uint64_t value) {
    for (int i = 7; i >= 0; i--, value >>= 8) bytes[i] = (uint8_t)value;
}

static struct belfry_address from_sockaddr(const struct sockaddr_storage *storage) {
    struct belfry_address address = {0};
    if (storage->ss_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)storage;
        address.family = 4;
        address.low = ntohl(in->sin_addr.s_addr);
        address.port = ntohs(in->sin_port);
    } else if (storage->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)storage;
        address.family = 6;
        address.high = load64(in6->sin6_addr.s6_addr);
        address.low = load64(in6->sin6_addr.s6_addr + 8);
        address.port = ntohs(in6->sin6_port);
        address.scope = in6->sin6_scope_id;
    }
    return address;
}

static socklen_t to_sockaddr(struct belfry_address address, struct sockaddr_storage *storage) {
    memset(storage, 0, sizeof *storage);
    if (address.family == 6) {
        struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)storage;
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(address.port);
        in6->sin6_scope_id = address.scope;
        store64(in6->sin6_addr.s6_addr, address.high);
        store64(in6->sin6_addr.s6_addr + 8, address.low);
        return sizeof *in6;
    }
    struct sockaddr_in *in = (struct sockaddr_in *)storage;
    in->sin_family = AF_INET;
    in->sin_port = htons(address.port);
    in->sin_addr.s_addr = htonl((uint32_t)address.low);
    return sizeof *in;
}

bool belfry_parse_host(const char *text, bool is_ipv6, struct belfry_address *out) {
    memset(out, 0, sizeof *out);
    uint8_t bytes[16];
    if (inet_pton(is_ipv6 ? AF_INET6 : AF_INET, text, bytes) != 1) return false;
    out->family = is_ipv6 ? 6 : 4;
    if (is_ipv6) {
        out->high = load64(bytes);
        out->low = load64(bytes + 8);
    } else {
        for (int i = 0; i < 4; i++) out->low = out->low << 8 | bytes[i];
    }
    return true;
}

bool belfry_lookup_host(const char *name, struct belfry_address *out) {
    memset(out, 0, sizeof *out);
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
    struct addrinfo *found = NULL;
    if (getaddrinfo(name, NULL, &hints, &found) != 0) return false;
    bool is_found = false;
    for (struct addrinfo *one = found; one && !is_found; one = one->ai_next) {
        uint8_t bytes[16];
        if (one->ai_family == AF_INET) {
            memcpy(bytes, &((struct sockaddr_in *)one->ai_addr)->sin_addr, 4);
            out->family = 4;
            for (int i = 0; i < 4; i++) out->low = out->low << 8 | bytes[i];
            is_found = true;
        } else if (one->ai_family == AF_INET6) {
            struct sockaddr_in6 *address = (struct sockaddr_in6 *)one->ai_addr;
            memcpy(bytes, &address->sin6_addr, 16);
            out->family = 6;
            out->high = load64(bytes);
            out->low = load64(bytes + 8);
            out->scope = address->sin6_scope_id;
            is_found = true;
        }
    }
    freeaddrinfo(found);
    return is_found;
}

size_t belfry_format_host(struct belfry_address address, char *out, size_t capacity) {
    uint8_t bytes[16];
    if (address.family == 6) {
        store64(bytes, address.high);
        store64(bytes + 8, address.low);
    } else {
        for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(address.low >> (24 - 8 * i));
    }
    if (!inet_ntop(address.family == 6 ? AF_INET6 : AF_INET, bytes, out, (socklen_t)capacity)) return 0;
    return strlen(out);
}

// MARK: Sockets

static int new_socket(struct belfry_address address) {
    int family = address.family == 6 ? AF_INET6 : AF_INET;
    return RETRY(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
}

static int turn_on(int descriptor, int level, int option) {
    int on = 1;
    return RETRY(setsockopt(descriptor, level, option, &on, sizeof on));
}

struct belfry_socket belfry_listen(struct belfry_address address, int backlog) {
    struct belfry_socket made = {.address = address};
    int descriptor = new_socket(address);
    if (descriptor < 0) {
        made.descriptor = descriptor;
        return made;
    }
    struct sockaddr_storage storage;
    socklen_t length = to_sockaddr(address, &storage);
    int status = turn_on(descriptor, SOL_SOCKET, SO_REUSEADDR);
    // An address listens for exactly what it says, whatever the bindv6only sysctl is.
    if (status >= 0 && address.family == 6) status = turn_on(descriptor, IPPROTO_IPV6, IPV6_V6ONLY);
    // Accepted sockets inherit TCP_NODELAY, which saves a call for each of them.
    if (status >= 0) status = turn_on(descriptor, IPPROTO_TCP, TCP_NODELAY);
    // And this: the kernel takes so many bytes more than the peer's window lets it send. Without it
    // each peer that does not read gets megabytes of the kernel's memory.
    int unsent_limit = 128 * 1024;
    if (status >= 0) {
        status = RETRY(setsockopt(
            descriptor, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent_limit, sizeof unsent_limit));
    }
    if (status >= 0) status = RETRY(bind(descriptor, (struct sockaddr *)&storage, length));
    if (status >= 0) status = RETRY(listen(descriptor, backlog));
    length = sizeof storage;
    if (status >= 0) status = RETRY(getsockname(descriptor, (struct sockaddr *)&storage, &length));
    if (status < 0) {
        belfry_close(descriptor);
        made.descriptor = status;
        return made;
    }
    made.descriptor = descriptor;
    made.address = from_sockaddr(&storage);
    return made;
}

struct belfry_socket belfry_accept(int listener) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    struct belfry_socket made = {0};
    made.descriptor = RETRY(
        accept4(listener, (struct sockaddr *)&storage, &length, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (made.descriptor >= 0) made.address = from_sockaddr(&storage);
    return made;
}

struct belfry_socket belfry_own_address(int descriptor) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof storage;
    struct belfry_socket named = {0};
    named.descriptor = RETRY(getsockname(descriptor, (struct sockaddr *)&storage, &length));
    if (named.descriptor >= 0) named.address = from_sockaddr(&storage);
    return named;
}

int belfry_diagnosis_open(void) {
    int descriptor =
        RETRY(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG));
    if (descriptor < 0) return descriptor;
    // Port 0 is the kernel: a socket that is connected takes messages of nobody else.
    struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
    int status = RETRY(connect(descriptor, (struct sockaddr *)&kernel, sizeof kernel));
    if (status < 0) {
        close(descriptor);
        return status;
    }
    return descriptor;
}

uint32_t belfry_own_user(void) { return geteuid(); }

int belfry_connect(struct belfry_address address) {
    int descriptor = new_socket(address);
    if (descriptor < 0) return descriptor;
    struct sockaddr_storage storage;
    socklen_t length = to_sockaddr(address, &storage);
    int status = turn_on(descriptor, IPPROTO_TCP, TCP_NODELAY);
    // connect(2) is not repeated after EINTR: the attempt goes on, as with EINPROGRESS.
    if (status >= 0 && connect(descriptor, (struct sockaddr *)&storage, length) < 0) status = -errno;
    if (status < 0 && status != -EINPROGRESS && status != -EINTR) {
        belfry_close(descriptor);
        return status;
    }
    return descriptor;
}

int belfry_connect_outcome(int descriptor) {
    int error = 0;
    socklen_t length = sizeof error;
    int status = RETRY(getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &length));
    return status < 0 ? status : -error;
}

int belfry_shutdown_writing(int descriptor) { return RETRY(shutdown(descriptor, SHUT_WR)); }

ssize_t belfry_receive(int descriptor, void *bytes, size_t count) {
    return RETRY(DIRECTLY(recvfrom, descriptor, bytes, count, 0, NULL, NULL));
}

ssize_t belfry_send(int descriptor, const void *bytes, size_t count) {
    return RETRY(DIRECTLY(sendto, descriptor, bytes, count, MSG_NOSIGNAL, NULL, 0));
}

ssize_t belfry_send_vectors(int descriptor, struct iovec *vectors, size_t count) {
    struct msghdr message = {.msg_iov = vectors, .msg_iovlen = count};
    return RETRY(DIRECTLY(sendmsg, descriptor, &message, MSG_NOSIGNAL));
}

// MARK: epoll

static uint32_t to_epoll(uint32_t events) {
    return (events & belfry_readable ? (uint32_t)EPOLLIN : 0)
         | (events & belfry_writable ? (uint32_t)EPOLLOUT : 0)
         | (events & belfry_ending ? (uint32_t)EPOLLRDHUP : 0);
}

int belfry_epoll_create(void) { return RETRY(epoll_create1(EPOLL_CLOEXEC)); }

int belfry_epoll_add(int epoll, int descriptor, uint64_t token, uint32_t events) {
    struct epoll_event event = {.events = to_epoll(events), .data.u64 = token};
    return RETRY(epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event));
}

int belfry_epoll_modify(int epoll, int descriptor, uint64_t token, uint32_t events) {
    struct epoll_event event = {.events = to_epoll(events), .data.u64 = token};
    return RETRY(epoll_ctl(epoll, EPOLL_CTL_MOD, descriptor, &event));
}

int belfry_epoll_wait(
    int epoll, struct belfry_ready *out, int capacity, int64_t timeout_nanoseconds) {
    enum { most = 512 };
    struct epoll_event events[most];
    int timeout = -1;
    if (timeout_nanoseconds >= 0) {
        // Rounded up: a wait that ends too early would only be followed by a second one.
        int64_t milliseconds = timeout_nanoseconds / 1000000 + (timeout_nanoseconds % 1000000 != 0);
        timeout = milliseconds > 3600000 ? 3600000 : (int)milliseconds;
    }
    int limit = capacity < most ? capacity : most;
    int count = (int)DIRECTLY(epoll_pwait, epoll, events, limit, timeout, NULL, 0);
    // An interrupted wait is one that found nothing: the caller knows how long to wait again.
    if (count < 0) return errno == EINTR ? 0 : -errno;
    for (int i = 0; i < count; i++) {
        uint32_t found = events[i].events;
        out[i].token = events[i].data.u64;
        out[i].events = (found & EPOLLIN ? belfry_readable : 0)
                      | (found & EPOLLOUT ? belfry_writable : 0)
                      | (found & (EPOLLERR | EPOLLHUP) ? belfry_failed : 0)
                      | (found & EPOLLRDHUP ? belfry_ending : 0);
    }
    return count;
}

// MARK: eventfd and signalfd

int belfry_event_create(void) { return RETRY(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)); }

int belfry_event_signal(int descriptor) {
    uint64_t one = 1;
    ssize_t outcome = RETRY(write(descriptor, &one, sizeof one));
    return outcome < 0 ? (int)outcome : 0;
}

int belfry_event_clear(int descriptor) {
    uint64_t count;
    ssize_t outcome = RETRY(read(descriptor, &count, sizeof count));
    return outcome < 0 ? (int)outcome : 0;
}

int belfry_signal_create(uint64_t mask) {
    sigset_t set;
    sigemptyset(&set);
    for (int number = 1; number < 64; number++) {
        if (mask >> number & 1) sigaddset(&set, number);
    }
    int status = pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (status != 0) return -status;
    return RETRY(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
}

int belfry_signal_next(int descriptor) {
    struct signalfd_siginfo info;
    ssize_t outcome = RETRY(read(descriptor, &info, sizeof info));
    return outcome < 0 ? (int)outcome : (int)info.ssi_signo;
}

int belfry_thread_create(pthread_t *thread, void *(*body)(void *), void *context) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(thread, NULL, body, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return status;
}

int belfry_ignore_broken_pipe(void) {
    struct sigaction action = {.sa_handler = SIG_IGN};
    return RETRY(sigaction(SIGPIPE, &action, NULL));
}

// MARK: Children

int belfry_memory_file(void) { return RETRY(memfd_create("belfry", MFD_CLOEXEC)); }

int belfry_rewind(int descriptor) {
    return lseek(descriptor, 0, SEEK_SET) < 0 ? -errno : 0;
}

/// An array of texts that lie one behind the other, with a null at its end.
static char **belfry_texts(const char *text, size_t count) {
    char **texts = calloc(count + 1, sizeof *texts);
    for (size_t index = 0; texts != NULL && index < count; index++) {
        texts[index] = (char *)text;
        text += strlen(text) + 1;
    }
    return texts;
}

int belfry_child_start(
    const void *arguments, size_t argument_count, const void *environment, size_t variable_count,
    int input, int output, int error) {
    char **argv = belfry_texts(arguments, argument_count);
    char **envp = belfry_texts(environment, variable_count);
    pid_t child = -1;
    int status = ENOMEM;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    if (argv != NULL && envp != NULL) {
        sigset_t none, all;
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
        posix_spawnattr_setpgroup(&attributes, 0);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawn_file_actions_adddup2(&actions, input, 0);
        posix_spawn_file_actions_adddup2(&actions, output, 1);
        posix_spawn_file_actions_adddup2(&actions, error, 2);
        status = posix_spawnp(&child, argv[0], &actions, &attributes, argv, envp);
    }
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    free(argv);
    free(envp);
    return status == 0 ? child : -status;
}

struct belfry_pipe belfry_pipe(void) {
    int ends[2] = {-1, -1};
    struct belfry_pipe made = {0};
    made.status = RETRY(pipe2(ends, O_CLOEXEC));
    made.reading = ends[0];
    made.writing = ends[1];
    return made;
}

int belfry_child_watch(int child) { return RETRY((int)syscall(SYS_pidfd_open, child, 0)); }

int belfry_child_await(int child, int watch, int output, int error) {
    siginfo_t info = {0};
    int status = RETRY(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT | WNOHANG));
    if (status < 0) return status;
    // What it has written before its end is there. A kernel without pidfd_open(2) is asked again
    // and again.
    bool has_ended = info.si_pid != 0;
    int patience = has_ended ? 0 : watch < 0 ? 20 : -1;
    struct pollfd waits[3] = {{output, POLLIN, 0}, {error, POLLIN, 0}, {watch, POLLIN, 0}};
    status = RETRY(poll(waits, 3, patience));
    if (status < 0) return status;
    return (waits[0].revents != 0 ? 1 : 0) | (waits[1].revents != 0 ? 2 : 0) | (has_ended ? 4 : 0);
}

int belfry_child_reap(int child) {
    int status;
    pid_t outcome = RETRY(waitpid(child, &status, 0));
    if (outcome < 0) return outcome;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int belfry_child_terminate(int child) { return RETRY(kill(-child, SIGTERM)); }

// MARK: Files of a directory

int belfry_directory_create(const char *path) {
    int status = RETRY(mkdir(path, 0700));
    return status == -EEXIST ? 0 : status;
}

int belfry_directory_open(const char *path) {
    return RETRY(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

int belfry_file_open(int directory, const char *name, bool creates) {
    int flags = creates ? O_RDWR | O_CREAT : O_RDONLY;
    return RETRY(openat(directory, name, flags | O_CLOEXEC | O_NOFOLLOW, 0600));
}

int belfry_file_lock(int descriptor) { return RETRY(flock(descriptor, LOCK_EX | LOCK_NB)); }

struct belfry_file belfry_file_status(int directory, const char *name) {
    struct stat found;
    struct belfry_file file = {0};
    file.status = RETRY(fstatat(directory, name, &found, 0));
    if (file.status < 0) return file;
    file.device = found.st_dev;
    file.inode = found.st_ino;
    file.size = found.st_size;
    return file;
}

struct belfry_file belfry_path_status(const char *path) { return belfry_file_status(AT_FDCWD, path); }

int belfry_file_mode(const char *path) {
    struct stat found;
    int status = RETRY(stat(path, &found));
    return status < 0 ? status : (int)found.st_mode;
}

ssize_t belfry_file_read(int descriptor, void *bytes, size_t count, int64_t offset) {
    return RETRY(pread(descriptor, bytes, count, offset));
}

int belfry_file_write(int descriptor, const void *bytes, size_t count) {
    ssize_t written = RETRY(pwrite(descriptor, bytes, count, 0));
    if (written < 0) return (int)written;
    return (size_t)written < count ? -ENOSPC : 0;
}

int belfry_file_rewrite(int descriptor, const void *bytes, size_t count) {
    ssize_t written = RETRY(pwrite(descriptor, bytes, count, 0));
    if (written < 0) return (int)written;
    if ((size_t)written < count) return -ENOSPC;
    return RETRY(ftruncate(descriptor, (off_t)count));
}

int belfry_file_allocate(int descriptor, int64_t size) {
    struct stat before;
    int status = RETRY(fstat(descriptor, &before));
    if (status < 0) return status;
    do {
        status = -posix_fallocate(descriptor, 0, size);
    } while (status == -EINTR);
    // A part that was allocated is given back: the file has either the size or what it had.
    if (status < 0 && RETRY(ftruncate(descriptor, before.st_size)) < 0) return -errno;
    return status;
}

int belfry_file_remove(int directory, const char *name) {
    int status = RETRY(unlinkat(directory, name, 0));
    return status == -ENOENT ? 0 : status;
}

int belfry_file_rename(int directory, const char *from, const char *to) {
    return RETRY(renameat(directory, from, directory, to));
}

int belfry_file_link(int directory, const char *from, const char *to) {
    return RETRY(linkat(directory, from, directory, to, 0));
}

int belfry_file_synchronize(int descriptor) { return RETRY(fsync(descriptor)); }

int belfry_file_create(int directory, const char *name) {
    return RETRY(openat(directory, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
}

int belfry_file_reserve(int descriptor, int64_t size) {
    int status = RETRY(fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, size));
    return status == -EOPNOTSUPP ? 0 : status;
}

int belfry_file_truncate(int descriptor) { return RETRY(ftruncate(descriptor, 0)); }

int belfry_shared_open(const char *path, int64_t size) {
    int descriptor = RETRY(open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (descriptor < 0) return descriptor;
    struct stat found;
    int status = RETRY(fstat(descriptor, &found));
    // Where everybody may make files, one of somebody else says nothing.
    if (status == 0
        && (!S_ISREG(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & 077) != 0
            || found.st_size != size)) {
        status = -EINVAL;
    }
    if (status == 0) return descriptor;
    close(descriptor);
    return status;
}

int belfry_shared_create(const char *path, int64_t size) {
    int status = RETRY(unlink(path));
    if (status < 0 && status != -ENOENT) return status;
    int descriptor = RETRY(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (descriptor < 0) return descriptor;
    status = RETRY(ftruncate(descriptor, size));
    if (status == 0) return descriptor;
    close(descriptor);
    return status;
}

int belfry_shared_reserve(int descriptor, int64_t offset, int64_t size) {
    int status;
    do {
        status = -posix_fallocate(descriptor, offset, size);
    } while (status == -EINTR);
    return status;
}

void *belfry_shared_map(int descriptor, size_t size) {
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int belfry_new_file_create(const char *path, const char *partial) {
    struct stat found;
    if (RETRY(lstat(path, &found)) == 0) return -EEXIST;
    return RETRY(open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
}

int belfry_new_file_name(const char *partial, const char *path) {
    int status = RETRY(rename(partial, path));
    if (status < 0) return status;
    char *copy = strdup(path);
    if (!copy) return -ENOMEM;
    int directory = RETRY(open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    free(copy);
    if (directory < 0) return directory;
    status = RETRY(fsync(directory));
    close(directory);
    // Some network file systems have no such thing.
    return status == -EINVAL ? 0 : status;
}

int belfry_new_file_remove(const char *partial) { return RETRY(unlink(partial)); }

int belfry_duplicate(int descriptor) { return RETRY(fcntl(descriptor, F_DUPFD_CLOEXEC, 0)); }

// MARK: CRC-32C

static uint32_t crc_table[256];
static bool has_crc_instruction;

__attribute__((constructor)) static void prepare_crc(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78 : 0);
        crc_table[i] = crc;
    }
#if defined(__x86_64__)
    unsigned a, b, c, d;
    has_crc_instruction = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2);
#endif
}

static uint32_t crc_byte(uint32_t crc, uint8_t byte) {
    return crc >> 8 ^ crc_table[(crc ^ byte) & 0xFF];
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_word_by_instruction(
    uint32_t crc, uint64_t word) {
    return (uint32_t)__builtin_ia32_crc32di(crc, word);
}

__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(
    uint32_t crc, const uint8_t *next, size_t count) {
    uint64_t word, wide = crc;
    for (; count >= sizeof word; count -= sizeof word, next += sizeof word) {
        memcpy(&word, next, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; count > 0; count--) crc = __builtin_ia32_crc32qi(crc, *next++);
    return crc;
}
#endif

uint32_t belfry_crc32c_word(uint32_t crc, uint64_t word) {
#if defined(__x86_64__)
    if (has_crc_instruction) return crc_word_by_instruction(crc, word);
#endif
    for (int i = 0; i < 8; i++) crc = crc_byte(crc, (uint8_t)(word >> 8 * i));
    return crc;
}

uint32_t belfry_crc32c(uint32_t crc, const void *bytes, size_t count) {
    const uint8_t *next = bytes;
#if defined(__x86_64__)
    if (has_crc_instruction) return crc_by_instruction(crc, next, count);
#endif
    for (; count > 0; count--) crc = crc_byte(crc, *next++);
    return crc;
}

// MARK: Limits

int64_t belfry_resident_bytes(void) {
    char text[128];
    int descriptor = RETRY(open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
    if (descriptor < 0) return descriptor;
    ssize_t count = RETRY(read(descriptor, text, sizeof text - 1));
    belfry_close(descriptor);
    if (count < 0) return count;
    text[count] = 0;
    // The second number is that of the resident pages (proc(5)).
    char *second = strchr(text, ' ');
    return second ? strtoll(second, NULL, 10) * sysconf(_SC_PAGESIZE) : -EINVAL;
}

static int64_t open_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    if (!directory) return -errno;
    int64_t count = 0;
    struct dirent *entry;
    while ((entry = readdir(directory))) count += entry->d_name[0] != '.';
    closedir(directory);
    // One of them is the directory itself.
    return count - 1;
}

struct belfry_process belfry_process_figures(void) {
    struct belfry_process told = {0};
    told.resident_bytes = belfry_resident_bytes();
    told.open_descriptors = open_descriptors();
    struct rusage used;
    int status = RETRY(getrusage(RUSAGE_SELF, &used));
    told.processor_microseconds = (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
                                  used.ru_utime.tv_usec + used.ru_stime.tv_usec;
    told.status = (int32_t)(told.resident_bytes < 0     ? told.resident_bytes
                            : told.open_descriptors < 0 ? told.open_descriptors
                                                        : status);
    return told;
}

struct belfry_limit belfry_descriptor_limit(void) {
    struct rlimit limit;
    struct belfry_limit told = {0};
    told.status = RETRY(getrlimit(RLIMIT_NOFILE, &limit));
    if (told.status >= 0) {
        told.soft = limit.rlim_cur;
        told.hard = limit.rlim_max;
    }
    return told;
}

struct belfry_limit belfry_raise_descriptor_limit(void) {
    struct belfry_limit told = belfry_descriptor_limit();
    if (told.status < 0 || told.soft >= told.hard) return told;
    struct rlimit raised = {.rlim_cur = told.hard, .rlim_max = told.hard};
    told.status = RETRY(setrlimit(RLIMIT_NOFILE, &raised));
    if (told.status >= 0) told.soft = told.hard;
    return told;
}
