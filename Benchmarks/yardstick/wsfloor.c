/*
 * wsfloor - the least a correct single-threaded hub can do; a yardstick, not a product.
 * GET /sub/TOPIC upgrades and subscribes, POST /pub/TOPIC sends the body as one text message.
 * Two modes: "now": one send() per delivery as soon as the POST is read. "batch": frames of one
 * loop turn are appended to ONE shared buffer per topic and each subscriber gets one send() of that
 * whole buffer at the end of the turn (no per-subscriber copy at all unless the socket is full).
 *   wsfloor PORT now|batch
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
typedef struct conn {
    int fd;
    bool ws, out;
    uint32_t topic, pos;
    char *in;
    uint32_t inl;
    char *bk;
    size_t bkl;
} conn;
typedef struct {
    char name[32];
    conn **s;
    uint32_t n, cap;
    char *b;
    size_t bl, bc;
    bool dirty;
} topic;
static topic *T;
static uint32_t nT, capT, *H, hcap = 1 << 16;
static uint32_t *dirty, nd;
static bool batch;
static int ep;
static void sha1(const uint8_t *d, size_t n, uint8_t out[20]) {
    uint32_t h[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    uint8_t m[128] = {0};
    memcpy(m, d, n);
    m[n] = 0x80;
    m[126] = (uint8_t)(n * 8 >> 8);
    m[127] = (uint8_t)(n * 8);
#define R(x, k) ((x) << (k) | (x) >> (32 - (k)))
    for (int b = 0; b < 128; b += 64) {
        uint32_t w[80];
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)m[b + 4 * i] << 24 | (uint32_t)m[b + 4 * i + 1] << 16 |
                   (uint32_t)m[b + 4 * i + 2] << 8 | m[b + 4 * i + 3];
        for (int i = 16; i < 80; i++) {
            uint32_t x = w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16];
            w[i] = R(x, 1);
        }
        uint32_t A = h[0], B = h[1], C = h[2], D = h[3], E = h[4];
        for (int i = 0; i < 80; i++) {
            uint32_t f = i < 20   ? ((B & C) | (~B & D)) + 0x5A827999
                         : i < 40 ? (B ^ C ^ D) + 0x6ED9EBA1
                         : i < 60 ? ((B & C) | (B & D) | (C & D)) + 0x8F1BBCDC
                                  : (B ^ C ^ D) + 0xCA62C1D6;
            uint32_t t = R(A, 5) + f + E + w[i];
            E = D;
            D = C;
            C = R(B, 30);
            B = A;
            A = t;
        }
        h[0] += A;
        h[1] += B;
        h[2] += C;
        h[3] += D;
        h[4] += E;
    }
    for (int i = 0; i < 20; i++) out[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i & 3)));
}
static uint32_t find(const char *s, size_t n) {
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ (uint8_t)s[i]) * 16777619u;
    for (h &= hcap - 1; H[h]; h = (h + 1) & (hcap - 1)) {
        topic *t = &T[H[h] - 1];
        if (!memcmp(t->name, s, n) && !t->name[n]) return H[h] - 1;
    }
    if (nT == capT) {
        capT = capT ? capT * 2 : 64;
        T = realloc(T, capT * sizeof *T);
        dirty = realloc(dirty, capT * sizeof *dirty);
    }
    memset(&T[nT], 0, sizeof *T);
    memcpy(T[nT].name, s, n);
    H[h] = ++nT;
    return nT - 1;
}
static void want(conn *c, bool o) {
    if (c->out == o) return;
    c->out = o;
    struct epoll_event e = {.events = EPOLLIN | (o ? EPOLLOUT : 0), .data.ptr = c};
    epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &e);
}
static void put(conn *c, const char *b, size_t n) {
    if (!c->bkl) {
        ssize_t k = send(c->fd, b, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (k == (ssize_t)n) return;
        if (k > 0) {
            b += k;
            n -= (size_t)k;
        }
    }
    c->bk = realloc(c->bk, c->bkl + n);
    memcpy(c->bk + c->bkl, b, n);
    c->bkl += n;
    want(c, true);
}
static void drain(conn *c) {
    ssize_t k = send(c->fd, c->bk, c->bkl, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (k <= 0) return;
    c->bkl -= (size_t)k;
    memmove(c->bk, c->bk + k, c->bkl);
    if (!c->bkl) {
        free(c->bk);
        c->bk = NULL;
        want(c, false);
    }
}
static void publish(uint32_t ti, const char *b, size_t n) {
    topic *t = &T[ti];
    uint8_t h[10] = {0x81};
    size_t hl = 2;
    if (n < 126)
        h[1] = (uint8_t)n;
    else if (n < 65536) {
        h[1] = 126;
        h[2] = (uint8_t)(n >> 8);
        h[3] = (uint8_t)n;
        hl = 4;
    } else {
        h[1] = 127;
        for (int i = 0; i < 8; i++) h[2 + i] = (uint8_t)((uint64_t)n >> (56 - 8 * i));
        hl = 10;
    }
    if (!t->n) return;
    if (t->bl + n + hl > t->bc) {
        t->bc = (t->bl + n + hl) * 2;
        t->b = realloc(t->b, t->bc);
    }
    memcpy(t->b + t->bl, h, hl);
    memcpy(t->b + t->bl + hl, b, n);
    t->bl += hl + n;
    if (batch) {
        if (!t->dirty) {
            t->dirty = true;
            dirty[nd++] = ti;
        }
    } else {
        for (uint32_t i = 0; i < t->n; i++) put(t->s[i], t->b, t->bl);
        t->bl = 0;
    }
}
static void turn(void) {
    for (uint32_t d = 0; d < nd; d++) {
        topic *t = &T[dirty[d]];
        for (uint32_t i = 0; i < t->n; i++) put(t->s[i], t->b, t->bl);
        t->bl = 0;
        t->dirty = false;
    }
    nd = 0;
}
static void end(conn *c) {
    if (c->ws) {
        topic *t = &T[c->topic];
        t->s[c->pos] = t->s[--t->n];
        t->s[c->pos]->pos = c->pos;
    }
    close(c->fd);
    free(c->in);
    free(c->bk);
    free(c);
}
static char RB[1 << 19], OB[1 << 18];
static void readable(conn *c) {
    if (c->inl) memcpy(RB, c->in, c->inl);
    ssize_t k = recv(c->fd, RB + c->inl, sizeof RB - c->inl - 1, MSG_DONTWAIT);
    if (k < 0 && errno == EAGAIN) return;
    if (k <= 0) {
        end(c);
        return;
    }
    if (c->ws) return; /* this yardstick ignores what subscribers say */
    size_t n = c->inl + (size_t)k, u = 0, ol = 0;
    RB[n] = 0;
    while (u < n) {
        char *s = RB + u, *h = memmem(s, n - u, "\r\n\r\n", 4);
        if (!h) break;
        if (!strncmp(s, "POST /pub/", 10)) {
            char *cl = strcasestr(s, "content-length:");
            size_t bl = cl && cl < h ? strtoul(cl + 15, NULL, 10) : 0;
            if ((size_t)(RB + n - (h + 4)) < bl) break;
            char *e = memchr(s + 10, ' ', 64);
            publish(find(s + 10, (size_t)(e - s - 10)), h + 4, bl);
            u = (size_t)(h + 4 - RB) + bl;
            static const char ok[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
            memcpy(OB + ol, ok, sizeof ok - 1);
            ol += sizeof ok - 1;
        } else {
            char *q = strcasestr(s, "sec-websocket-key:"), cat[64];
            if (!q || strncmp(s, "GET /sub/", 9)) {
                end(c);
                return;
            }
            q += 18;
            while (*q == ' ') q++;
            memcpy(cat, q, 24);
            memcpy(cat + 24, "258EAFA5-E914-47DA-95CA-C5AB0DC85B11", 36);
            uint8_t g[21] = {0};
            sha1((uint8_t *)cat, 60, g);
            char a[29];
            static const char B[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            for (int i = 0; i < 7; i++) {
                uint32_t v = (uint32_t)g[3 * i] << 16 | (uint32_t)g[3 * i + 1] << 8 | g[3 * i + 2];
                a[4 * i] = B[v >> 18];
                a[4 * i + 1] = B[v >> 12 & 63];
                a[4 * i + 2] = B[v >> 6 & 63];
                a[4 * i + 3] = B[v & 63];
            }
            a[27] = '=';
            a[28] = 0;
            char *e = memchr(s + 9, ' ', 64);
            uint32_t ti = find(s + 9, (size_t)(e - s - 9));
            topic *t = &T[ti];
            if (t->n == t->cap) {
                t->cap = t->cap ? t->cap * 2 : 4;
                t->s = realloc(t->s, t->cap * sizeof *t->s);
            }
            c->topic = ti;
            c->pos = t->n;
            t->s[t->n++] = c;
            c->ws = true;
            ol += (size_t)sprintf(
                OB + ol,
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: "
                "Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n",
                a);
            u = n;
        }
        if (ol > sizeof OB - 4096) {
            put(c, OB, ol);
            ol = 0;
        }
    }
    if (ol) put(c, OB, ol);
    c->inl = (uint32_t)(n - u);
    if (c->inl) {
        c->in = realloc(c->in, c->inl);
        memcpy(c->in, RB + u, c->inl);
    } else {
        free(c->in);
        c->in = NULL;
    }
}
int main(int ac, char **av) {
    if (ac < 3) return 1;
    batch = !strcmp(av[2], "batch");
    struct rlimit rl;
    getrlimit(RLIMIT_NOFILE, &rl);
    rl.rlim_cur = rl.rlim_max;
    setrlimit(RLIMIT_NOFILE, &rl);
    H = calloc(hcap, sizeof *H);
    int l = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), one = 1;
    setsockopt(l, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(av[1]))};
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(l, (void *)&a, sizeof a) || listen(l, 4096)) {
        perror("listen");
        return 1;
    }
    ep = epoll_create1(0);
    struct epoll_event e = {.events = EPOLLIN}, ev[1024];
    epoll_ctl(ep, EPOLL_CTL_ADD, l, &e);
    for (;;) {
        int n = epoll_wait(ep, ev, 1024, -1);
        for (int i = 0; i < n; i++) {
            conn *c = ev[i].data.ptr;
            if (!c) {
                int f;
                while ((f = accept4(l, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
                    setsockopt(f, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
                    c = calloc(1, sizeof *c);
                    c->fd = f;
                    struct epoll_event q = {.events = EPOLLIN, .data.ptr = c};
                    epoll_ctl(ep, EPOLL_CTL_ADD, f, &q);
                }
                continue;
            }
            if (ev[i].events & EPOLLOUT && c->bkl) drain(c);
            if (ev[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) readable(c);
        }
        turn();
    }
}
