public import BelfrySystem

// The sources of a loop's events: listeners, mail and signals.

extension EventLoop {
    /// Listens at an address and tells the real one, which differs for port 0.
    ///
    /// - Parameter refusal: what those are sent that are too many even to be told `.refused`; where
    ///   it is empty they are just closed.
    public mutating func listen(
        on address: SocketAddress, refusal: [UInt8] = []
    ) throws(SystemCallError) -> SocketAddress {
        let (socket, real) = try kernel.listen(at: address)
        do {
            try listen(with: socket, refusal: refusal)
        } catch {
            kernel.close(socket)
            throw error
        }
        return real
    }

    /// Accepts connections of a socket that listens already, and is this loop's from now on.
    public mutating func listen(
        with socket: Socket, refusal: [UInt8] = []
    ) throws(SystemCallError) {
        let token = Token.make(Token.listener, number: listeners.count)
        try kernel.watch(socket, token: token, for: .readable)
        listeners.append(ListenerSlot(socket: socket, refusal: refusal))
    }

    /// Accepts nothing more, and leaves the listeners open for another loop.
    public mutating func leaveListeners() {
        setListenersResting(true)
        for number in listeners.indices { listeners[number].isOpen = false }
        acceptResumeTime = .distantFuture
    }

    /// Takes the connections of a listener that another loop has, which come by ``adopt(_:)``.
    ///
    /// It is numbered like a listener of this loop.
    public mutating func shareListener(refusal: [UInt8] = []) {
        listeners.append(
            ListenerSlot(socket: Socket(rawValue: -1), isOpen: false, refusal: refusal))
    }

    /// Closes all listeners; connections stay.
    public mutating func stopListening() {
        for number in listeners.indices where listeners[number].isOpen {
            listeners[number].isOpen = false
            kernel.close(listeners[number].socket)
        }
        acceptResumeTime = .distantFuture
    }

    /// Starts to connect; `.connected` or `.closed` follows.
    public mutating func connect(
        to address: SocketAddress
    ) throws(SystemCallError) -> ConnectionID {
        let socket = try kernel.connect(to: address)
        return try admit(socket, peer: address, flags: [.open, .connecting])
    }

    /// Hands out `.mail` when another thread signals.
    public mutating func attach(_ wake: LoopWake) throws(SystemCallError) {
        try kernel.watch(wake, token: Token.make(Token.mail, number: wakes.count))
        wakes.append(wake)
    }

    /// Hands out `.signal` for the signals that the descriptor collects.
    ///
    /// An embedded kernel takes them from its `raise(signal:)` instead.
    public mutating func attach(_ signals: consuming SignalDescriptor) throws(SystemCallError) {
        precondition(self.signals == nil, "one signal descriptor is enough")
        let token = Token.make(Token.signals, number: 0)
        try kernel.watchSignals(signals.rawValue, token: token)
        self.signals = consume signals
    }
}
