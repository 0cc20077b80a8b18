import BelfryBytes
import BelfryCenter
import BelfryStore
import BelfrySystem
import Synchronization

/// The record of each center's last dispatched numbers that survives `kill -9` (decision 91).
///
/// Each center has a page of words: the first identifies the center, the others are its
/// ``DispatchMarks``. The first page identifies the life of the store that wrote them; only marks
/// of the previous life count.
final class DispatchWitness: Sendable {
    private let words: SharedWords
    private let freePages: Mutex<[Int]>

    /// The number of words in a page of memory.
    private static let pageWordCount = DispatchMarks.cellCount + 1
    /// The number of centers with a page; dispatches of the others are unknown after a kill.
    private static let pageLimit = 1_024
    private static let wordCount = pageWordCount * (pageLimit + 1)
    /// The first word of a file of this form.
    private static let form: UInt64 = 0x4265_6c66_7279_0001

    private static func name(_ data: borrowing DataLock) throws(StoreError) -> String {
        let identity = try data.identity()
        return "belfry-\(String(identity.device, radix: 16))-\(String(identity.file, radix: 16))"
    }

    /// The hash of a center's name and epoch; it identifies this life of the center.
    private static func key(of name: [UInt8], _ epoch: [UInt8]) -> UInt64 {
        let bytes = epoch + [0] + name
        return max(bytes.span.fnv1a, 1)
    }

    /// Makes the record for a new life of the store.
    ///
    /// - Parameter past: the record of the previous life, which this one replaces.
    init(_ past: Past, incarnation: UInt64) throws(SystemCallError) {
        words = try SharedWords(name: past.name, count: Self.wordCount)
        freePages = Mutex(Array((1...Self.pageLimit).reversed()))
        try words.reserve(0..<Self.pageWordCount)
        words.write(incarnation, at: 1)
        words.write(Self.form, at: 0)
    }

    /// Gives a center a page; nil when all are taken or there is no memory for one.
    func takePage(for center: borrowing NotificationCenter) -> Int? {
        guard let page = freePages.withLock({ $0.popLast() }) else { return nil }
        let start = page * Self.pageWordCount
        do throws(SystemCallError) {
            try words.reserve(start..<start + Self.pageWordCount)
        } catch {
            // Without a page, what this center dispatched is unknown after a kill, as without any
            // memory.
            leave(page)
            return nil
        }
        for (place, number) in center.earlierMarks.cells.enumerated() {
            words.write(number, at: start + 1 + place)
        }
        words.write(Self.key(of: center.name, center.epoch), at: start)
        return page
    }

    /// Takes back the page of a center that has ended.
    func give(back page: Int) {
        words.write(0, at: page * Self.pageWordCount)
        leave(page)
    }

    private func leave(_ page: Int) { freePages.withLock { $0.append(page) } }

    /// Writes the numbers that a center has dispatched above `sequence`.
    func note(_ center: borrowing NotificationCenter, above sequence: UInt64, on page: Int) {
        let start = page * Self.pageWordCount + 1
        let isKnown = center.forEachDispatched(above: sequence) { number, name in
            words.write(number, at: start)
            words.write(number, at: start + DispatchMarks.place(of: name))
        }
        if isKnown { return }
        for place in 0..<DispatchMarks.cellCount {
            words.write(center.sequence, at: start + place)
        }
    }

    /// The record that the previous life has left.
    struct Past {
        /// The name of the shared memory.
        let name: String
        private let incarnation: UInt64
        private var marks: [UInt64: DispatchMarks] = [:]

        /// Reads the record, if there is one.
        init(of data: borrowing DataLock) throws(StoreError) {
            name = try DispatchWitness.name(data)
            guard let words = LeftWords(name: name, count: wordCount),
                case let header = words.read(0..<2), header.first == form
            else {
                incarnation = 0
                return
            }
            incarnation = header[1]
            for page in 1...pageLimit {
                let start = page * pageWordCount
                guard let key = words.read(start..<start + 1).first, key != 0 else { continue }
                marks[key] = DispatchMarks(
                    cells: words.read(start + 1..<start + pageWordCount))
            }
        }

        /// The marks of a center; nil if the previous life did not record it.
        func marks(of image: CenterImage, _ facts: StoreImage) -> DispatchMarks? {
            guard incarnation > 0, incarnation == facts.incarnation &- 1, !facts.isCopied else {
                return nil
            }
            return marks[key(of: image.name, image.epoch)]
        }
    }
}
