/*
 * wsload - peer-neutral load generator for HTTP->WebSocket fan-out brokers.
 *
 * One file, one thread, epoll; libc, zlib for --deflate, OpenSSL for --tls.
 * IPv4 loopback only, on purpose.
 *
 * What it does: opens S subscribers on N channels and P publishers, publishes
 * either as fast as the window allows (closed loop) or at a fixed rate (open
 * loop, latency counted from the INTENDED send time, so a stalled server cannot
 * hide its stall), and checks every single delivery: right channel, payload
 * intact to the last byte, per (channel, publisher) sequence without loss,
 * duplication or reordering.
 *
 * Payload (ASCII, JSON-safe, exactly --size bytes):
 *   "~wl" chan:8hex pub:4hex seq:8hex sent_ns:16hex "~" pad...
 * A delivery is found by scanning for "~wl" in the unframed bytes, so an
 * envelope around the payload (JSON, RESP bulk) needs no
 * parser of its own, and several payloads may share one WebSocket message.
 *
 * --state: the posts are states of one thing, of which some may be left out.
 * No value may go back behind an earlier one of its publisher, and each
 * subscriber's last one must be the last that the server accepted.
 * --ping-rate R: a client in a process of its own, with the priority of a
 * real-time task where that is allowed, sends R WebSocket pings a second.
 *
 * Protocols:  subscriber: ws resp    publisher: http ws resp none
 * Exit status: 0 clean, 1 usage/setup failure, 2 finished but with losses,
 * misorder, corruption, protocol errors or dead connections.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>
#ifndef IP_BIND_ADDRESS_NO_PORT
#define IP_BIND_ADDRESS_NO_PORT 24
#endif

/* ---------------------------------------------------------------- options */
enum { PR_NONE, PR_HTTP, PR_WS, PR_RESP };
typedef struct {
    int proto;
    bool ws;
} wire_t;

static struct {
    const char *label, *host;
    int port, pub_port;
    wire_t sub, pub;
    const char *sub_path, *sub_msg, *sub_proto_hdr, *pub_path, *pub_body, *pub_method, *ctype;
    const char *tls; /* the authority that must have issued the server's certificate */
    const char *hdr[16];
    int nhdr;
    uint32_t subs, chans, pubs, depth, size, window, inflight, nsrc, sub_acks;
    double rate, duration, warmup, drain, hold, ping_rate;
    int settle_ms;
    bool idle_mode, state_mode, deflate, pad_rand, pub_ack, random_chan;
    int pids[64], npids;
} o = {
    .label = "",
    .host = "127.0.0.1",
    .port = 9001,
    .sub = {PR_WS, true},
    .pub = {PR_HTTP, false},
    .sub_path = "/sub/ch%c",
    .pub_path = "/pub/ch%c",
    .pub_body = "%p",
    .pub_method = "POST",
    .ctype = "text/plain",
    .subs = 1,
    .chans = 1,
    .pubs = 1,
    .depth = 1,
    .size = 100,
    .window = 64,
    .inflight = 256,
    .nsrc = 1,
    .duration = 3,
    .warmup = 0.5,
    .drain = 5,
    .hold = 1,
    .settle_ms = 300,
    .pub_ack = true,
    .random_chan = true,
};

static void die(const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "wsload: ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    va_end(ap);
    exit(1);
}
static inline uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}
static void *xrealloc(void *p, size_t n) {
    p = realloc(p, n);
    if (!p && n) die("out of memory");
    return p;
}
static void *xcalloc(size_t n, size_t s) {
    void *p = calloc(n, s);
    if (!p) die("out of memory");
    return p;
}
static uint64_t rng_s = 0x9E3779B97F4A7C15ull;
static inline uint64_t rng(void) {
    rng_s ^= rng_s << 13;
    rng_s ^= rng_s >> 7;
    rng_s ^= rng_s << 17;
    return rng_s;
}

/* ------------------------------------------------- HDR-style log histogram */
#define HB 7 /* 128 sub-buckets a power of two: <0.8 % error */
#define HN ((64 - HB + 1) << HB)
typedef struct {
    uint64_t n[HN], count, max, min;
    double sum;
} hist_t;
static hist_t h_e2e, h_ack, h_ping;
static inline uint32_t hidx(uint64_t v) {
    if (v < (1u << HB)) return (uint32_t)v;
    int e = 63 - __builtin_clzll(v) - HB;
    return (uint32_t)(((uint32_t)(e + 1) << HB) + (uint32_t)((v >> e) - (1u << HB)));
}
static uint64_t hval(uint32_t i) { /* middle of bucket */
    if (i < (1u << HB)) return i;
    int e = (int)(i >> HB) - 1;
    uint64_t lo = ((uint64_t)(i & ((1u << HB) - 1)) + (1u << HB)) << e;
    return lo + ((1ull << e) >> 1);
}
static inline void hadd(hist_t *h, uint64_t v) {
    h->n[hidx(v)]++;
    h->count++;
    h->sum += (double)v;
    if (v > h->max) h->max = v;
    if (!h->min || v < h->min) h->min = v;
}
static double hpct(const hist_t *h, double p) {
    if (!h->count) return 0;
    uint64_t want = (uint64_t)((double)h->count * p / 100.0 + 0.5), acc = 0;
    if (want < 1) want = 1;
    for (uint32_t i = 0; i < HN; i++)
        if ((acc += h->n[i]) >= want) {
            uint64_t v = hval(i);
            return (double)(v > h->max ? h->max : v) / 1e3;
        }
    return (double)h->max / 1e3;
}

/* ------------------------------------------------------------ SHA-1, base64 */
static void sha1(const uint8_t *d, size_t n, uint8_t out[20]) {
    uint32_t h[5] = {0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0};
    uint8_t buf[256];
    size_t tot = ((n + 8) / 64 + 1) * 64;
    if (tot > sizeof buf) die("sha1 input too long");
    memset(buf, 0, sizeof buf);
    memcpy(buf, d, n);
    buf[n] = 0x80;
    for (int i = 0; i < 8; i++) buf[tot - 1 - i] = (uint8_t)(((uint64_t)n * 8) >> (8 * i));
#define ROL(x, k) (((x) << (k)) | ((x) >> (32 - (k))))
    for (size_t b = 0; b < tot; b += 64) {
        uint32_t w[80];
        for (int i = 0; i < 16; i++)
            w[i] = (uint32_t)buf[b + 4 * i] << 24 | (uint32_t)buf[b + 4 * i + 1] << 16 |
                   (uint32_t)buf[b + 4 * i + 2] << 8 | buf[b + 4 * i + 3];
        for (int i = 16; i < 80; i++) {
            uint32_t x = w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16];
            w[i] = ROL(x, 1);
        }
        uint32_t A = h[0], B = h[1], C = h[2], D = h[3], E = h[4];
        for (int i = 0; i < 80; i++) {
            uint32_t f, k;
            if (i < 20)
                f = (B & C) | (~B & D), k = 0x5A827999;
            else if (i < 40)
                f = B ^ C ^ D, k = 0x6ED9EBA1;
            else if (i < 60)
                f = (B & C) | (B & D) | (C & D), k = 0x8F1BBCDC;
            else
                f = B ^ C ^ D, k = 0xCA62C1D6;
            uint32_t t = ROL(A, 5) + f + E + k + w[i];
            E = D;
            D = C;
            C = ROL(B, 30);
            B = A;
            A = t;
        }
        h[0] += A;
        h[1] += B;
        h[2] += C;
        h[3] += D;
        h[4] += E;
    }
    for (int i = 0; i < 20; i++) out[i] = (uint8_t)(h[i / 4] >> (24 - 8 * (i % 4)));
}
static void b64(const uint8_t *s, size_t n, char *o_) {
    static const char T[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    size_t i;
    for (i = 0; i + 2 < n; i += 3) {
        *o_++ = T[s[i] >> 2];
        *o_++ = T[(s[i] & 3) << 4 | s[i + 1] >> 4];
        *o_++ = T[(s[i + 1] & 15) << 2 | s[i + 2] >> 6];
        *o_++ = T[s[i + 2] & 63];
    }
    if (n - i == 1) {
        *o_++ = T[s[i] >> 2];
        *o_++ = T[(s[i] & 3) << 4];
        *o_++ = '=';
        *o_++ = '=';
    } else if (n - i == 2) {
        *o_++ = T[s[i] >> 2];
        *o_++ = T[(s[i] & 3) << 4 | s[i + 1] >> 4];
        *o_++ = T[(s[i + 1] & 15) << 2];
        *o_++ = '=';
    }
    *o_ = 0;
}

/* ------------------------------------------------------------- growing byte */
typedef struct {
    uint8_t *p;
    size_t n, off, cap;
} buf_t;
static inline void bneed(buf_t *b, size_t k) {
    if (b->n + k <= b->cap) return;
    size_t c = b->cap ? b->cap : 512;
    while (c < b->n + k) c *= 2;
    b->p = xrealloc(b->p, c);
    b->cap = c;
}
static inline void badd(buf_t *b, const void *d, size_t k) {
    bneed(b, k);
    memcpy(b->p + b->n, d, k);
    b->n += k;
}
static inline void badds(buf_t *b, const char *s) {
    badd(b, s, strlen(s));
}
static inline void baddu(buf_t *b, uint64_t v) {
    char t[24];
    int i = 24;
    do {
        t[--i] = (char)('0' + v % 10);
        v /= 10;
    } while (v);
    badd(b, t + i, (size_t)(24 - i));
}

/* templates: %c channel number, %i connection index, %p payload, %s size, %% percent */
static void tmpl(buf_t *b, const char *t, uint32_t ch, uint32_t idx, const uint8_t *pl) {
    for (;;) {
        const char *q = strchrnul(t, '%');
        badd(b, t, (size_t)(q - t));
        if (!*q) return;
        switch (q[1]) {
        case 'c':
            baddu(b, ch);
            break;
        case 'i':
            baddu(b, idx);
            break;
        case 's':
            baddu(b, o.size);
            break;
        case 'p':
            if (pl) badd(b, pl, o.size);
            break;
        case '%':
            badd(b, "%", 1);
            break;
        default:
            badd(b, q, q[1] ? 2 : 1);
        }
        if (!q[1]) return;
        t = q + 2;
    }
}

/* ------------------------------------------------------------- connections */
enum { ST_CONNECT, ST_TLS, ST_UPGRADE, ST_HELLO, ST_READY, ST_DEAD };
enum { K_SUB, K_PUB };
typedef struct conn {
    int fd;
    uint8_t kind, state;
    bool ws, want_out, frag_rsv, frag;
    uint32_t idx, chan, hello_left;
    int proto;
    char key[28];
    buf_t res;   /* undigested socket bytes                     */
    buf_t carry; /* the fragments of a message so far           */
    buf_t out;
    uint32_t *expect; /* subscriber: next sequence number, per publisher */
    /* publisher */
    uint32_t *seq; /* next sequence number, per channel           */
    uint32_t outstanding, ring_head;
    uint64_t *ring;
    uint64_t sent_at, acked_at; /* its last publish and the last answer to one */
    /* subscriber in state mode: the value it got last */
    uint32_t last_pub, last_seq;
    bool has_last;
    SSL *ssl;
} conn;

static int ep = -1, tfd = -1;
static conn *subs, *pubs;
static uint8_t *pad;
static struct sockaddr_in dst_sub, dst_pub;
static uint64_t t_measure_from, t_measure_to;
static bool measuring, publishing;

static struct {
    uint64_t ready, failed, dead;
    uint64_t published, acked, bad_status, delivered, bytes_in, recvs, frames, other_frames;
    uint64_t lost, doubled, misorder, skipped, corrupt, wrongchan, proto_err, pings,
        outstanding_deliv;
    uint64_t deflated_frames, deflated_bytes;
    int first_bad_status;
} g;
static uint64_t *chan_subs; /* subscribers per channel */
static SSL_CTX *tls;
/* The ping client: when its first ping was due, and how many were sent and answered. */
static uint64_t ping_start, pings_sent, pings_answered;

static void complain(const char *fmt, ...) {
    static int left = 12;
    if (left-- <= 0) return;
    va_list ap;
    va_start(ap, fmt);
    fprintf(stderr, "wsload: ");
    vfprintf(stderr, fmt, ap);
    fprintf(stderr, "\n");
    va_end(ap);
}
static void arm(conn *c, bool out) {
    if (c->want_out == out) return;
    struct epoll_event e = {.events = EPOLLIN | (out ? EPOLLOUT : 0), .data.ptr = c};
    epoll_ctl(ep, EPOLL_CTL_MOD, c->fd, &e);
    c->want_out = out;
}
static void kill_conn(conn *c, const char *why) {
    if (c->state == ST_DEAD) return;
    if (c->state == ST_READY)
        g.dead++;
    else
        g.failed++;
    complain("%s %u lost in state %d: %s", c->kind == K_SUB ? "subscriber" : "publisher", c->idx,
             c->state, why);
    c->state = ST_DEAD;
    SSL_free(c->ssl);
    c->ssl = NULL;
    close(c->fd);
    c->fd = -1;
}
/* What recv() and send() tell, for a TLS connection that gave `result`. */
static ssize_t tls_outcome(conn *c, int result) {
    int e = SSL_get_error(c->ssl, result);
    if (e == SSL_ERROR_ZERO_RETURN) return 0;
    if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE)
        errno = EAGAIN;
    else if (e != SSL_ERROR_SYSCALL || !errno)
        errno = EPROTO;
    return -1;
}
static ssize_t transport_recv(conn *c, uint8_t *p, size_t n) {
    if (!c->ssl) return recv(c->fd, p, n, MSG_DONTWAIT);
    size_t k = 0;
    ERR_clear_error();
    int result = SSL_read_ex(c->ssl, p, n, &k);
    return result > 0 ? (ssize_t)k : tls_outcome(c, result);
}
static ssize_t transport_send(conn *c, const uint8_t *p, size_t n) {
    if (!c->ssl) return send(c->fd, p, n, MSG_NOSIGNAL | MSG_DONTWAIT);
    size_t k = 0;
    ERR_clear_error();
    int result = SSL_write_ex(c->ssl, p, n, &k);
    return result > 0 ? (ssize_t)k : tls_outcome(c, result);
}
static void flush_out(conn *c) {
    while (c->out.off < c->out.n) {
        ssize_t k = transport_send(c, c->out.p + c->out.off, c->out.n - c->out.off);
        if (k < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN) {
                arm(c, true);
                return;
            }
            kill_conn(c, strerror(errno));
            return;
        }
        c->out.off += (size_t)k;
    }
    c->out.n = c->out.off = 0;
    arm(c, false);
}
/* append one masked client frame */
static void ws_frame(buf_t *b, int op, const uint8_t *d, size_t n) {
    bneed(b, n + 14);
    uint8_t *p = b->p + b->n;
    size_t h = 2;
    p[0] = (uint8_t)(0x80 | op);
    if (n < 126)
        p[1] = (uint8_t)(0x80 | n);
    else if (n < 65536) {
        p[1] = 0x80 | 126;
        p[2] = (uint8_t)(n >> 8);
        p[3] = (uint8_t)n;
        h = 4;
    } else {
        p[1] = 0x80 | 127;
        for (int i = 0; i < 8; i++) p[2 + i] = (uint8_t)((uint64_t)n >> (56 - 8 * i));
        h = 10;
    }
    uint32_t m = (uint32_t)rng();
    memcpy(p + h, &m, 4);
    uint64_t m8 = (uint64_t)m << 32 | m;
    uint8_t *q = p + h + 4;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t v;
        memcpy(&v, d + i, 8);
        v ^= m8;
        memcpy(q + i, &v, 8);
    }
    for (; i < n; i++) q[i] = d[i] ^ ((uint8_t *)&m)[i & 3];
    b->n += h + 4 + n;
}
static void send_app(conn *c, const buf_t *b, int op) {
    if (c->ws)
        ws_frame(&c->out, op, b->p, b->n);
    else
        badd(&c->out, b->p, b->n);
}

/* ------------------------------------------------------------- deliveries */
static const int8_t HX[256] = {
    ['0'] = 1, ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9, ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16};
static inline bool unhex(const uint8_t *p, int n, uint64_t *v) {
    uint64_t x = 0;
    int bad = 0;
    for (int i = 0; i < n; i++) {
        int d = HX[p[i]] - 1;
        bad |= d;
        x = x << 4 | (uint64_t)(d & 15);
    }
    *v = x;
    return bad >= 0;
}
static inline void tohex(uint8_t *p, int n, uint64_t v) {
    for (int i = n - 1; i >= 0; i--, v >>= 4) p[i] = (uint8_t) "0123456789abcdef"[v & 15];
}

static void deliver(conn *c, const uint8_t *p, uint64_t now) {
    uint64_t ch, pb, sq, ts;
    if (!unhex(p + 3, 8, &ch) || !unhex(p + 11, 4, &pb) || !unhex(p + 15, 8, &sq) ||
        !unhex(p + 23, 16, &ts) || p[39] != '~' || pb >= o.pubs ||
        memcmp(p + 40, pad + 40, o.size - 40)) {
        g.corrupt++;
        complain("corrupt payload at subscriber %u", c->idx);
        return;
    }
    if (ch != c->chan) {
        g.wrongchan++;
        complain("subscriber %u of channel %u got channel %u", c->idx, c->chan, (unsigned)ch);
        return;
    }
    uint32_t ex = c->expect[pb];
    if (sq < ex) {
        if (sq + 1 == ex)
            g.doubled++;
        else
            g.misorder++;
        complain("subscriber %u: got %u again or late (expected %u)", c->idx, (unsigned)sq, ex);
        return;
    }
    c->expect[pb] = (uint32_t)sq + 1;
    if (o.state_mode) {
        g.skipped += sq - ex;
        c->last_pub = (uint32_t)pb;
        c->last_seq = (uint32_t)sq;
        c->has_last = true;
    } else {
        if (sq > ex) {
            g.lost += sq - ex;
            g.outstanding_deliv -= sq - ex;
            complain("subscriber %u: gap %u..%u", c->idx, ex, (unsigned)sq - 1);
        }
        g.outstanding_deliv--;
    }
    g.delivered++;
    if (measuring && ts >= t_measure_from && ts < t_measure_to)
        hadd(&h_e2e, now > ts ? now - ts : 0);
}
/* scan bytes for payloads; returns how many bytes are digested (stream mode keeps the rest) */
static size_t scan(conn *c, const uint8_t *p, size_t n, uint64_t now, bool whole) {
    const uint8_t *s = p, *e = p + n;
    while (s < e) {
        const uint8_t *m = memchr(s, '~', (size_t)(e - s));
        if (!m) return n;
        if (e - m < 3) return whole ? n : (size_t)(m - p);
        if (m[1] != 'w' || m[2] != 'l') {
            s = m + 1;
            continue;
        }
        if ((size_t)(e - m) < o.size) {
            if (whole) {
                g.corrupt++;
                complain("payload cut short at subscriber %u", c->idx);
                return n;
            }
            return (size_t)(m - p);
        }
        deliver(c, m, now);
        s = m + o.size;
    }
    return n;
}

/* --------------------------------------------------------- protocol hellos */
static void conn_ready(conn *c) {
    if (c->state != ST_READY) {
        c->state = ST_READY;
        g.ready++;
    }
}
static void start_app(conn *c) { /* transport is up: speak the protocol's hello */
    static buf_t b;
    b.n = 0;
    char nm[64];
    c->state = ST_HELLO;
    c->hello_left = 0;
    switch (c->proto) {
    case PR_HTTP:
        break;
    case PR_WS:
        if (c->kind == K_SUB && o.sub_msg) {
            tmpl(&b, o.sub_msg, c->chan, c->idx, NULL);
            send_app(c, &b, 1);
            c->hello_left = o.sub_acks;
        } else if (c->kind == K_SUB)
            c->hello_left = o.sub_acks;
        break;
    case PR_RESP:
        if (c->kind == K_SUB) {
            snprintf(nm, sizeof nm, "ch%u", c->chan);
            char r[160];
            snprintf(r, sizeof r, "*2\r\n$9\r\nSUBSCRIBE\r\n$%zu\r\n%s\r\n", strlen(nm), nm);
            badds(&b, r);
            send_app(c, &b, 2);
            c->hello_left = 1;
        }
        break;
    }
    if (c->out.n) flush_out(c);
    if (c->state != ST_DEAD && !c->hello_left) conn_ready(c);
}

/* ------------------------------------------------------------ publishers */
static void ack(conn *c, uint32_t k, uint64_t now) {
    for (; k && c->outstanding; k--) {
        uint64_t ts = c->ring[(c->ring_head + o.depth - c->outstanding) % o.depth];
        c->acked_at = now;
        c->outstanding--;
        g.acked++;
        if (measuring && ts >= t_measure_from && ts < t_measure_to)
            hadd(&h_ack, now > ts ? now - ts : 0);
    }
    if (k) {
        g.proto_err++;
        complain("publisher %u: more answers than requests", c->idx);
    }
}
static size_t http_answers(conn *c, const uint8_t *p, size_t n, uint64_t now) {
    size_t used = 0;
    while (used < n) {
        const uint8_t *s = p + used, *e = p + n, *h = memmem(s, (size_t)(e - s), "\r\n\r\n", 4);
        if (!h) break;
        if (h - s < 12 || memcmp(s, "HTTP/1.", 7)) {
            g.proto_err++;
            kill_conn(c, "not an HTTP answer");
            return n;
        }
        int st = atoi((const char *)s + 9);
        long cl = -1;
        bool chunked = false, close_it = false;
        for (const uint8_t *l = memchr(s, '\n', (size_t)(h + 2 - s)); l && l < h;
             l = memchr(l, '\n', (size_t)(h + 2 - l))) {
            l++;
            if (!strncasecmp((const char *)l, "content-length:", 15))
                cl = atol((const char *)l + 15);
            else if (!strncasecmp((const char *)l, "transfer-encoding:", 18))
                chunked = true;
            else if (!strncasecmp((const char *)l, "connection:", 11)) {
                const uint8_t *v = l + 11;
                while (*v == ' ') v++;
                close_it = !strncasecmp((const char *)v, "close", 5);
            }
        }
        const uint8_t *b = h + 4;
        if (st >= 100 && st < 200) {
            used = (size_t)(b - p);
            continue;
        }
        if (st == 204 || st == 304) cl = 0;
        if (chunked) {
            bool done = false;
            while (b < e) {
                const uint8_t *nl = memmem(b, (size_t)(e - b), "\r\n", 2);
                if (!nl) break;
                long k = strtol((const char *)b, NULL, 16);
                if ((size_t)(e - nl) < (size_t)k + 4) break;
                b = nl + 2 + k + 2;
                if (k == 0) {
                    done = true;
                    break;
                }
            }
            if (!done) break;
        } else {
            if (cl < 0) {
                g.proto_err++;
                kill_conn(c, "answer without a length");
                return n;
            }
            if (e - b < cl) break;
            b += cl;
        }
        if (st < 200 || st > 299) {
            g.bad_status++;
            if (!g.first_bad_status) g.first_bad_status = st;
            complain("publisher %u: status %d", c->idx, st);
        }
        used = (size_t)(b - p);
        ack(c, 1, now);
        if (close_it) {
            kill_conn(c, "server asked to close");
            return n;
        }
    }
    return used;
}
static uint8_t *payload;
static buf_t tb;
static void publish_one(conn *c, uint64_t ts) {
    uint32_t ch = o.chans == 1    ? 0
                  : o.random_chan ? (uint32_t)(rng() % o.chans)
                                  : (uint32_t)(g.published % o.chans);
    tohex(payload + 3, 8, ch);
    tohex(payload + 11, 4, c->idx);
    tohex(payload + 15, 8, c->seq[ch]++);
    tohex(payload + 23, 16, ts);
    buf_t *out = &c->out;
    char nm[96];
    tb.n = 0;
    switch (c->proto) {
    case PR_HTTP: {
        badds(out, o.pub_method);
        badd(out, " ", 1);
        tmpl(out, o.pub_path, ch, c->idx, NULL);
        badds(out, " HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ");
        badds(out, o.ctype);
        badds(out, "\r\n");
        for (int i = 0; i < o.nhdr; i++) {
            badds(out, o.hdr[i]);
            badd(out, "\r\n", 2);
        }
        tmpl(&tb, o.pub_body, ch, c->idx, payload);
        badds(out, "Content-Length: ");
        baddu(out, tb.n);
        badd(out, "\r\n\r\n", 4);
        badd(out, tb.p, tb.n);
        break;
    }
    case PR_WS:
        tmpl(&tb, o.pub_body, ch, c->idx, payload);
        send_app(c, &tb, 1);
        break;
    case PR_RESP: {
        char r[160];
        snprintf(nm, sizeof nm, "ch%u", ch);
        snprintf(r, sizeof r, "*3\r\n$7\r\nPUBLISH\r\n$%zu\r\n%s\r\n$%u\r\n", strlen(nm), nm,
                 o.size);
        badds(&tb, r);
        badd(&tb, payload, o.size);
        badd(&tb, "\r\n", 2);
        send_app(c, &tb, 2);
        break;
    }
    }
    g.published++;
    if (!o.state_mode) g.outstanding_deliv += chan_subs[ch];
    c->sent_at = ts;
    if (o.pub_ack) {
        c->ring[c->ring_head] = ts;
        c->ring_head = (c->ring_head + 1) % o.depth;
        c->outstanding++;
    }
}
static uint64_t rate_t0, rate_i;
static double max_outstanding; /* in deliveries */
static bool window_full;
static void pump(uint64_t now) {
    if (!publishing) return;
    /* Hysteresis: once full, the window reopens when half of it is delivered. Without it the number
       of messages a server finds waiting (so how well it can batch) would be chance, not a property
       of the test. */
    if (window_full && (double)g.outstanding_deliv <= (o.window > 1 ? max_outstanding / 2 : 0))
        window_full = false;
    static uint32_t rr;
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t k = 0; k < o.pubs; k++) {
            conn *c = &pubs[(rr + k) % o.pubs];
            if (c->state != ST_READY || (o.pub_ack && c->outstanding >= o.depth) ||
                c->out.n - c->out.off > (1u << 20))
                continue;
            if (o.rate > 0) {
                uint64_t due = rate_t0 + (uint64_t)((double)rate_i * 1e9 / o.rate);
                if (due > now) {
                    rr = (rr + k) % o.pubs;
                    goto send;
                }
                rate_i++;
                publish_one(c, due);
            } else {
                if (window_full) {
                    rr = (rr + k) % o.pubs;
                    goto send;
                }
                if (!o.pub_ack && max_outstanding <= 0) goto send;
                publish_one(c, now_ns());
                if (g.outstanding_deliv && (double)g.outstanding_deliv >= max_outstanding)
                    window_full = true;
            }
            more = true;
        }
    }
send:
    for (uint32_t k = 0; k < o.pubs; k++)
        if (pubs[k].state == ST_READY && pubs[k].out.n > pubs[k].out.off && !pubs[k].want_out)
            flush_out(&pubs[k]);
}

/* ----------------------------------------------------- bytes of the protocol */
/* stream protocols inside or without WebSocket; returns the bytes digested */
static size_t app_stream(conn *c, const uint8_t *p, size_t n, uint64_t now) {
    if (c->proto == PR_HTTP) return http_answers(c, p, n, now);
    if (c->state == ST_HELLO) {
        if (c->proto == PR_RESP) {
            uint8_t *q = memmem(p, n, ":1\r\n", 4);
            if (!q) return 0;
            conn_ready(c);
            size_t k = (size_t)(q + 4 - p);
            return k + app_stream(c, p + k, n - k, now);
        }
    }
    if (c->kind == K_SUB) return scan(c, p, n, now, false);
    uint32_t k = 0;
    size_t used = 0;
    while (used < n) {
        const uint8_t *nl = memchr(p + used, '\n', n - used);
        if (!nl) break;
        if (p[used] == '+' || p[used] == ':')
            k++;
        else if (p[used] == '-') {
            g.bad_status++;
            k++;
            complain("publisher %u: %.40s", c->idx, p + used);
        }
        used = (size_t)(nl + 1 - p);
    }
    if (k && o.pub_ack) ack(c, k, now);
    return used;
}
static void app_message(conn *c, const uint8_t *p, size_t n,
                        uint64_t now) { /* one whole WebSocket message */
    if (c->kind != K_SUB) {
        if (o.pub_ack) ack(c, 1, now);
        return;
    }
    uint64_t before = g.delivered + g.corrupt + g.wrongchan + g.misorder + g.doubled;
    scan(c, p, n, now, true);
    if (before == g.delivered + g.corrupt + g.wrongchan + g.misorder + g.doubled) g.other_frames++;
    if (c->state != ST_HELLO || !c->hello_left) return;
    if (memmem(p, n, "\"error\"", 7)) {
        char why[160];
        snprintf(why, sizeof why, "refused: %.*s", (int)(n < 140 ? n : 140), (const char *)p);
        kill_conn(c, why);
    } else if (!--c->hello_left)
        conn_ready(c);
}
static z_stream zs;
static bool zs_on;
static buf_t zb;
static bool inflate_msg(const uint8_t *p, size_t n) {
    if (!zs_on) {
        if (inflateInit2(&zs, -15) != Z_OK) die("inflateInit2");
        zs_on = true;
    } else
        inflateReset(&zs);
    static const uint8_t tail[4] = {0, 0, 0xff, 0xff};
    zb.n = 0;
    for (int part = 0; part < 2; part++) {
        zs.next_in = (Bytef *)(part ? tail : p);
        zs.avail_in = (uInt)(part ? 4 : n);
        do {
            bneed(&zb, 65536);
            zs.next_out = zb.p + zb.n;
            zs.avail_out = (uInt)(zb.cap - zb.n);
            size_t before = zs.avail_out;
            int r = inflate(&zs, Z_SYNC_FLUSH);
            zb.n += before - zs.avail_out;
            if (r == Z_STREAM_END) return true;
            if (r != Z_OK && r != Z_BUF_ERROR) return false;
            if (r == Z_BUF_ERROR && !zs.avail_in) break;
        } while (zs.avail_in || zs.avail_out == 0);
    }
    return true;
}
static void whole(conn *c, bool rsv1, const uint8_t *p, size_t n, uint64_t now) {
    if (rsv1) {
        g.deflated_frames++;
        g.deflated_bytes += n;
        if (!inflate_msg(p, n)) {
            g.corrupt++;
            complain("inflate failed");
            return;
        }
        p = zb.p;
        n = zb.n;
    }
    app_message(c, p, n, now);
}
static uint64_t ping_time(uint64_t number) {
    return ping_start + (uint64_t)((double)number * 1e9 / o.ping_rate);
}
/* An answer stands for all pings before it, too (RFC 6455 5.5.3); it says when its ping was due. */
static void pong(const uint8_t *d, uint64_t now) {
    uint64_t due;
    memcpy(&due, d, 8);
    for (; pings_answered < pings_sent && ping_time(pings_answered) <= due; pings_answered++) {
        uint64_t at = ping_time(pings_answered);
        if (at >= t_measure_from) hadd(&h_ping, now > at ? now - at : 0);
    }
}
static size_t ws_bytes(conn *c, const uint8_t *p, size_t n, uint64_t now) {
    size_t used = 0;
    while (n - used >= 2 && c->state != ST_DEAD) {
        const uint8_t *f = p + used;
        size_t av = n - used, h = 2;
        uint64_t len = f[1] & 127;
        int op = f[0] & 15;
        bool fin = f[0] & 128, rsv1 = f[0] & 64;
        if ((f[0] & 0x30) || (f[1] & 128) || (rsv1 && !(o.deflate && op != 0 && op < 8))) {
            g.proto_err++;
            kill_conn(c, "bad frame header");
            return n;
        }
        if (len == 126) {
            if (av < 4) break;
            len = (uint64_t)f[2] << 8 | f[3];
            h = 4;
            if (len < 126) {
                g.proto_err++;
                complain("non-minimal length");
            }
        } else if (len == 127) {
            if (av < 10) break;
            len = 0;
            for (int i = 0; i < 8; i++) len = len << 8 | f[2 + i];
            h = 10;
            if (len < 65536) {
                g.proto_err++;
                complain("non-minimal length");
            }
        }
        if (len > (64u << 20)) {
            g.proto_err++;
            kill_conn(c, "frame too long");
            return n;
        }
        if (av < h + len) break;
        const uint8_t *d = f + h;
        used += h + len;
        g.frames++;
        if (op >= 8) {
            if (!fin || len > 125) {
                g.proto_err++;
                kill_conn(c, "bad control frame");
                return n;
            }
            if (op == 10 && ping_start && len == 8)
                pong(d, now);
            else if (op == 9) {
                g.pings++;
                ws_frame(&c->out, 10, d, len);
                flush_out(c);
            } else if (op == 8) {
                char why[64];
                snprintf(why, sizeof why, "server sent Close %d", len >= 2 ? d[0] << 8 | d[1] : 0);
                ws_frame(&c->out, 8, d, len);
                flush_out(c);
                kill_conn(c, why);
                return n;
            }
            continue;
        }
        if ((op == 0) != c->frag || op > 2) {
            g.proto_err++;
            kill_conn(c, "bad opcode sequence");
            return n;
        }
        if (fin && !c->frag) {
            whole(c, rsv1, d, len, now);
            continue;
        }
        if (!c->frag) {
            c->frag = true;
            c->frag_rsv = rsv1;
        }
        badd(&c->carry, d, len);
        if (fin) {
            whole(c, c->frag_rsv, c->carry.p, c->carry.n, now);
            c->carry.n = 0;
            c->frag = false;
        }
    }
    return used;
}
static size_t hdr_has(const char *s, const char *e, const char *name, const char **val) {
    size_t nl = strlen(name);
    for (const char *l = memchr(s, '\n', (size_t)(e - s)); l;
         l = memchr(l, '\n', (size_t)(e - l))) {
        l++;
        if ((size_t)(e - l) > nl && !strncasecmp(l, name, nl) && l[nl] == ':') {
            l += nl + 1;
            while (*l == ' ' || *l == '\t') l++;
            const char *x = memchr(l, '\r', (size_t)(e - l));
            if (!x) x = e;
            while (x > l && (x[-1] == ' ' || x[-1] == '\t')) x--;
            *val = l;
            return (size_t)(x - l);
        }
    }
    return 0;
}
static size_t upgrade_bytes(conn *c, const uint8_t *p, size_t n, uint64_t now) {
    const char *h = memmem(p, n, "\r\n\r\n", 4);
    (void)now;
    if (!h) {
        if (n > 65536) kill_conn(c, "endless upgrade answer");
        return 0;
    }
    const char *s = (const char *)p, *e = h + 2, *v;
    size_t k;
    if (n < 13 || strncmp(s, "HTTP/1.1 101", 12)) {
        char w[64];
        snprintf(w, sizeof w, "upgrade refused: %.32s", s);
        kill_conn(c, w);
        return n;
    }
    uint8_t dig[20];
    char cat[80], want[32];
    snprintf(cat, sizeof cat, "%s258EAFA5-E914-47DA-95CA-C5AB0DC85B11", c->key);
    sha1((uint8_t *)cat, strlen(cat), dig);
    b64(dig, 20, want);
    k = hdr_has(s, e, "sec-websocket-accept", &v);
    bool ok = k == 28 && !memcmp(v, want, 28);
    k = hdr_has(s, e, "upgrade", &v);
    ok = ok && k == 9 && !strncasecmp(v, "websocket", 9);
    k = hdr_has(s, e, "connection", &v);
    ok = ok && k >= 7;
    if (!ok) {
        kill_conn(c, "bad upgrade answer (Accept/Upgrade/Connection)");
        return n;
    }
    k = hdr_has(s, e, "sec-websocket-extensions", &v);
    if (k && !o.deflate) {
        kill_conn(c, "extension not offered");
        return n;
    }
    start_app(c);
    return (size_t)(h + 4 - s);
}
static uint8_t RB[1 << 20];
static void on_read(conn *c) {
    for (;;) {
        size_t have = c->res.n;
        if (have > sizeof RB - 65536) {
            kill_conn(c, "message larger than the receive buffer");
            return;
        }
        if (have) memcpy(RB, c->res.p, have);
        size_t room = sizeof RB - have;
        if (room > 262144) room = 262144;
        ssize_t k = transport_recv(c, RB + have, room);
        if (k < 0) {
            if (errno == EINTR) continue;
            if (errno == EAGAIN) return;
            kill_conn(c, strerror(errno));
            return;
        }
        if (k == 0) {
            kill_conn(c, "closed by the server");
            return;
        }
        uint64_t now = now_ns();
        g.recvs++;
        g.bytes_in += (uint64_t)k;
        size_t n = have + (size_t)k, used = 0;
        if (c->state == ST_UPGRADE) {
            used = upgrade_bytes(c, RB, n, now);
            if (c->state == ST_DEAD) return;
        }
        if (c->state >= ST_HELLO && c->state != ST_DEAD)
            used += c->ws ? ws_bytes(c, RB + used, n - used, now)
                          : app_stream(c, RB + used, n - used, now);
        if (c->state == ST_DEAD) return;
        size_t left = n - used;
        c->res.n = 0;
        if (left)
            badd(&c->res, RB + used, left);
        else if (c->res.cap > 65536) {
            free(c->res.p);
            c->res = (buf_t){0};
        }
        /* A read of a TLS connection gives one record, and what it read ahead wakes nobody. */
        if (c->ssl ? !SSL_has_pending(c->ssl) : (size_t)k < room) return;
    }
}
static void on_transport(conn *c) { /* the way to the server is open */
    if (!c->ws) {
        start_app(c);
        return;
    }
    uint8_t r[16];
    uint64_t a = rng(), b = rng();
    memcpy(r, &a, 8);
    memcpy(r + 8, &b, 8);
    b64(r, 16, c->key);
    buf_t *out = &c->out;
    badds(out, "GET ");
    tmpl(out, c->kind == K_SUB ? o.sub_path : o.pub_path, c->chan, c->idx, NULL);
    badds(out, " HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: "
               "Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ");
    badds(out, c->key);
    badds(out, "\r\n");
    if (o.sub_proto_hdr) {
        badds(out, "Sec-WebSocket-Protocol: ");
        badds(out, o.sub_proto_hdr);
        badds(out, "\r\n");
    }
    if (o.deflate)
        badds(out, "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; "
                   "client_no_context_takeover\r\n");
    for (int i = 0; i < o.nhdr; i++) {
        badds(out, o.hdr[i]);
        badds(out, "\r\n");
    }
    badds(out, "\r\n");
    c->state = ST_UPGRADE;
    flush_out(c);
}
static void on_handshake(conn *c) {
    ERR_clear_error();
    int result = SSL_do_handshake(c->ssl);
    if (result == 1) {
        arm(c, false);
        on_transport(c);
        return;
    }
    int e = SSL_get_error(c->ssl, result);
    if (e == SSL_ERROR_WANT_READ || e == SSL_ERROR_WANT_WRITE) {
        arm(c, e == SSL_ERROR_WANT_WRITE);
        return;
    }
    long verdict = SSL_get_verify_result(c->ssl);
    kill_conn(c, verdict != X509_V_OK ? X509_verify_cert_error_string(verdict)
                                      : ERR_reason_error_string(ERR_peek_error())
                 ?: "the TLS handshake failed");
}
static void on_connected(conn *c) {
    int er = 0;
    socklen_t l = sizeof er;
    getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &er, &l);
    if (er) {
        kill_conn(c, strerror(er));
        return;
    }
    c->want_out = true;
    if (!tls) {
        arm(c, false);
        on_transport(c);
        return;
    }
    c->ssl = SSL_new(tls);
    if (!c->ssl || !SSL_set_fd(c->ssl, c->fd) ||
        !X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(c->ssl), o.host))
        die("TLS: %s", ERR_reason_error_string(ERR_get_error()));
    SSL_set_connect_state(c->ssl);
    c->state = ST_TLS;
    on_handshake(c);
}
static void tls_start(void) {
    tls = SSL_CTX_new(TLS_client_method());
    if (!tls || !SSL_CTX_set_min_proto_version(tls, TLS1_2_VERSION) ||
        !SSL_CTX_load_verify_locations(tls, o.tls, NULL))
        die("cannot use %s: %s", o.tls, ERR_reason_error_string(ERR_get_error()));
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_mode(tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(tls, 1);
}
static void start_conn(conn *c, uint32_t serial) {
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0) die("socket: %s (connection %u)", strerror(errno), serial);
    int one = 1;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (o.nsrc > 1) {
        struct sockaddr_in a = {.sin_family = AF_INET};
        a.sin_addr.s_addr = htonl(0x7f000001u + serial % o.nsrc);
        setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
        if (bind(c->fd, (struct sockaddr *)&a, sizeof a)) die("bind: %s", strerror(errno));
    }
    c->state = ST_CONNECT;
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT, .data.ptr = c};
    c->want_out = true;
    if (epoll_ctl(ep, EPOLL_CTL_ADD, c->fd, &e)) die("epoll_ctl: %s", strerror(errno));
    struct sockaddr_in *d = c->kind == K_SUB ? &dst_sub : &dst_pub;
    if (connect(c->fd, (struct sockaddr *)d, sizeof *d) && errno != EINPROGRESS)
        kill_conn(c, strerror(errno));
}
static void poll_once(int timeout_ms) {
    static struct epoll_event ev[1024];
    int k = epoll_wait(ep, ev, 1024, timeout_ms);
    for (int i = 0; i < k; i++) {
        conn *c = ev[i].data.ptr;
        if (!c) {
            uint64_t x;
            if (read(tfd, &x, 8) < 0) {
            }
            continue;
        }
        if (c->state == ST_DEAD) continue;
        if (c->state == ST_CONNECT) {
            if (ev[i].events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) on_connected(c);
            continue;
        }
        if (c->state == ST_TLS) {
            on_handshake(c);
            continue;
        }
        if (ev[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) on_read(c);
        if (c->state != ST_DEAD && (ev[i].events & EPOLLOUT)) flush_out(c);
    }
}

/* ------------------------------------------------- the server seen from /proc */
typedef struct {
    double cpu_s;
    long rss_kb, anon_kb, threads;
} srv_t;
static srv_t srv_read(void) {
    srv_t r = {0};
    for (int i = 0; i < o.npids; i++) {
        char f[80], line[256];
        snprintf(f, sizeof f, "/proc/%d/task", o.pids[i]);
        DIR *d = opendir(f);
        struct dirent *e;
        if (d) {
            while ((e = readdir(d)))
                if (isdigit((unsigned char)e->d_name[0])) {
                    char g2[400];
                    snprintf(g2, sizeof g2, "/proc/%d/task/%s/schedstat", o.pids[i], e->d_name);
                    FILE *q = fopen(g2, "r");
                    if (q) {
                        unsigned long long ns = 0;
                        if (fscanf(q, "%llu", &ns) == 1) r.cpu_s += (double)ns / 1e9;
                        fclose(q);
                        r.threads++;
                    }
                }
            closedir(d);
        }
        snprintf(f, sizeof f, "/proc/%d/status", o.pids[i]);
        FILE *q = fopen(f, "r");
        if (q) {
            while (fgets(line, sizeof line, q)) {
                long v;
                if (sscanf(line, "VmRSS: %ld", &v) == 1)
                    r.rss_kb += v;
                else if (sscanf(line, "RssAnon: %ld", &v) == 1)
                    r.anon_kb += v;
            }
            fclose(q);
        }
    }
    return r;
}
static double self_cpu(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}
static void machine_cpu(double *busy, double *softirq, double *steal) {
    *busy = *softirq = *steal = 0;
    FILE *f = fopen("/proc/stat", "r");
    if (!f) return;
    double u, n, s, id, io, hi, si, st;
    if (fscanf(f, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &u, &n, &s, &id, &io, &hi, &si, &st) ==
        8) {
        double hz = (double)sysconf(_SC_CLK_TCK);
        *busy = (u + n + s + hi + si + st) / hz;
        *softirq = si / hz;
        *steal = st / hz;
    }
    fclose(f);
}

/* --------------------------------------------- a second client, which pings */
typedef struct {
    double p50, p99, max, cpu_s;
    uint64_t count, unanswered;
} pings_t;
static int ping_go = -1, ping_result = -1;

static void ping_at(uint64_t due) {
    struct itimerspec it = {{0, 0}, {(time_t)(due / 1000000000ull), (long)(due % 1000000000ull)}};
    timerfd_settime(tfd, TFD_TIMER_ABSTIME, &it, NULL);
}
static void new_loop(void) {
    ep = epoll_create1(EPOLL_CLOEXEC);
    tfd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    struct epoll_event e = {.events = EPOLLIN, .data.ptr = NULL};
    if (ep < 0 || tfd < 0 || epoll_ctl(ep, EPOLL_CTL_ADD, tfd, &e)) die("epoll");
}
/* Sends pings at their times, answered or not, and counts from when each was due. */
static void ping_client(int go, int result) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sched_setscheduler(0, SCHED_RR, &(struct sched_param){.sched_priority = 10});
    alarm((unsigned)(o.warmup + o.duration + 90));
    new_loop();
    rng_s ^= (uint64_t)getpid() << 32;
    /* It registers no observer, so it gets no answer to a registration. */
    if (o.sub_msg && o.sub_acks) o.sub_acks--;
    o.sub_msg = NULL;
    /* Nor is anything posted to its channel. */
    conn c = {.kind = K_SUB, .chan = o.chans, .proto = o.sub.proto, .ws = true};
    c.expect = xcalloc(o.pubs, sizeof *c.expect);
    start_conn(&c, 0);
    while (c.state != ST_READY && c.state != ST_DEAD) poll_once(200);
    char byte;
    if (c.state == ST_DEAD || read(go, &byte, 1) != 1) _exit(1);
    ping_start = now_ns();
    t_measure_from = ping_start + (uint64_t)(o.warmup * 1e9);
    uint64_t count = (uint64_t)((o.warmup + o.duration) * o.ping_rate);
    while (pings_sent < count && c.state != ST_DEAD) {
        uint64_t due = ping_time(pings_sent);
        if (now_ns() < due) {
            ping_at(due);
            poll_once(200);
            continue;
        }
        ws_frame(&c.out, 9, (uint8_t *)&due, 8);
        pings_sent++;
        flush_out(&c);
    }
    uint64_t patience = now_ns() + 2000000000ull;
    while (pings_answered < pings_sent && c.state != ST_DEAD && now_ns() < patience) poll_once(200);
    pings_t r = {.unanswered = pings_sent - pings_answered};
    r.p50 = hpct(&h_ping, 50);
    r.p99 = hpct(&h_ping, 99);
    r.max = (double)h_ping.max / 1e3;
    r.count = h_ping.count;
    r.cpu_s = self_cpu();
    _exit(write(result, &r, sizeof r) != sizeof r);
}
static void start_ping_client(void) {
    int go[2], result[2];
    if (pipe(go) || pipe(result)) die("pipe: %s", strerror(errno));
    pid_t pid = fork();
    if (pid < 0) die("fork: %s", strerror(errno));
    if (!pid) {
        close(go[1]);
        close(result[0]);
        ping_client(go[0], result[1]);
    }
    close(go[0]);
    close(result[1]);
    ping_go = go[1];
    ping_result = result[0];
}

/* ---------------------------------------------------------------- options */
static wire_t wire(const char *s) {
    static const struct {
        const char *n;
        wire_t w;
    } T[] = {{"ws", {PR_WS, true}},
             {"http", {PR_HTTP, false}},
             {"resp", {PR_RESP, false}},
             {"none", {PR_NONE, false}}};
    for (size_t i = 0; i < sizeof T / sizeof *T; i++)
        if (!strcmp(s, T[i].n)) return T[i].w;
    die("unknown protocol %s", s);
    return T[0].w;
}
static void usage(void) {
    fputs(
        "usage: wsload [options]\n"
        " --label TEXT  --host 127.x.x.x  --port N  [--pub-port N]  --tls FILE (authorities, PEM)\n"
        " --sub ws|resp   --pub http|ws|resp|none\n"
        " --sub-path T (/sub/ch%c)  --sub-msg T (text sent after the upgrade)\n"
        " --sub-acks N (messages to await before ready)  --sub-subprotocol NAME\n"
        " --pub-path T (/pub/ch%c)  --pub-body T (%p)  --pub-method M  --ctype T\n"
        " --header 'K: V' (repeatable)  --no-pub-ack\n"
        "   templates: %c channel number, %i connection number, %p payload, %s payload size,\n"
        "   %% percent\n"
        " --subs S (in all)  --chans N  --pubs P  --depth D (requests in flight per publisher)\n"
        " --window W (messages not yet delivered to all; closed loop, reopens at half)\n"
        " --rate R (messages/s in all; open loop)  --size B (>=48)  --round-robin  --pad-rand\n"
        " --state (coalescing: values may be left out, but not the last; one channel)\n"
        " --ping-rate R (pings/s of a second client)  --deflate\n"
        " --warmup s  --duration s  --drain s  --settle ms  --inflight N (handshakes at once)\n"
        " --src N (127.0.0.1..N as sources)  --server-pid P[,P...]\n"
        " --idle --hold s (connection scale: open S, hold, report memory)\n",
        stderr);
    exit(1);
}
static void read_pids(const char *v) {
    char *d = strdup(v), *t = strtok(d, ", ");
    for (; t && o.npids < 64; t = strtok(NULL, ", ")) o.pids[o.npids++] = atoi(t);
    free(d);
}
static void read_options(int ac, char **av) {
    static const struct {
        const char *name;
        const char **text;
        uint32_t *number;
        double *real;
        int *integer;
        bool *flag;
        bool value;
    } T[] = {
        {"--label", .text = &o.label},
        {"--host", .text = &o.host},
        {"--tls", .text = &o.tls},
        {"--sub-path", .text = &o.sub_path},
        {"--sub-msg", .text = &o.sub_msg},
        {"--sub-subprotocol", .text = &o.sub_proto_hdr},
        {"--pub-path", .text = &o.pub_path},
        {"--pub-body", .text = &o.pub_body},
        {"--pub-method", .text = &o.pub_method},
        {"--ctype", .text = &o.ctype},
        {"--port", .integer = &o.port},
        {"--pub-port", .integer = &o.pub_port},
        {"--settle", .integer = &o.settle_ms},
        {"--sub-acks", .number = &o.sub_acks},
        {"--subs", .number = &o.subs},
        {"--chans", .number = &o.chans},
        {"--pubs", .number = &o.pubs},
        {"--depth", .number = &o.depth},
        {"--window", .number = &o.window},
        {"--size", .number = &o.size},
        {"--inflight", .number = &o.inflight},
        {"--src", .number = &o.nsrc},
        {"--rate", .real = &o.rate},
        {"--ping-rate", .real = &o.ping_rate},
        {"--warmup", .real = &o.warmup},
        {"--duration", .real = &o.duration},
        {"--drain", .real = &o.drain},
        {"--hold", .real = &o.hold},
        {"--idle", .flag = &o.idle_mode, .value = true},
        {"--state", .flag = &o.state_mode, .value = true},
        {"--deflate", .flag = &o.deflate, .value = true},
        {"--pad-rand", .flag = &o.pad_rand, .value = true},
        {"--round-robin", .flag = &o.random_chan, .value = false},
        {"--no-pub-ack", .flag = &o.pub_ack, .value = false},
    };
    for (int i = 1; i < ac; i++) {
        size_t k = 0;
        while (k < sizeof T / sizeof *T && strcmp(av[i], T[k].name)) k++;
        bool known = k < sizeof T / sizeof *T;
        if (known && T[k].flag) {
            *T[k].flag = T[k].value;
            continue;
        }
        const char *name = av[i], *v = i + 1 < ac ? av[++i] : NULL;
        if (!v) usage();
        if (!strcmp(name, "--sub"))
            o.sub = wire(v);
        else if (!strcmp(name, "--pub"))
            o.pub = wire(v);
        else if (!strcmp(name, "--server-pid"))
            read_pids(v);
        else if (!strcmp(name, "--header") && o.nhdr < 16)
            o.hdr[o.nhdr++] = v;
        else if (!known)
            die("unknown option %s", name);
        else if (T[k].text)
            *T[k].text = v;
        else if (T[k].number)
            *T[k].number = (uint32_t)atoi(v);
        else if (T[k].integer)
            *T[k].integer = atoi(v);
        else
            *T[k].real = atof(v);
    }
    if (o.idle_mode) o.pub = (wire_t){PR_NONE, false};
    if (o.pub.proto == PR_NONE) o.pubs = 0;
    if (o.size < 48 || !o.chans || !o.depth || o.pubs > 60000) usage();
    if (o.state_mode && (o.chans != 1 || !o.pub_ack || o.rate > 0))
        die("--state needs one channel, answers and no --rate");
    if (o.ping_rate > 0 && (o.sub.proto != PR_WS || o.idle_mode))
        die("--ping-rate needs WebSocket subscribers and a load");
    if (strncmp(o.host, "127.", 4)) die("only loopback addresses are allowed");
}

/* ----------------------------------------------------------------- phases */
static void on_alarm(int s) {
    (void)s;
    static const char m[] = "wsload: hard time limit reached\n";
    if (write(2, m, sizeof m - 1) < 0) {
    }
    _exit(3);
}
static void set_limits(void) {
    signal(SIGPIPE, SIG_IGN);
    signal(SIGALRM, on_alarm);
    alarm((unsigned)(o.warmup + o.duration + o.drain + o.hold + 90));
    struct rlimit rl;
    getrlimit(RLIMIT_NOFILE, &rl);
    rl.rlim_cur = rl.rlim_max;
    setrlimit(RLIMIT_NOFILE, &rl);
    if (o.subs + o.pubs + 16 > rl.rlim_cur)
        die("%u connections do not fit in %llu descriptors", o.subs + o.pubs,
            (unsigned long long)rl.rlim_cur);
}
static void make_payload(void) {
    static const char *W[] = {
        "window ", "resize ",   "document ", "observer ", "center ",   "queue ", "posted ", "name ",
        "object ", "coalesce ", "idle ",     "sender ",   "userInfo ", "timer ", "value ",  "key "};
    static const char R[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint64_t x = 88172645463325252ull;
    pad = xcalloc(1, o.size + 64);
    for (uint32_t k = 0; k < o.size;) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        if (o.pad_rand)
            pad[k++] = (uint8_t)R[(x >> 20) & 63];
        else
            for (const char *w = W[(x >> 20) & 15]; *w && k < o.size;) pad[k++] = (uint8_t)*w++;
    }
    payload = xcalloc(1, o.size + 64);
    memcpy(payload, pad, o.size);
    memcpy(payload, "~wl", 3);
    payload[39] = '~';
}
static void make_connections(void) {
    subs = xcalloc(o.subs ? o.subs : 1, sizeof *subs);
    pubs = xcalloc(o.pubs ? o.pubs : 1, sizeof *pubs);
    chan_subs = xcalloc(o.chans, sizeof *chan_subs);
    uint32_t *expect = xcalloc((size_t)(o.subs ? o.subs : 1) * (o.pubs ? o.pubs : 1), 4);
    for (uint32_t i = 0; i < o.subs; i++) {
        subs[i] = (conn){.kind = K_SUB,
                         .idx = i,
                         .chan = i % o.chans,
                         .proto = o.sub.proto,
                         .ws = o.sub.ws,
                         .expect = expect + (size_t)i * o.pubs};
        chan_subs[i % o.chans]++;
    }
    for (uint32_t i = 0; i < o.pubs; i++)
        pubs[i] = (conn){.kind = K_PUB,
                         .idx = i,
                         .proto = o.pub.proto,
                         .ws = o.pub.ws,
                         .seq = xcalloc(o.chans, sizeof(uint32_t)),
                         .ring = xcalloc(o.depth, sizeof(uint64_t))};
}
static void poll_until(uint64_t end, int step_ms) {
    while (now_ns() < end) poll_once(step_ms);
}
static void connect_all(void) {
    uint64_t t0 = now_ns();
    uint32_t all = o.subs + o.pubs, started = 0;
    while (g.ready + g.failed < all) {
        while (started < all && started - (g.ready + g.failed) < o.inflight) {
            start_conn(started < o.subs ? &subs[started] : &pubs[started - o.subs], started);
            started++;
        }
        poll_once(200);
        if (now_ns() - t0 > 60000000000ull) {
            complain("connecting timed out: %" PRIu64 " ready, %" PRIu64 " failed of %u", g.ready,
                     g.failed, all);
            break;
        }
    }
    if (g.ready < all) die("only %" PRIu64 " of %u connections became ready", g.ready, all);
}

/* What was spent and done until a moment. */
typedef struct {
    uint64_t at, delivered, published, acked, bytes, recvs, frames, skipped;
    double self, busy, softirq, steal;
    srv_t server;
} mark_t;
static mark_t mark(void) {
    mark_t m = {.at = now_ns(),
                .delivered = g.delivered,
                .published = g.published,
                .acked = g.acked,
                .bytes = g.bytes_in,
                .recvs = g.recvs,
                .frames = g.frames,
                .skipped = g.skipped,
                .self = self_cpu(),
                .server = srv_read()};
    machine_cpu(&m.busy, &m.softirq, &m.steal);
    return m;
}
static bool is_bad(void) {
    return g.lost || g.doubled || g.misorder || g.corrupt || g.wrongchan || g.proto_err || g.dead ||
           g.bad_status;
}
static void print_faults(void) {
    printf("\"lost\":%" PRIu64 ",\"doubled\":%" PRIu64 ",\"misordered\":%" PRIu64
           ",\"corrupt\":%" PRIu64 ",\"wrong_channel\":%" PRIu64 ",\"proto_err\":%" PRIu64
           ",\"bad_status\":%" PRIu64 ",\"first_bad_status\":%d,\"dead\":%" PRIu64
           ",\"pings\":%" PRIu64 ",\"clean\":%s}\n",
           g.lost, g.doubled, g.misorder, g.corrupt, g.wrongchan, g.proto_err, g.bad_status,
           g.first_bad_status, g.dead, g.pings, is_bad() ? "false" : "true");
}
static int run_idle(mark_t before) {
    mark_t connected = mark();
    poll_until(now_ns() + (uint64_t)o.settle_ms * 1000000ull, 20);
    mark_t from = mark();
    poll_until(now_ns() + (uint64_t)(o.hold * 1e9), 50);
    mark_t to = mark();
    double n = o.subs ? o.subs : 1, connecting = (double)(connected.at - before.at) / 1e9,
           held = (double)(to.at - from.at) / 1e9, all = (double)(to.at - before.at) / 1e9,
           server = to.server.cpu_s - before.server.cpu_s;
    printf("{\"label\":\"%s\",\"mode\":\"idle\",\"conns\":%u,\"seconds\":%.4f,"
           "\"connects_per_s\":%.1f,\"server_us_per_unit\":%.3f,\"gen_us_per_unit\":%.3f,"
           "\"rss_bytes_per_conn\":%.1f,\"anon_bytes_per_conn\":%.1f,\"idle_cpu_pct\":%.3f,"
           "\"foreign_cpu\":%.3f,\"threads\":%ld,",
           o.label, o.subs, connecting, n / connecting,
           (connected.server.cpu_s - before.server.cpu_s) * 1e6 / n,
           (connected.self - before.self) * 1e6 / n,
           (double)(to.server.rss_kb - before.server.rss_kb) * 1024 / n,
           (double)(to.server.anon_kb - before.server.anon_kb) * 1024 / n,
           held > 0 ? (to.server.cpu_s - from.server.cpu_s) / held * 100 : 0,
           (to.busy - before.busy - server - (to.self - before.self)) / all, to.server.threads);
    print_faults();
    return is_bad() ? 2 : 0;
}
static void start_rate(void) {
    rate_t0 = now_ns() + 1000000;
    uint64_t iv = (uint64_t)(1e9 / o.rate);
    iv = iv < 50000 ? 50000 : iv > 2000000000ull ? 2000000000ull : iv;
    struct itimerspec it = {{(time_t)(iv / 1000000000ull), (long)(iv % 1000000000ull)},
                            {(time_t)(rate_t0 / 1000000000ull), (long)(rate_t0 % 1000000000ull)}};
    timerfd_settime(tfd, TFD_TIMER_ABSTIME, &it, NULL);
}
/* In state mode: whether this subscriber has what may have been the last value that was accepted.
   It is the last of its publisher, and it was not answered before another publisher's last was
   sent. */
static bool has_last_value(const conn *c) {
    uint64_t last_sent = 0;
    bool any = false;
    for (uint32_t p = 0; p < o.pubs; p++)
        if (pubs[p].seq[0]) {
            any = true;
            if (pubs[p].sent_at > last_sent) last_sent = pubs[p].sent_at;
        }
    if (!any) return !c->has_last;
    return c->has_last && c->last_pub == subs[0].last_pub && c->last_seq == subs[0].last_seq &&
           c->last_seq + 1 == pubs[c->last_pub].seq[0] && pubs[c->last_pub].acked_at >= last_sent;
}
static bool is_drained(void) {
    for (uint32_t i = 0; i < o.pubs; i++)
        if (pubs[i].state == ST_READY && (pubs[i].outstanding || pubs[i].out.n)) return false;
    if (!o.state_mode) return g.outstanding_deliv == 0;
    for (uint32_t i = 0; i < o.subs; i++)
        if (!has_last_value(&subs[i])) return false;
    return true;
}
/* Waits for what is under way, then counts what never came and what came too often. */
static double drain_and_count(void) {
    publishing = false;
    uint64_t from = now_ns(), deadline = from + (uint64_t)(o.drain * 1e9);
    while (!is_drained() && now_ns() < deadline) poll_once(20);
    double seconds = (double)(now_ns() - from) / 1e9;
    measuring = false;
    if (!o.state_mode)
        for (uint32_t i = 0; i < o.subs; i++)
            for (uint32_t p = 0; p < o.pubs; p++) {
                uint32_t end = pubs[p].seq[subs[i].chan];
                if (subs[i].expect[p] < end) g.lost += end - subs[i].expect[p];
            }
    poll_until(now_ns() + 30000000ull, 10);
    if (o.state_mode)
        for (uint32_t i = 0; i < o.subs; i++)
            if (!has_last_value(&subs[i])) {
                g.lost++;
                complain("subscriber %u has not the last value", i);
            }
    return seconds;
}
static void print_times(const char *name, const hist_t *h) {
    printf("\"%s\":{\"min\":%.1f,\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"max\":%.1f,"
           "\"mean\":%.1f,\"n\":%" PRIu64 "},",
           name, (double)h->min / 1e3, hpct(h, 50), hpct(h, 90), hpct(h, 99), hpct(h, 99.9),
           (double)h->max / 1e3, h->count ? h->sum / (double)h->count / 1e3 : 0, h->count);
}
static void print_load(const mark_t *a, const mark_t *b, const pings_t *pings, double drained) {
    double s = (double)(b->at - a->at) / 1e9, server = b->server.cpu_s - a->server.cpu_s,
           self = b->self - a->self;
    double delivered = (double)(b->delivered - a->delivered), acked = (double)(b->acked - a->acked),
           published = (double)(b->published - a->published), recvs = (double)(b->recvs - a->recvs),
           unit = delivered   ? delivered
                  : acked     ? acked
                  : published ? published
                              : 1;
    printf("{\"label\":\"%s\",\"mode\":\"run\",\"subs\":%u,\"chans\":%u,\"pubs\":%u,\"depth\":%u,"
           "\"window\":%u,\"rate\":%.1f,\"size\":%u,\"seconds\":%.3f,",
           o.label, o.subs, o.chans, o.pubs, o.depth, o.window, o.rate, o.size, s);
    printf("\"published_per_s\":%.1f,\"acked_per_s\":%.1f,\"delivered_per_s\":%.1f,"
           "\"skipped_per_s\":%.1f,\"mbyte_in_per_s\":%.2f,\"deliveries_per_recv\":%.2f,"
           "\"frames\":%" PRIu64 ",",
           published / s, acked / s, delivered / s, (double)(b->skipped - a->skipped) / s,
           (double)(b->bytes - a->bytes) / s / 1e6, recvs ? delivered / recvs : 0,
           b->frames - a->frames);
    print_times("e2e_us", &h_e2e);
    print_times("ack_us", &h_ack);
    if (o.ping_rate > 0)
        printf("\"ping_us\":{\"p50\":%.1f,\"p99\":%.1f,\"max\":%.1f,\"n\":%" PRIu64
               ",\"unanswered\":%" PRIu64 "},",
               pings->p50, pings->p99, pings->max, pings->count, pings->unanswered);
    printf("\"server_cpu\":%.3f,\"gen_cpu\":%.3f,\"foreign_cpu\":%.3f,\"steal\":%.3f,"
           "\"softirq\":%.3f,\"server_us_per_unit\":%.4f,\"gen_us_per_unit\":%.4f,"
           "\"rss_kb\":%ld,\"rss_start_kb\":%ld,\"threads\":%ld,",
           server / s, self / s, (b->busy - a->busy - server - self - pings->cpu_s) / s,
           (b->steal - a->steal) / s, (b->softirq - a->softirq) / s, server * 1e6 / unit,
           self * 1e6 / unit, b->server.rss_kb, a->server.rss_kb, b->server.threads);
    printf("\"other_frames\":%" PRIu64 ",\"deflated_frames\":%" PRIu64
           ",\"deflated_bytes\":%" PRIu64 ",\"drain_s\":%.3f,",
           g.other_frames, g.deflated_frames, g.deflated_bytes, drained);
    print_faults();
}
static int run_load(void) {
    max_outstanding = (double)o.window * (o.subs ? (double)o.subs / o.chans : 0);
    if (o.subs && max_outstanding < 1) max_outstanding = o.window;
    if (o.ping_rate > 0 && write(ping_go, "", 1) != 1) die("the ping client has ended");
    publishing = true;
    if (o.rate > 0) start_rate();
    t_measure_from = now_ns() + (uint64_t)(o.warmup * 1e9);
    t_measure_to = t_measure_from + (uint64_t)(o.duration * 1e9);
    mark_t from = {0};
    for (;;) {
        uint64_t n = now_ns();
        if (!measuring && n >= t_measure_from) {
            measuring = true;
            from = mark();
        }
        if (n >= t_measure_to) break;
        pump(n);
        poll_once(20);
    }
    mark_t to = mark();
    double drained = drain_and_count();
    pings_t pings = {0};
    if (o.ping_rate > 0 && read(ping_result, &pings, sizeof pings) != sizeof pings)
        die("the ping client has ended");
    g.dead += pings.unanswered;
    print_load(&from, &to, &pings, drained);
    return is_bad() ? 2 : 0;
}

int main(int ac, char **av) {
    read_options(ac, av);
    set_limits();
    rng_s ^= (uint64_t)getpid() << 32 ^ now_ns();
    dst_sub = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)o.port)};
    inet_pton(AF_INET, o.host, &dst_sub.sin_addr);
    dst_pub = dst_sub;
    if (o.pub_port) dst_pub.sin_port = htons((uint16_t)o.pub_port);
    if (o.tls) tls_start();
    make_payload();
    if (o.ping_rate > 0) start_ping_client();
    new_loop();
    make_connections();
    mark_t before = mark();
    connect_all();
    if (o.idle_mode) return run_idle(before);
    poll_until(now_ns() + (uint64_t)o.settle_ms * 1000000ull, 20);
    return run_load();
}
