// Posters that take as little as they can of the processors that they share with the broker.
//
//     posters PORT POSTS POSTERS PIPELINED < REQUEST
//
// Opens so many connections to 127.0.0.1, keeps so many of the request on the way on each, until all
// are answered with 200, and prints the seconds from the first request to the last answer, and the
// processor time that it took itself.
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { REQUEST_LIMIT = 1 << 16, INPUT_LIMIT = 1 << 18 };

struct poster {
    int socket;
    // Bytes of an answer that is not whole yet.
    char *input;
    size_t count;
};

static void die(const char *what) {
    perror(what);
    exit(1);
}

static double seconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static int connect_to(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int socket_number = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (socket_number < 0 || connect(socket_number, (void *)&address, sizeof address) < 0)
        die("connect");
    setsockopt(socket_number, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return socket_number;
}

static void send_all(int socket, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(socket, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EAGAIN) {
            struct pollfd room = {.fd = socket, .events = POLLOUT};
            poll(&room, 1, -1);
        } else if (sent < 0) {
            die("send");
        } else {
            bytes += sent;
            count -= sent;
        }
    }
}

// Takes whole answers out of the input, and tells how many there were.
static int take_answers(struct poster *poster) {
    int answers = 0;
    char *start = poster->input, *end = poster->input + poster->count;
    while (start < end) {
        char *head_end = memmem(start, end - start, "\r\n\r\n", 4);
        if (!head_end) break;
        char *length = memmem(start, head_end - start, "Content-Length: ", 16);
        if (memcmp(start, "HTTP/1.1 200 ", 13) || !length) {
            fprintf(stderr, "%.*s\n", (int)(head_end - start), start);
            exit(1);
        }
        char *next = head_end + 4 + strtol(length + 16, 0, 10);
        if (next > end) break;
        start = next;
        answers++;
    }
    poster->count = end - start;
    if (start != poster->input) memmove(poster->input, start, poster->count);
    return answers;
}

int main(int count, char **arguments) {
    if (count != 5) {
        fprintf(stderr, "usage: posters PORT POSTS POSTERS PIPELINED < REQUEST\n");
        return 2;
    }
    int port = atoi(arguments[1]), posts = atoi(arguments[2]);
    int poster_count = atoi(arguments[3]), pipelined = atoi(arguments[4]);
    static char request[REQUEST_LIMIT];
    size_t request_count = fread(request, 1, sizeof request, stdin);
    char *requests = malloc(request_count * pipelined);
    struct poster *posters = calloc(poster_count, sizeof *posters);
    if (!requests || !posters) die("memory");
    for (int i = 0; i < pipelined; i++)
        memcpy(requests + i * request_count, request, request_count);
    int epoll = epoll_create1(0);
    for (int i = 0; i < poster_count; i++) {
        posters[i].socket = connect_to(port);
        posters[i].input = malloc(INPUT_LIMIT);
        if (!posters[i].input) die("memory");
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = &posters[i]};
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, posters[i].socket, &event) < 0) die("epoll_ctl");
    }
    double start = seconds(CLOCK_MONOTONIC), own = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int to_send = posts, answered = 0;
    for (int i = 0; i < poster_count; i++) {
        int first = to_send < pipelined ? to_send : pipelined;
        send_all(posters[i].socket, requests, request_count * first);
        to_send -= first;
    }
    while (answered < posts) {
        struct epoll_event ready[64];
        int ready_count = epoll_wait(epoll, ready, 64, 60000);
        if (ready_count == 0) {
            fprintf(stderr, "no answer for a minute\n");
            return 1;
        }
        for (int i = 0; i < ready_count; i++) {
            struct poster *poster = ready[i].data.ptr;
            ssize_t received = recv(
                poster->socket, poster->input + poster->count, INPUT_LIMIT - poster->count,
                MSG_DONTWAIT);
            if (received < 0 && errno == EAGAIN) continue;
            if (received <= 0) die("the broker closed a connection");
            poster->count += received;
            int answers = take_answers(poster);
            answered += answers;
            int again = answers < to_send ? answers : to_send;
            send_all(poster->socket, requests, request_count * again);
            to_send -= again;
        }
    }
    printf(
        "%.6f %.6f\n", seconds(CLOCK_MONOTONIC) - start, seconds(CLOCK_PROCESS_CPUTIME_ID) - own);
    return 0;
}
