import BelfryNATS

/// A question to the server; the subject of its answer identifies it, so no table is kept.
///
/// A question that a later one of the same kind may replace carries a number.
enum Inquiry: Equatable {
    /// STREAM.CREATE, and STREAM.INFO of a stream that has other settings.
    case create(NATSStream)
    case look(NATSStream)
    /// An entry was published.
    case append(EntryName)
    /// A batch of a read, and the end of the log behind it.
    case batch(read: UInt64)
    case end(read: UInt64)
    /// The bounds of the log, before entries up to an index are given up; and giving them up.
    case bounds(trim: UInt64)
    case purge
    /// The size of the log and its leader; and the last whole snapshot.
    case state
    case newest
    /// A piece of a snapshot was published; the last whole one; the whole was published.
    case piece(save: UInt64, place: UInt64)
    case check(save: UInt64)
    case whole(save: UInt64)
    /// The last whole snapshot is asked for, and a piece of it.
    case last(load: UInt64)
    case part(load: UInt64, place: UInt64)

    /// Whether the answer is stored data, and not a few words of JetStream.
    var bringsData: Bool {
        switch self {
        case .batch, .part, .check, .last, .newest: true
        case .create, .look, .append, .end, .bounds, .purge, .state, .piece, .whole: false
        }
    }

    /// The tokens behind the inbox.
    private var tokens: (letter: Character, numbers: [UInt64]) {
        switch self {
        case .create(let stream): ("c", [stream.rawValue])
        case .look(let stream): ("k", [stream.rawValue])
        case .append(let name): ("a", [name.life, name.number, name.attempt])
        case .batch(let read): ("b", [read])
        case .end(let read): ("e", [read])
        case .bounds(let index): ("t", [index])
        case .purge: ("p", [])
        case .state: ("i", [])
        case .newest: ("n", [])
        case .piece(let save, let place): ("s", [save, place])
        case .check(let save): ("v", [save])
        case .whole(let save): ("w", [save])
        case .last(let load): ("l", [load])
        case .part(let load, let place): ("m", [load, place])
        }
    }

    /// The subject for the answer, below an inbox.
    func subject(below inbox: String) -> Subject {
        let (letter, numbers) = tokens
        let text = numbers.reduce("\(inbox).\(letter)") { "\($0).\($1)" }
        guard let subject = try? Subject(text) else {
            preconditionFailure("letters, digits and dots make a subject")
        }
        return subject
    }

    /// Reads the subject of an answer; nil for one that is none.
    init?(subject: [UInt8], inbox: String) {
        let prefix = inbox.utf8
        guard subject.starts(with: prefix) else { return nil }
        let tokens = subject.dropFirst(prefix.count)
            .split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard tokens.count >= 2, tokens.count <= 5, tokens[0].isEmpty, tokens[1].count == 1,
            let letter = tokens[1].first
        else { return nil }
        var numbers: [UInt64] = []
        for token in tokens[2...] {
            // A number has one form, so that no other subject means the same.
            guard let number = UInt64(String(decoding: token, as: UTF8.self)),
                token.elementsEqual("\(number)".utf8)
            else { return nil }
            numbers.append(number)
        }
        self.init(Character(Unicode.Scalar(letter)), numbers)
    }

    private init?(_ letter: Character, _ numbers: [UInt64]) {
        switch (letter, numbers.count) {
        case ("c", 1), ("k", 1):
            guard let stream = NATSStream(rawValue: numbers[0]) else { return nil }
            self = letter == "c" ? .create(stream) : .look(stream)
        case ("a", 3):
            self = .append(
                EntryName(life: numbers[0], number: numbers[1], attempt: numbers[2]))
        case ("b", 1): self = .batch(read: numbers[0])
        case ("e", 1): self = .end(read: numbers[0])
        case ("t", 1): self = .bounds(trim: numbers[0])
        case ("p", 0): self = .purge
        case ("i", 0): self = .state
        case ("n", 0): self = .newest
        case ("s", 2): self = .piece(save: numbers[0], place: numbers[1])
        case ("v", 1): self = .check(save: numbers[0])
        case ("w", 1): self = .whole(save: numbers[0])
        case ("l", 1): self = .last(load: numbers[0])
        case ("m", 2): self = .part(load: numbers[0], place: numbers[1])
        default: return nil
        }
    }
}
