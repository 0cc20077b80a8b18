public import BelfrySystem

/// The reason why a broker could not start.
public enum StartError: Error, Equatable, Sendable {
    /// The configuration cannot be served; the sentence says why.
    case configuration(String)
    /// The address cannot be listened on.
    case listen(SocketAddress, SystemCallError)
    /// A file of keys cannot be used; the words say which and why.
    case keys(String)
    /// The data directory cannot be used; the words say why.
    case store(String)
    /// The broker cannot take part in the cluster with its options; the sentence says why.
    case cluster(String)
    /// The certificate or its key cannot be used; the sentence says why.
    case certificate(String)
    /// The system refused something else.
    case system(SystemCallError)

    /// Makes a system call whose failure ends the start.
    static func systemCall<Result: ~Copyable>(
        _ body: () throws(SystemCallError) -> Result
    ) throws(StartError) -> Result {
        do throws(SystemCallError) {
            return try body()
        } catch {
            throw .system(error)
        }
    }
}
