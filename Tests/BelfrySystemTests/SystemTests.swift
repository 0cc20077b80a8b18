import BelfrySystem
import Glibc
import Synchronization
import Testing

@Suite("System calls")
struct SystemTests {
    @Test("an event descriptor is readable from its signal to its clearing")
    func event() throws {
        let epoll = try Epoll()
        let event = try EventDescriptor()
        try epoll.watch(event.rawValue, token: 7, for: .readable)
        var ready: [ReadyEntry] = []
        try epoll.wait(timeoutNanoseconds: 0, into: &ready)
        #expect(ready.isEmpty)
        event.signal()
        event.signal()
        try epoll.wait(timeoutNanoseconds: 0, into: &ready)
        #expect(ready == [ReadyEntry(token: 7, readiness: .readable)])
        event.clear()
        try epoll.wait(timeoutNanoseconds: 0, into: &ready)
        #expect(ready.isEmpty)
    }

    @Test("a failed call names itself and its error number")
    func failure() throws {
        let epoll = try Epoll()
        #expect(throws: SystemCallError(call: "epoll_ctl", errno: EBADF)) {
            try epoll.watch(-1, token: 0, for: .readable)
        }
        let text = SystemCallError(call: "accept4", errno: EMFILE).description
        #expect(text == "accept4: Too many open files (24)")
        #expect(SystemCallError(call: "accept4", errno: EMFILE).isExhaustion)
        #expect(!SystemCallError(call: "accept4", errno: EPERM).isExhaustion)
    }

    @Test("random numbers differ, and as many bytes come as are asked for")
    func random() {
        var random = SystemRandom()
        let numbers = Set((0..<1_000).map { _ in random.next() })
        #expect(numbers.count == 1_000)
        #expect(random.bytes(count: 0).isEmpty)
        #expect(random.bytes(count: 3_000).count == 3_000)
    }

    @Test("the soft descriptor limit rises to the hard one")
    func descriptorLimit() throws {
        let before = try DescriptorLimit.current()
        let after = try DescriptorLimit.raise()
        #expect(after.soft == before.hard)
        #expect(after.hard == before.hard)
    }

    @Test("a thread runs its body once, and joining waits for it")
    func thread() throws {
        final class Count: Sendable { let value = Atomic(0) }
        let count = Count()
        let thread = try SystemThread { count.value.add(1, ordering: .relaxed) }
        thread.join()
        #expect(count.value.load(ordering: .relaxed) == 1)
    }

    @Test("a file is read whole up to its limit and refused one byte past it")
    func wholeFile() throws {
        let bytes = try WholeFile.read(path: "/proc/self/comm", byteLimit: 1_000)
        #expect(!bytes.isEmpty)
        let exact = try WholeFile.read(path: "/proc/self/comm", byteLimit: bytes.count)
        #expect(exact == bytes)
        #expect(throws: SystemCallError(call: "read", errno: EFBIG)) {
            try WholeFile.read(path: "/proc/self/comm", byteLimit: bytes.count - 1)
        }
        #expect(throws: SystemCallError(call: "open", errno: ENOENT)) {
            try WholeFile.read(path: "/proc/self/no-such-file", byteLimit: 1)
        }
    }

    @Test("a listener on port 0 tells its real port, and what it accepts has no delay")
    func listener() throws {
        let (listener, address) = try Socket.listen(at: .loopback(port: 0))
        defer { listener.close() }
        #expect(address.port != 0)
        let client = try Socket.connect(to: address)
        defer { client.close() }
        let accepted = try #require(try listener.accept())
        defer { accepted.socket.close() }
        #expect(accepted.peer.isLoopback)
        #expect(hasNoDelay(accepted.socket))
        #expect(hasNoDelay(client))
        #expect(try listener.accept() == nil)
    }

    @Test("ranges of one buffer leave in their order, with one call")
    func ranges() throws {
        let (listener, address) = try Socket.listen(at: .loopback(port: 0))
        defer { listener.close() }
        let client = try Socket.connect(to: address)
        defer { client.close() }
        let accepted = try #require(try listener.accept())
        defer { accepted.socket.close() }
        let bytes: [UInt8] = [0, 1, 2, 3, 4, 5]
        #expect(try client.write([4..<6, 0..<2, 3..<3], of: bytes.span) == 4)
        var buffer = [UInt8](repeating: 0, count: 16)
        #expect(try accepted.socket.read(into: &buffer) == 4)
        #expect(Array(buffer[..<4]) == [4, 5, 0, 1])
        #expect(try accepted.socket.read(into: &buffer) == nil)
    }
}

/// Whether small writes leave at once (`TCP_NODELAY`).
private func hasNoDelay(_ socket: Socket) -> Bool {
    var (value, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
    // SAFETY: the call writes at most the bytes of one number into `value`.
    let status = unsafe getsockopt(
        socket.rawValue, Int32(IPPROTO_TCP), TCP_NODELAY, &value, &length)
    return status == 0 && value != 0
}
