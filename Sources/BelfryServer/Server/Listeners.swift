import BelfrySystem

/// The sockets that a broker listens with, in the order of its addresses.
struct Listeners: Sendable {
    let plain: [Socket]
    let secure: [Socket]
    /// The configuration with the real addresses, which differ for port 0.
    let configuration: ServerConfiguration

    /// Listens on the addresses of a configuration, which no other process can do meanwhile.
    init(_ configuration: ServerConfiguration) throws(StartError) {
        var real = configuration
        plain = try Self.listen(on: &real.listenAddresses)
        secure = try Self.listen(on: &real.tlsListenAddresses)
        self.configuration = real
    }

    private static func listen(
        on addresses: inout [SocketAddress]
    ) throws(StartError) -> [Socket] {
        var sockets: [Socket] = []
        for place in addresses.indices {
            do throws(SystemCallError) {
                let (socket, real) = try Socket.listen(at: addresses[place])
                sockets.append(socket)
                addresses[place] = real
            } catch {
                throw .listen(addresses[place], error)
            }
        }
        return sockets
    }
}
