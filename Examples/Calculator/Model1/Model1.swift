import BelfryClient
import Glibc

/// Model1 of the calculator: the arithmetic, as a program that knows only the center.
///
///     calculator-model1 [BROKER]        BROKER is http://127.0.0.1:8080 unless given
///
/// It observes BUTTONCHANGE, whose object is a key, and posts ACCUMULATORCHANGE with what the
/// display shows. SIGINT or SIGTERM ends it, and its observer is removed first.
@main
enum Model1 {
    static func main() {
        do throws(ClientError) {
            let broker = CommandLine.arguments.dropFirst().first ?? "http://127.0.0.1:8080"
            let url = try BrokerURL(broker)
            exit(try StopSignals.run { signals in await status(of: url, until: signals) })
        } catch {
            print("calculator-model1: \(error)")
            exit(1)
        }
    }

    private static func status(of broker: BrokerURL, until signals: StopSignals) async -> Int32 {
        do throws(ClientError) {
            try await run(broker, until: signals)
            return 0
        } catch {
            print("calculator-model1: \(error)")
            return 1
        }
    }

    private static func run(
        _ broker: BrokerURL, until signals: StopSignals
    ) async throws(ClientError) {
        var options = ClientOptions()
        options.reconnects = true
        let center = try await RemoteCenter.connect(to: broker, options: options)
        let presses = try await center.addObserver(forName: "BUTTONCHANGE", object: nil)
        // Closing removes the observer, and that ends the sequence below.
        let stopping = Task {
            await signals.wait()
            await center.close()
        }
        var accumulator = Accumulator()
        for try await press in presses {
            guard let key = press.object?.first, press.object?.count == 1 else { continue }
            await show(accumulator.press(key), in: center)
        }
        await stopping.value
    }

    /// The display is posted when the broker has nothing more urgent in its turn.
    ///
    /// The queue posts the last of several that wait: the earlier ones are useless.
    private static var display: PostOptions {
        var options = PostOptions()
        options.style = .asap
        options.coalescing = .onName
        options.keep = .latest
        return options
    }

    /// Posts the text of the display to its observers.
    private static func show(_ display: String, in center: RemoteCenter) async {
        do {
            // The display has digits, a point, a sign and letters only: nothing to escape.
            let userInfo = try UserInfo(json: "{\"value\":\"\(display)\"}")
            _ = try await center.post(
                name: "ACCUMULATORCHANGE", object: display, userInfo: userInfo,
                options: Self.display)
        } catch ClientError.closedByOwner {
            // The program ends while a press is handled: the display is not needed any more.
            return
        } catch {
            print("calculator-model1: \(display) was not posted: \(error)")
        }
    }
}
