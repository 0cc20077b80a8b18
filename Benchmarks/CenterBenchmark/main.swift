import BelfryCenter
import BelfrySystem
import Glibc

// Posts to one channel of a center while observers of other names are there.
//
//     CenterBenchmark ELSEWHERE HERE WARM-UP POSTS
//
// ELSEWHERE observers have names of their own, which are not posted; HERE observers have the name
// that is posted. It prints `empty`, `registered` and `warm`, each of which waits for a line of
// input, so that a script can look at the process, and at last the processor time of POSTS posts in
// microseconds.

func tell(_ text: String) {
    // A failure means that the reader has gone, and its measurement with it.
    _ = try? StandardStream.output.write(text + "\n")
}

func pause(after text: String) {
    tell(text)
    _ = readLine()
}

struct Bench {
    var center = NotificationCenter(
        name: Array("default".utf8), epoch: Array("k1".utf8), limits: CenterLimits(),
        seed: HashSeed(1, 2))
    var effects = Effects()
    var serial: UInt64 = 0
    var client: UInt64 = 0
    var postCount: UInt64 = 0

    mutating func apply(_ action: consuming Command.Action) {
        let index = center.appliedIndex + 1
        let command = Command(
            id: CommandID(node: 1, incarnation: 1, counter: index),
            time: CommandTime(wallMilliseconds: 1_000, monotonicNanoseconds: 1_000_000_000),
            action: action)
        center.apply(command, at: index, into: &effects)
        if case .refused(let refusal) = effects.outcome { fatalError("\(refusal)") }
    }

    /// Registers an observer; each client owns as many as the limits allow.
    mutating func observe(_ name: String) {
        if serial % UInt64(center.limits.clientObserverLimit) == 0 {
            client += 1
            let registration = ClientRegistration(
                id: client, transport: .webSocket,
                connection: ConnectionName(node: 0, number: client),
                sessionHash: SecretHash(high: client, low: 7), principal: Array("anonymous".utf8))
            apply(.connect(registration, observers: [], since: nil))
        }
        serial += 1
        let registration = ObserverRegistration(
            serial: serial, tokenHash: SecretHash(high: serial, low: 9), name: Array(name.utf8),
            object: nil, selector: Array("notify".utf8))
        apply(.addObserver(registration, client: client, since: nil))
    }

    mutating func post(_ content: Notification.Content, count: Int) {
        for _ in 0..<count {
            postCount += 1
            let post = Post(
                id: NotificationID(milliseconds: 1, place: postCount, random: postCount),
                content: content)
            apply(.post(post, PostTerms()))
        }
    }
}

let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
guard numbers.count == 4 else { fatalError("usage: CenterBenchmark ELSEWHERE HERE WARM-UP POSTS") }

var bench = Bench()
pause(after: "empty")
for number in 0..<numbers[0] { bench.observe("one-off-\(number)") }
for _ in 0..<numbers[1] { bench.observe("ButtonChange") }
pause(after: "registered")
let content = Notification.Content(
    name: Array("ButtonChange".utf8), object: Array("calculator".utf8),
    userInfo: Array(#"{"title":"7"}"#.utf8))
bench.post(content, count: numbers[2])
pause(after: "warm")
let start = clock()
bench.post(content, count: numbers[3])
tell("\(clock() - start)")
// The process ends here: to take the center apart is not what is measured.
exit(0)
