#ifndef C_BELFRY_SYSTEM_H
#define C_BELFRY_SYSTEM_H

// What Swift cannot import from the C library: epoll, accept4, signalfd and the sockaddr casts.
// A function that can fail returns a negative errno; EINTR is retried inside.

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

/// An IPv4 or IPv6 address and a port, in host byte order; IPv4 lies in the low 32 bits of `low`.
struct belfry_address {
    uint64_t high;
    uint64_t low;
    uint32_t scope;
    uint16_t port;
    uint8_t family; // 4, 6, or 0 for another family
};

/// A new socket (or a negative errno) and the address that belongs to it.
struct belfry_socket {
    int32_t descriptor;
    struct belfry_address address;
};

/// One entry of what epoll found ready.
struct belfry_ready {
    uint64_t token;
    uint32_t events;
};

/// The soft and the hard limit, or a negative errno in `status`.
struct belfry_limit {
    int32_t status;
    uint64_t soft;
    uint64_t hard;
};

/// What the process takes, or a negative errno in `status`.
struct belfry_process {
    int32_t status;
    int64_t resident_bytes;
    int64_t open_descriptors;
    int64_t processor_microseconds;
};

/// What a file system is (statfs(2)) and what is free of it, or a negative errno in `status`.
struct belfry_file_system {
    int32_t status;
    int64_t kind;
    int64_t free_bytes;
};

enum {
    belfry_readable = 1,
    belfry_writable = 2,
    belfry_failed = 4, // EPOLLERR or EPOLLHUP; reported without being asked for
    belfry_ending = 8, // EPOLLRDHUP: the end of the input is there, perhaps behind what was not read
};

int64_t belfry_monotonic_nanoseconds(void);
int64_t belfry_wall_nanoseconds(void);
/// 1 when something keeps the clock of the machine right, 0 when not, or a negative errno.
int belfry_wall_is_synchronized(void);
struct belfry_file_system belfry_file_system_of(const char *_Nonnull path);
int belfry_random(void *_Nonnull bytes, size_t count);
const char *_Nullable belfry_error_text(int error);

ssize_t belfry_read(int descriptor, void *_Nonnull bytes, size_t count);
ssize_t belfry_write(int descriptor, const void *_Nonnull bytes, size_t count);
/// Waits until a descriptor takes bytes, or never will.
int belfry_await_room(int descriptor);
int belfry_open_for_reading(const char *_Nonnull path);
bool belfry_is_terminal(int descriptor);
void belfry_close(int descriptor);

/// Lets each block of at least so many bytes be mapped, and given back to the system when it is freed.
void belfry_return_large_blocks(size_t byte_count);
/// The bytes of all blocks that are allocated, or -1 where the C library does not tell.
int64_t belfry_allocated_bytes(void);
/// Gives back to the system what is free of the memory of all blocks.
void belfry_trim_memory(void);

bool belfry_parse_host(const char *_Nonnull text, bool is_ipv6, struct belfry_address *_Nonnull out);
/// The first address of a host name, without a port; false where it has none. It may block for seconds.
bool belfry_lookup_host(const char *_Nonnull name, struct belfry_address *_Nonnull out);
size_t belfry_format_host(struct belfry_address address, char *_Nonnull out, size_t capacity);
struct belfry_socket belfry_listen(struct belfry_address address, int backlog);
struct belfry_socket belfry_accept(int listener);
int belfry_connect(struct belfry_address address);
int belfry_connect_outcome(int descriptor);
int belfry_shutdown_writing(int descriptor);
/// The address of a socket's own end.
struct belfry_socket belfry_own_address(int descriptor);
/// A door to what the kernel knows of sockets (sock_diag(7)): what is sent there is answered at once.
int belfry_diagnosis_open(void);
/// The effective user of the process.
uint32_t belfry_own_user(void);
ssize_t belfry_receive(int descriptor, void *_Nonnull bytes, size_t count);
ssize_t belfry_send(int descriptor, const void *_Nonnull bytes, size_t count);
ssize_t belfry_send_vectors(int descriptor, struct iovec *_Nonnull vectors, size_t count);

int belfry_epoll_create(void);
int belfry_epoll_add(int epoll, int descriptor, uint64_t token, uint32_t events);
int belfry_epoll_modify(int epoll, int descriptor, uint64_t token, uint32_t events);
int belfry_epoll_wait(
    int epoll, struct belfry_ready *_Nonnull out, int capacity, int64_t timeout_nanoseconds);

int belfry_event_create(void);
int belfry_event_signal(int descriptor);
int belfry_event_clear(int descriptor);

int belfry_signal_create(uint64_t mask);
int belfry_signal_next(int descriptor);
/// Starts a thread that no signal interrupts: whoever waits for signals is another one.
///
/// The outcome is 0 or an error number.
int belfry_thread_create(
    pthread_t *_Nonnull thread, void *_Nullable (*_Nonnull body)(void *_Nullable),
    void *_Nullable context);
int belfry_ignore_broken_pipe(void);

/// A file without a name, which is gone with its last descriptor.
int belfry_memory_file(void);
/// Goes back to the beginning of a file.
int belfry_rewind(int descriptor);
/// Starts a program in a process group of its own, without blocked signals; its arguments and its environment are texts
/// one behind the other, each with a zero byte.
///
/// The outcome is the number of the process, or a negative errno.
int belfry_child_start(
    const void *_Nonnull arguments, size_t argument_count, const void *_Nonnull environment,
    size_t variable_count, int input, int output, int error);
/// The two ends of a new pipe, or a negative errno in `status`.
struct belfry_pipe {
    int status;
    int reading;
    int writing;
};

struct belfry_pipe belfry_pipe(void);
/// A descriptor that is readable once a child has ended, or a negative errno.
int belfry_child_watch(int child);
/// Waits until one of two descriptors has something to read or is at its end, or a child has ended,
/// which keeps its number until it is reaped; descriptors below 0 are passed over.
///
/// The outcome is the sum of 1 for the first, 2 for the second and 4 for the child, or a negative
/// errno.
int belfry_child_await(int child, int watch, int output, int error);
/// The exit code of a child that has ended; for one that a signal ended 128 and the signal.
int belfry_child_reap(int child);
/// Sends SIGTERM to a child and all that it has started.
int belfry_child_terminate(int child);

/// Device, inode number and size of a file, or a negative errno in `status`.
struct belfry_file {
    int32_t status;
    uint64_t device;
    uint64_t inode;
    int64_t size;
};

struct belfry_process belfry_process_figures(void);

/// Bytes of this process that are in memory, or a negative error number.
int64_t belfry_resident_bytes(void);

int belfry_directory_create(const char *_Nonnull path);
int belfry_directory_open(const char *_Nonnull path);
int belfry_file_open(int directory, const char *_Nonnull name, bool creates);
int belfry_file_lock(int descriptor);
struct belfry_file belfry_file_status(int directory, const char *_Nonnull name);
struct belfry_file belfry_path_status(const char *_Nonnull path);
/// The permissions of a file and its kind (st_mode), or a negative errno.
int belfry_file_mode(const char *_Nonnull path);
ssize_t belfry_file_read(int descriptor, void *_Nonnull bytes, size_t count, int64_t offset);
int belfry_file_write(int descriptor, const void *_Nonnull bytes, size_t count);
int belfry_file_rewrite(int descriptor, const void *_Nonnull bytes, size_t count);
int belfry_file_allocate(int descriptor, int64_t size);
int belfry_file_remove(int directory, const char *_Nonnull name);
int belfry_file_rename(int directory, const char *_Nonnull from, const char *_Nonnull to);
int belfry_file_link(int directory, const char *_Nonnull from, const char *_Nonnull to);
int belfry_file_synchronize(int descriptor);
/// Makes a file that was not there, to be read and written.
int belfry_file_create(int directory, const char *_Nonnull name);
/// Takes the room that a file of this size needs, and leaves its size; where a file system cannot, nothing.
int belfry_file_reserve(int descriptor, int64_t size);
int belfry_file_truncate(int descriptor);
int belfry_duplicate(int descriptor);
/// Opens a file of this size for reading that this user alone may read, or `-EINVAL`.
int belfry_shared_open(const char *_Nonnull path, int64_t size);

/// Makes a file of this size without room for it, for its owner alone, in the place of one that is there.
int belfry_shared_create(const char *_Nonnull path, int64_t size);

/// Takes room for a part of it.
int belfry_shared_reserve(int descriptor, int64_t offset, int64_t size);

/// Maps it; NULL where that is not possible. What is written to a part without room ends the process.
void *_Nullable belfry_shared_map(int descriptor, size_t size);
/// Makes the partial file of one that is to get a path; -EEXIST when there is either.
int belfry_new_file_create(const char *_Nonnull path, const char *_Nonnull partial);
/// Gives a partial file its path, for good.
int belfry_new_file_name(const char *_Nonnull partial, const char *_Nonnull path);
int belfry_new_file_remove(const char *_Nonnull partial);

/// CRC-32C (Castagnoli) without its inversions: of some bytes, and of the eight bytes of a word.
uint32_t belfry_crc32c(uint32_t crc, const void *_Nullable bytes, size_t count);
uint32_t belfry_crc32c_word(uint32_t crc, uint64_t word);

struct belfry_limit belfry_descriptor_limit(void);
struct belfry_limit belfry_raise_descriptor_limit(void);

#endif
