import BelfryServer
import BelfrySystem

// A broker with nothing around it: `BenchmarkBroker HOST:PORT [patient]`, where port 0 picks one.
// It tells on standard error where it listens: `listening addresses=HOST:PORT`.
// A patient one does the same however slowly its machine runs: no turn ends because it lasted long,
// and no ping is due. Counts of instructions then depend on nothing but what it is asked.

var configuration = ServerConfiguration()
guard let address = SocketAddress(CommandLine.arguments.dropFirst().first ?? "127.0.0.1:0") else {
    fatalError("the argument must be HOST:PORT")
}
configuration.listenAddresses = [address]
if CommandLine.arguments.dropFirst(2).first == "patient" {
    configuration.turnWorkLimit = .seconds(3600)
    configuration.pingInterval = .seconds(3600)
    configuration.idleTimeout = .seconds(3600)
}
let log = ServerLog { _, message, fields in
    let text = ([message] + fields.map { "\($0.0)=\($0.1)" }).joined(separator: " ")
    // Without a reader the text is lost.
    _ = try? StandardStream.error.write(text + "\n")
}
try Server.run(configuration, log: log)
