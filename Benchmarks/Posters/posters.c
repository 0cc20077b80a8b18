// Posters that take as little as they can of the processors that they share with the broker.
//
//     posters PORT POSTS POSTERS PIPELINED < REQUEST
//
// Opens so many connections to 127.0.0.1, keeps so many of the request on the way on each, until all
// are answered with 200 or 201, and prints the seconds from the first request to the last answer, and the
// processor time that it took itself. Where the request has ######## each one has its number.
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

enum { REQUEST_LIMIT = 1 << 16, INPUT_LIMIT = 1 << 18, MARK_LIMIT = 8, DIGITS = 8 };

// The request, so often as it is sent at once; only the numbers in it change.
static char *requests;
static size_t request_count;
// Where the request has a number.
static size_t marks[MARK_LIMIT], mark_count;

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

// Sends so many requests, each with the next number.
static void send_requests(int socket, int count) {
    static int number;
    for (int i = 0; i < count; i++, number++) {
        char *place = requests + i * request_count, digits[DIGITS + 1];
        snprintf(digits, sizeof digits, "%0*d", DIGITS, number);
        for (size_t k = 0; k < mark_count; k++) memcpy(place + marks[k], digits, DIGITS);
    }
    send_all(socket, requests, request_count * count);
}

// Takes whole answers out of the input, and tells how many there were.
static int take_answers(struct poster *poster) {
    int answers = 0;
    char *start = poster->input, *end = poster->input + poster->count;
    while (start < end) {
        char *head_end = memmem(start, end - start, "\r\n\r\n", 4);
        if (!head_end) break;
        char *length = memmem(start, head_end - start, "Content-Length: ", 16);
        if (memcmp(start, "HTTP/1.1 20", 11) || !length) {
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
    request_count = fread(request, 1, sizeof request - 1, stdin);
    for (char *mark = request; (mark = strstr(mark, "########")); mark += DIGITS) {
        if (mark_count == MARK_LIMIT) die("too many numbers");
        marks[mark_count++] = mark - request;
    }
    requests = malloc(request_count * pipelined);
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
        send_requests(posters[i].socket, first);
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
            send_requests(poster->socket, again);
            to_send -= again;
        }
    }
    printf(
        "%.6f %.6f\n", seconds(CLOCK_MONOTONIC) - start, seconds(CLOCK_PROCESS_CPUTIME_ID) - own);
    return 0;
}
