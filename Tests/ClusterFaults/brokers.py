"""Three brokers beside three servers of the engine, on loopback: how they are started, asked and waited for."""
import http.client, json, sys, time

BROKERS = (1, 2, 3)
GRANTS = "post,observe,inspect,admin,read,set"


def ask(number, method, path, body=None):
    """The status and the JSON object that a broker answers with."""
    connection = http.client.HTTPConnection("127.0.0.1", port(number), timeout=12)
    try:
        connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        answer = connection.getresponse()
        text = answer.read()
    finally:
        connection.close()
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    return answer.status, value if isinstance(value, dict) else {}


def port(number):
    return 28_000 + number


def check(holds, what):
    if not holds:
        sys.exit(what)


def wait(what, seconds, test):
    """Asks until something holds, and gives the seconds that it took."""
    begin = time.monotonic()
    while time.monotonic() - begin < seconds:
        try:
            if test():
                return time.monotonic() - begin
        except OSError:
            pass
        time.sleep(0.05)
    sys.exit(f"{what}: not within {seconds} s")


def is_ready(number):
    return ask(number, "GET", "/readyz")[0] == 200


def command_line(belfry, cluster, number):
    """How the broker of a number is started."""
    return [
        belfry, "serve", "--listen", f"127.0.0.1:{port(number)}", "--engine",
        ",".join(cluster.urls(number)), "--cluster", "prod", "--node", f"n{number}",
        "--anonymous-grants", GRANTS, "--log-limit", "256MiB", "--snapshot-limit", "256MiB",
    ]


def start(belfry, cluster):
    """Starts all brokers, and waits until they are ready."""
    for number in BROKERS:
        cluster.spawn(f"b{number}", number, command_line(belfry, cluster, number))
    wait_for_all()


def wait_for_all(seconds=60):
    """Waits until all brokers are ready."""
    for number in BROKERS:
        wait(f"broker {number} is ready", seconds, lambda: is_ready(number))


def wait_for_one_digest(seconds=5):
    """Waits until all brokers have the same state, and gives the seconds that it took."""
    def states():
        answers = [ask(number, "GET", "/v1/cluster")[1] for number in BROKERS]
        return {(answer["index"], answer["digest"]) for answer in answers}

    return wait("all have one digest", seconds, lambda: len(states()) == 1)
