import BelfryCenter
import BelfrySystem
import TestSupport
import Testing

@testable import BelfryStore

/// How the life of a store begins.
@Suite("The start of a store")
struct StoreStartTests {
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func open() throws -> StoreFile {
        try StoreFile(directory: directory.path, durability: .process)
    }

    private static let name = Sample.bytes("default")
    private static let center = StoreChange.center(name: name, .center(CenterRecord(epoch: [1])))

    @Test("a start without room reads all, writes nothing, and has numbers of its own")
    func noRoom() throws {
        do {
            var file = try open()
            try file.commit([Self.center, .observersReserved(through: 100)])
        }
        let names = ["belfry.db", "belfry.db-wal", "belfry.lock"]
        let before = try names.map { try directory.bytes(of: $0) }
        var images: [StoreImage] = []
        for begins in [false, false, true] {
            let data = try DataLock(directory: directory.path)
            let text = try data.file.start(byteCount: LogWitness.byteCount)
            var image = StoreImage()
            let opened = try StoreOpening.open(
                data.path, in: data.directory, durability: .process, limits: StoreLimits(),
                witness: LogWitness(text: text), acceptsDamage: false, begins: begins,
                progress: { _ in }, telling: { image.take($0) }, starting: { [.epochsRenewed] })
            let waiting: [StoreChange] =
                begins
                ? []
                : [
                    .lifeBegan(incarnation: 2), .epochsRenewed,
                ]
            #expect(opened.unwritten == waiting)
            #expect(opened.incarnation == 2)
            if !begins { #expect(try names.map { try directory.bytes(of: $0) } == before) }
            images.append(image)
        }
        #expect(images.map(\.isCopied) == [true, true, false])
        #expect(images.allSatisfy { $0.centers.map(\.name) == [Self.name] })
        #expect(images[2].observersReserved == 100)
        for image in images[..<2] {
            #expect(image.observersReserved >= 1 << 40 && image.clientsReserved >= 1 << 40)
        }
        #expect(images[0].observersReserved != images[1].observersReserved)
    }

    @Test("the changes of a start are stored with the beginning of its life")
    func changesOfStart() throws {
        do {
            var file = try open()
            try file.commit([Self.center])
        }
        do {
            var told = 0
            _ = try StoreFile(
                directory: directory.path, durability: .process, telling: { _ in told += 1 },
                starting: {
                    #expect(told == 2, "all state is told before")
                    return [.center(name: Self.name, .sequenceReserved(through: 77))]
                })
        }
        var next = try open()
        #expect(try next.load().centers.map(\.sequence) == [77])
    }
}
