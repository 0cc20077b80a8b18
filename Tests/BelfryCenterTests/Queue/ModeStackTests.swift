import Testing

@testable import BelfryCenter

@Suite("ModeStack (rules Q15, Q16)")
struct ModeStackTests {
    private func entry(
        _ serial: UInt64, _ mode: String, client: UInt64? = nil, lease: Int64? = nil
    ) -> ModeEntry {
        ModeEntry(
            serial: serial, tokenHash: SecretHash(high: serial, low: 5), mode: bytes(mode),
            client: client, lease: lease)
    }

    private func stack(_ entries: ModeEntry...) throws -> ModeStack {
        var stack = ModeStack()
        for entry in entries { try stack.enter(entry, limit: 32, at: 100) }
        return stack
    }

    private func digest(_ stack: ModeStack) -> UInt64 {
        var digest = StateDigest()
        stack.addDigest(to: &digest)
        return digest.finish()
    }

    @Test("T87, Q16: leaving goes back to the mode below, at last to the default")
    func nesting() throws {
        var stack = try stack(entry(1, "a"), entry(2, "b"))
        #expect(stack.current == bytes("b"))
        #expect(stack.leave(2) == true)
        #expect(stack.current == bytes("a"))
        #expect(stack.leave(1) == true)
        #expect(stack.current == Mode.default)
        #expect(stack.leave(1) == false)
    }

    @Test("Q16: a lease that is not on top ends without a change of the mode")
    func middle() throws {
        var stack = try stack(entry(1, "a"), entry(2, "b"), entry(3, "c"))
        #expect(stack.leave(2) == true)
        #expect(stack.current == bytes("c"))
        #expect(stack.leases.map(\.serial) == [1, 3])
        #expect(stack.leave(3) == true)
        #expect(stack.current == bytes("a"))
    }

    @Test("Q16: the leases of a client end with it")
    func client() throws {
        var stack = try stack(
            entry(1, "a", client: 7), entry(2, "b", client: 8), entry(3, "c", client: 7),
            entry(4, "d"))
        #expect(stack.leaveAll(ofClient: 7) == true)
        #expect(stack.leaveAll(ofClient: 7) == false)
        #expect(stack.leases.map(\.serial) == [2, 4])
        #expect(stack.current == bytes("d"))
    }

    @Test("Q16: a lease ends when its time is over, to the nanosecond")
    func time() throws {
        var stack = try stack(
            entry(1, "a", lease: 50), entry(2, "b", lease: 20), entry(3, "c"))
        #expect(stack.nextDeadline == 120)
        #expect(stack.passTime(119) == false)
        #expect(stack.passTime(120) == true)
        #expect(stack.leases.map(\.serial) == [1, 3])
        #expect(stack.nextDeadline == 150)
        #expect(stack.passTime(1_000) == true)
        #expect(stack.nextDeadline == nil)
        #expect(stack.passTime(.max - 1) == false)
        #expect(stack.current == bytes("c"))
    }

    @Test("a lease that no clock reaches does not end")
    func endless() throws {
        let stack = try stack(entry(1, "a", lease: .max))
        #expect(stack.nextDeadline == nil)
    }

    @Test("the stack has as many leases as it may, and no more")
    func limit() throws {
        var stack = ModeStack()
        try stack.enter(entry(1, "a"), limit: 2, at: 0)
        try stack.enter(entry(2, "b"), limit: 2, at: 0)
        #expect(throws: Refusal.modeStackFull(limit: 2)) {
            try stack.enter(entry(3, "c"), limit: 2, at: 0)
        }
        #expect(stack.count == 2)
        #expect(stack.current == bytes("b"))
    }

    @Test("a lease is listed with its number, mode, client and token, outermost first")
    func listing() throws {
        let stack = try stack(entry(1, "a", client: 4), entry(2, "b"))
        #expect(
            stack.leases == [
                ModesRow.Lease(
                    serial: 1, mode: bytes("a"), client: 4,
                    tokenHash: SecretHash(high: 1, low: 5)),
                ModesRow.Lease(
                    serial: 2, mode: bytes("b"), client: nil,
                    tokenHash: SecretHash(high: 2, low: 5)),
            ])
    }

    @Test("each part of a lease shows in the digest, and their order does")
    func digests() throws {
        let stacks = [
            try stack(), try stack(entry(1, "a")), try stack(entry(1, "b")),
            try stack(entry(2, "a")), try stack(entry(1, "a", client: 0)),
            try stack(entry(1, "a", client: 1)), try stack(entry(1, "a", lease: 9)),
            try stack(entry(1, "a"), entry(2, "b")), try stack(entry(2, "b"), entry(1, "a")),
        ]
        #expect(Set(stacks.map { digest($0) }).count == stacks.count)
        #expect(digest(try stack(entry(1, "a"))) == digest(stacks[1]))
    }
}
