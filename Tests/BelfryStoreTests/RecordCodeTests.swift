import BelfryCenter
import Testing

@testable import BelfryStore

@Suite("The code of records in rows (decision 127)")
struct RecordCodeTests {
    /// A change that puts a record, and the code that the present schema has for it.
    struct Golden: CustomTestStringConvertible {
        let kind: Change.RecordKind
        let change: Change
        let hexadecimal: String

        var testDescription: String { "\(kind)" }

        var code: [UInt8] {
            let digits = hexadecimal.utf8.map { UInt8($0 > 0x39 ? $0 - 0x57 : $0 - 0x30) }
            return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
        }
    }

    /// One record of each kind; another code of one needs another `StoreSchema.version`.
    static let ofVersion10 = [
        Golden(
            kind: .client, change: .client(Sample.client(6)),
            hexadecimal: """
                0600f9ffffffffffffffff01060b7072696e636970616c203601018ca0ab\
                fef962001e012a00
                """),
        Golden(
            kind: .observer, change: .observer(Sample.observer(5)),
            hexadecimal: """
                0501faffffffffffffffff010501054e616d65350100086e6f746966793a\
                350100011880d0acf30e010a010108616e73776572303a01046e65787402\
                0c0f8aa0abfef962000a00
                """),
        Golden(
            kind: .tombstone, change: .observerRemoved(serial: 4, Sample.tombstone(4)),
            hexadecimal: "04fbffffffffffffffff0104080102703404000000"),
        Golden(
            kind: .notification, change: .notification(Sample.notification(5)),
            hexadecimal: """
                05faffffffffffffffff01050a0106f9ffffffffffffffff01010a044e61\
                6d6501066f626a6563740114050505050505050505050505050505050505\
                0505
                """),
        Golden(
            kind: .action, change: .action(Sample.action(5, row: 4, responder: 3)),
            hexadecimal: """
                05040305616374343a010209616464726573732030096164647265737320\
                3100
                """),
        Golden(
            kind: .gap,
            change: .gap(
                observer: 7,
                GapRecord(reason: .unknown, count: nil, first: 300, last: GapRecord.openEnd)),
            hexadecimal: "070400ac02ffffffffffffffff7f"),
        Golden(
            kind: .queued, change: .queued(Sample.entry(5)),
            hexadecimal: """
                05faffffffffffffffff01050106f9ffffffffffffffff010a0201030764\
                656661756c74056d6f64653500000a010a010c01044e616d6501066f626a\
                65637401140505050505050505050505050505050505050505
                """),
        Golden(
            kind: .timer, change: .timer(Sample.timer(5)),
            hexadecimal: """
                05faffffffffffffffff01044e616d6501066f626a656374011405050505\
                050505050505050505050505050505050106f9ffffffffffffffff010101\
                020100020764656661756c74056d6f646535010e000112010001d2010000\
                000a0a01da0f000100010500010902000601000116
                """),
        Golden(
            kind: .ask, change: .ask(Sample.ask(13, shown: [1, 300], isOpen: false)),
            hexadecimal: """
                0df2ffffffffffffffff01044e616d6501066f626a65637401140d0d0d0d\
                0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d010ef1ffffffffffffffff011a01\
                087b2277223a31337d001aea0f0270310201ac02ac02010df2ffffffffff\
                ffffff010214313131313131313131313131313131313131313103027b7d\
                01096164647265737320302c0000
                """),
        Golden(
            kind: .value, change: .value(Sample.value(3, changed: 3)),
            hexadecimal: """
                086f626a6563742033167b226b223a227878787878787878222c226e223a\
                337d0386a0abfef962030001060000026b310000010206026b3201060190\
                4e00
                """),
        Golden(
            kind: .key, change: .key(answered),
            hexadecimal: """
                027031056b65792031feffffffffffffffff01010101ac02020301040000\
                000000000005000101070401090000
                """),
        Golden(
            kind: .archive, change: .archive(Sample.archive(5)),
            hexadecimal: """
                05064f726465722e00010a8080801001904e0106010007030802d00f0301\
                01
                """),
        Golden(
            kind: .archivedKind, change: .archivedKind(Sample.archivedKind(5)),
            hexadecimal: """
                02054e616d653501066f626a6563740105d00f06010104
                """),
        Golden(
            kind: .kept, change: .kept(Sample.kept(5)),
            hexadecimal: """
                0205faffffffffffffffff01050a0106f9ffffffffffffffff0101d80404\
                4e616d6501066f626a656374011405050505050505050505050505050505\
                05050505
                """),
    ]

    private static var answered: KeyRecord {
        var receipt = Receipt(id: NotificationID(high: 300, low: 2), sequence: 3)
        receipt.state = .queued
        receipt.matched = 4
        receipt.dequeued = 5
        let row = ReportRow(observer: 7, outcome: .refused(error: [9]))
        return KeyRecord(key: Sample.key(1).key, receipts: [receipt], reports: [[row]])
    }

    /// Records with something in each field, of every form that a kind has.
    private static func samples(of kind: Change.RecordKind) -> [Change] {
        (1...UInt64(60)).map { number in
            switch kind {
            case .client: .client(Sample.client(number))
            case .observer: .observer(Sample.observer(number))
            case .tombstone: .observerRemoved(serial: number, Sample.tombstone(number))
            case .notification: .notification(Sample.notification(number))
            case .action: .action(Sample.action(9, row: number, responder: 2))
            case .gap:
                .gap(
                    observer: number,
                    GapRecord(
                        reason: Gap.Reason.allCases[Int(number % 5)],
                        count: number % 3 == 0 ? nil : 5, first: number, last: .max))
            case .queued: .queued(Sample.entry(number, merged: 4))
            case .timer: .timer(Sample.timer(number, fired: 3))
            case .ask: .ask(Sample.ask(number, shown: [1, .max], isOpen: number % 4 == 0))
            case .value: .value(Sample.value(number, changed: number))
            case .key: .key(Sample.key(number, hasAsk: number % 2 == 0))
            case .archive: .archive(Sample.archive(UInt32(number)))
            case .archivedKind: .archivedKind(Sample.archivedKind(number))
            case .kept: .kept(Sample.kept(number))
            }
        }
    }

    private static func code(of change: Change) -> [UInt8] {
        var writer = RecordWriter()
        writer.write(change)
        return bytes(of: writer)
    }

    private static func bytes(of writer: RecordWriter) -> [UInt8] {
        writer.bytes.indices.map { writer.bytes[$0] }
    }

    private static func error(of kind: Change.RecordKind, _ code: [UInt8]) -> CodeError? {
        do throws(CodeError) {
            _ = try Change(kind, record: code)
            return nil
        } catch {
            return error
        }
    }

    @Test("the code of schema 10 is written and read", arguments: ofVersion10)
    func golden(_ golden: Golden) throws {
        #expect(StoreSchema.version == 10)
        #expect(Self.code(of: golden.change) == golden.code)
        #expect(try Change(golden.kind, record: golden.code) == golden.change)
    }

    @Test("each kind has a golden code")
    func completeness() {
        #expect(Set(Self.ofVersion10.map(\.kind)) == Set(Change.RecordKind.allCases))
    }

    @Test("a record is read as it was written", arguments: Change.RecordKind.allCases)
    func roundTrip(_ kind: Change.RecordKind) throws {
        var writer = RecordWriter()
        for change in Self.samples(of: kind) {
            writer.write(change)
            #expect(Self.bytes(of: writer) == Self.code(of: change))
            #expect(try Change(kind, record: Self.bytes(of: writer)) == change)
        }
    }

    @Test("a large record leaves nothing to the next one")
    func largeRecord() throws {
        var writer = RecordWriter()
        let small = Change.value(Sample.value(1))
        for byteCount in [200_000, 70_000, 10] {
            let large = Change.value(Sample.value(2, byteCount: byteCount))
            writer.write(large)
            #expect(try Change(.value, record: Self.bytes(of: writer)) == large)
            writer.write(small)
            #expect(Self.bytes(of: writer) == Self.code(of: small))
        }
    }

    @Test("code that is cut off or goes on is refused", arguments: Change.RecordKind.allCases)
    func lengths(_ kind: Change.RecordKind) {
        for change in Self.samples(of: kind).prefix(12) {
            let code = Self.code(of: change)
            for count in code.indices {
                #expect(Self.error(of: kind, Array(code[..<count])) != nil)
            }
            #expect(Self.error(of: kind, code + [0]) == .goesOn)
        }
    }

    @Test(
        "of code with other bytes a record is made, or an error",
        arguments: Change.RecordKind.allCases)
    func otherBytes(_ kind: Change.RecordKind) {
        var errorCount = 0
        for change in Self.samples(of: kind).prefix(6) {
            let code = Self.code(of: change)
            for place in code.indices {
                for byte: UInt8 in [0, 1, 2, 9, 0x7F, 0x80, 0xFF, code[place] ^ 1] {
                    var other = code
                    other[place] = byte
                    if Self.error(of: kind, other) != nil { errorCount += 1 }
                }
            }
        }
        #expect(errorCount > 100)
    }

    @Test("a count that the bytes cannot hold asks for no memory")
    func counts() {
        // The serial number of an action, its row and responder, its selector, and 2^62 addresses.
        let count: [UInt8] = Array(repeating: 0x80, count: 8) + [0x40]
        #expect(Self.error(of: .action, [1, 1, 1, 0, 0] + count) == .ended)
        #expect(Self.error(of: .client, [0xFF] + Array(repeating: 0xFF, count: 20)) == .malformed)
    }

    @Test("records that no center makes are refused")
    func nonsense() throws {
        let timer = Sample.timer(5)
        let action = Sample.action(9, row: 1, responder: 2)
        let daily = TimerTerms(start: .at(.min), period: 105)
        let refused: [(Change.RecordKind, Change)] = [
            (.timer, .timer(Self.timer(timer, options: PostOptions(style: .asap, timer: daily)))),
            (
                .action,
                .action(
                    ActionRecord(
                        sequence: 9, row: 1, responder: 2, selector: action.selector,
                        acknowledges: true, path: [], shown: []))
            ),
            (.timer, .timer(Self.timer(timer, options: nil))),
            (
                .timer,
                .timer(
                    Self.timer(
                        timer, options: PostOptions(timer: TimerTerms(period: 105))))
            ),
            (.timer, .timer(Self.timer(timer, options: PostOptions(style: .asap)))),
            (
                .timer,
                .timer(
                    Self.timer(
                        timer, options: PostOptions(style: .asap, timer: TimerTerms())))
            ),
            (
                .timer,
                .timer(
                    Self.timer(
                        timer,
                        options: PostOptions(
                            style: .asap,
                            timer: TimerTerms(start: .after(1), period: 5, isFarewell: true))))
            ),
        ]
        for (kind, change) in refused {
            #expect(Self.error(of: kind, Self.code(of: change)) == .malformed)
        }
        // A document that is not an object: the text of its one member is a number.
        let value = Self.code(of: .value(Sample.value(1)))
        let length = try #require(value.firstIndex(of: UInt8(ascii: "{"))) - 1
        let text = Int(value[length])
        var number = value
        number.replaceSubrange(length...length + text, with: [1, UInt8(ascii: "7")])
        #expect(Self.error(of: .value, number) == .malformed)
    }

    /// A timer with other options.
    private static func timer(_ record: TimerRecord, options: PostOptions?) -> TimerRecord {
        TimerRecord(
            post: Post(id: record.post.id, content: record.post.content, options: options),
            depth: record.depth, postedAt: record.postedAt, dueAt: record.dueAt,
            repetition: record.repetition)
    }

    @Test("the owner of a key and the clock of a notification are of one life")
    func life() throws {
        let key = Sample.key(1)
        let owned = KeyRecord(
            key: IdempotencyKey(
                principal: key.key.principal, text: key.key.text,
                requestHash: key.key.requestHash, form: key.key.form, owner: Owner(number: 7)),
            receipts: key.receipts, reports: key.reports)
        #expect(try Change(.key, record: Self.code(of: .key(owned))) == .key(key))
    }
}
