import BelfryServer
import BelfrySystem

// A broker with nothing around it: `BenchmarkBroker HOST:PORT`, where port 0 picks one.
// It tells on standard error where it listens: `listening addresses=HOST:PORT`.

var configuration = ServerConfiguration()
guard let address = SocketAddress(CommandLine.arguments.dropFirst().first ?? "127.0.0.1:0") else {
    fatalError("the argument must be HOST:PORT")
}
configuration.listenAddresses = [address]
let log = ServerLog { _, message, fields in
    let text = ([message] + fields.map { "\($0.0)=\($0.1)" }).joined(separator: " ")
    // Nobody is left to tell that nobody listens.
    _ = try? StandardStream.error.write(text + "\n")
}
try Server.run(configuration, log: log)
