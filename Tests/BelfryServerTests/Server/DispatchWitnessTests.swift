import BelfryCenter
import BelfryStore
import Foundation
import Testing

@testable import BelfryServer

@Suite("DispatchWitness: what a kill leaves (decision 91)")
struct DispatchWitnessTests {
    /// A data directory of its own, with what it leaves in memory.
    private struct Place: ~Copyable {
        let path = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString).path
        let data: DataLock

        init() throws { data = try DataLock(directory: path) }

        func past() throws -> DispatchWitness.Past { try DispatchWitness.Past(of: data) }

        deinit {
            if let past = try? DispatchWitness.Past(of: data) {
                try? FileManager.default.removeItem(atPath: "/dev/shm/\(past.name)")
            }
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    private func center(_ epoch: String = "e1", limits: CenterLimits = CenterLimits())
        -> BelfryCenter.NotificationCenter
    {
        BelfryCenter.NotificationCenter(
            name: Array("team".utf8), epoch: Array(epoch.utf8), limits: limits,
            seed: HashSeed(1, 2))
    }

    private func image(_ epoch: String = "e1") -> CenterImage {
        CenterImage(name: Array("team".utf8), epoch: Array(epoch.utf8), isComplete: false)
    }

    private func facts(_ incarnation: UInt64, isCopied: Bool = false) -> StoreImage {
        var facts = StoreImage()
        facts.incarnation = incarnation
        facts.isCopied = isCopied
        return facts
    }

    private func post(_ names: String..., to center: inout BelfryCenter.NotificationCenter) {
        var effects = Effects()
        for name in names {
            let number = center.appliedIndex + 1
            let command = Command(
                id: CommandID(node: 0, incarnation: 1, counter: number),
                time: CommandTime(wallMilliseconds: 1, monotonicNanoseconds: 1),
                action: .post(
                    Post(
                        id: NotificationID(high: 1, low: number),
                        content: Notification.Content(
                            name: Array(name.utf8), object: nil, userInfo: nil)), PostTerms()))
            center.apply(command, at: number, into: &effects)
        }
    }

    @Test("the next life knows what the last one noted, and no other life does")
    func lives() throws {
        let place = try Place()
        let witness = try DispatchWitness(place.past(), incarnation: 4)
        var center = center()
        let page = try #require(witness.takePage(for: center))
        post("a", "b", "a", to: &center)
        witness.note(center, above: 0, on: page)
        let past = try place.past()
        let marks = try #require(past.marks(of: image(), facts(5)))
        #expect(marks.cells[0] == 3)
        #expect(marks.cells[DispatchMarks.place(of: Array("b".utf8).span)] == 2)
        #expect(marks.cells[DispatchMarks.place(of: Array("a".utf8).span)] == 3)
        #expect(past.marks(of: image(), facts(4)) == nil)
        #expect(past.marks(of: image(), facts(6)) == nil)
        #expect(past.marks(of: image(), facts(5, isCopied: true)) == nil)
        #expect(past.marks(of: image("e2"), facts(5)) == nil)
    }

    @Test("a center that has ended leaves nothing, and its page serves another")
    func ended() throws {
        let place = try Place()
        let witness = try DispatchWitness(place.past(), incarnation: 1)
        let page = try #require(witness.takePage(for: center()))
        witness.give(back: page)
        #expect(try place.past().marks(of: image(), facts(2)) == nil)
        #expect(witness.takePage(for: center("e2")) == page)
        #expect(try place.past().marks(of: image("e2"), facts(2)) == DispatchMarks(all: 0))
    }

    @Test("1,024 centers have a page, and one more has none")
    func limit() throws {
        let place = try Place()
        let witness = try DispatchWitness(place.past(), incarnation: 1)
        let center = center()
        for _ in 0..<1_024 { #expect(witness.takePage(for: center) != nil) }
        #expect(witness.takePage(for: center) == nil)
    }

    @Test("what the ring has forgotten within one command marks all names")
    func pastTheRing() throws {
        let place = try Place()
        let witness = try DispatchWitness(place.past(), incarnation: 1)
        var limits = CenterLimits()
        limits.replayCountLimit = 1
        var center = center(limits: limits)
        let page = try #require(witness.takePage(for: center))
        post("a", "b", to: &center)
        witness.note(center, above: 0, on: page)
        #expect(try place.past().marks(of: image(), facts(2)) == DispatchMarks(all: 2))
    }
}
