/*
 * sendcost - what the kernel charges for one delivery on loopback TCP.
 * The sender opens S connections to itself; a drain thread on another core reads
 * and throws away. For every round the sender writes the same B-frame block to
 * each of the S sockets with send(), or writev() (header and payload apart), or
 * io_uring linked batches when built with -DWITH_URING. Prints CPU time of the
 * sending thread per frame: no broker can beat these numbers with the same
 * number of system calls.
 *   sendcost [-s sockets] [-b bytes] [-f frames per send] [-m send|writev|uring] [-t seconds] [-c
 * sender cpu] [-d drain cpu]
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_URING
#include <liburing.h>
#endif
static int S = 1000, B = 102, F = 1, CS = 0, CD = 1;
static double T = 2;
static const char *M = "send";
static int *rd;
static volatile int stop_;
static double drain_cpu;
static double cpu(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static double wall(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static void pin(int c) {
    cpu_set_t s;
    CPU_ZERO(&s);
    CPU_SET(c, &s);
    sched_setaffinity(0, sizeof s, &s);
}
static void *drain(void *a) {
    (void)a;
    if (CD >= 0) pin(CD);
    int ep = epoll_create1(0);
    static char buf[1 << 18];
    static struct epoll_event ev[512];
    for (int i = 0; i < S; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.fd = rd[i]};
        epoll_ctl(ep, EPOLL_CTL_ADD, rd[i], &e);
    }
    double c0 = cpu();
    while (!stop_) {
        int n = epoll_wait(ep, ev, 512, 50);
        for (int i = 0; i < n; i++)
            if (recv(ev[i].data.fd, buf, sizeof buf, MSG_DONTWAIT) < 0 && errno != EAGAIN)
                return NULL;
    }
    drain_cpu = cpu() - c0;
    return NULL;
}
int main(int ac, char **av) {
    for (int o; (o = getopt(ac, av, "s:b:f:m:t:c:d:")) != -1;) switch (o) {
        case 's':
            S = atoi(optarg);
            break;
        case 'b':
            B = atoi(optarg);
            break;
        case 'f':
            F = atoi(optarg);
            break;
        case 'm':
            M = optarg;
            break;
        case 't':
            T = atof(optarg);
            break;
        case 'c':
            CS = atoi(optarg);
            break;
        case 'd':
            CD = atoi(optarg);
            break;
        default:
            return 1;
        }
    struct rlimit rl;
    getrlimit(RLIMIT_NOFILE, &rl);
    rl.rlim_cur = rl.rlim_max;
    setrlimit(RLIMIT_NOFILE, &rl);
    int l = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    struct sockaddr_in a = {.sin_family = AF_INET};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t al = sizeof a;
    if (bind(l, (void *)&a, sizeof a) || listen(l, 1024) || getsockname(l, (void *)&a, &al)) {
        perror("listen");
        return 1;
    }
    int *wr = calloc((size_t)S, sizeof *wr);
    rd = calloc((size_t)S, sizeof *rd);
    for (int i = 0; i < S; i++) {
        rd[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (rd[i] < 0 || connect(rd[i], (void *)&a, sizeof a)) {
            perror("connect");
            return 1;
        }
        wr[i] = accept(l, NULL, NULL);
        setsockopt(wr[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    }
    char *blk = malloc((size_t)B * (size_t)F);
    memset(blk, 'x', (size_t)B * (size_t)F);
    pthread_t th;
    pthread_create(&th, NULL, drain, NULL);
    if (CS >= 0) pin(CS);
    usleep(100000);
    uint64_t frames = 0, calls = 0, again = 0;
    size_t len = (size_t)B * (size_t)F;
    int mode = !strcmp(M, "writev") ? 1 : !strcmp(M, "uring") ? 2 : 0;
#ifdef WITH_URING
    struct io_uring ring;
    if (mode == 2 && io_uring_queue_init(4096, &ring, 0)) {
        perror("io_uring");
        return 1;
    }
#else
    if (mode == 2) {
        fprintf(stderr, "built without io_uring\n");
        return 1;
    }
#endif
    double w0 = wall(), c0 = cpu();
    while (wall() - w0 < T) {
#ifdef WITH_URING
        if (mode == 2) {
            int q = 0;
            for (int i = 0; i < S; i++) {
                struct io_uring_sqe *e = io_uring_get_sqe(&ring);
                io_uring_prep_send(e, wr[i], blk, len, MSG_NOSIGNAL | MSG_DONTWAIT);
                e->user_data = (uint64_t)i;
                q++;
                if (q == 1024 || i == S - 1) {
                    io_uring_submit_and_wait(&ring, (unsigned)q);
                    calls++;
                    struct io_uring_cqe *c;
                    unsigned head, n = 0;
                    io_uring_for_each_cqe(&ring, head, c) {
                        n++;
                        if (c->res == (int)len)
                            frames += (uint64_t)F;
                        else
                            again++;
                    }
                    io_uring_cq_advance(&ring, n);
                    q = 0;
                }
            }
            continue;
        }
#endif
        for (int i = 0; i < S; i++) {
            ssize_t k;
            if (mode == 1) {
                struct iovec v[2] = {{blk, len > 4 ? 4 : 1}, {blk + 4, len - 4}};
                k = writev(wr[i], v, 2);
            } else
                k = send(wr[i], blk, len, MSG_NOSIGNAL | MSG_DONTWAIT);
            calls++;
            if (k == (ssize_t)len)
                frames += (uint64_t)F;
            else if (k < 0 && errno == EAGAIN) {
                again++;
            } else if (k < 0) {
                perror("send");
                return 1;
            } else {
                size_t off = (size_t)k;
                while (off < len) {
                    k = send(wr[i], blk + off, len - off, MSG_NOSIGNAL);
                    if (k < 0) {
                        perror("send");
                        return 1;
                    }
                    off += (size_t)k;
                }
                frames += (uint64_t)F;
            }
        }
    }
    double w = wall() - w0, c = cpu() - c0;
    stop_ = 1;
    pthread_join(th, NULL);
    printf("%-6s sockets %5d frame %6d B x %3d/send: %.3f us CPU per frame, %.3f us per call, %.0f "
           "frames/s, sender %.2f cores, drain %.2f cores, blocked %llu\n",
           M, S, B, F, c * 1e6 / (double)frames, c * 1e6 / (double)calls, (double)frames / w, c / w,
           drain_cpu / w, (unsigned long long)again);
    return 0;
}
