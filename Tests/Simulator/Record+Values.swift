import BelfryCenter
import BelfryJSON

// Writes to values in a record of commands.

extension CommandWriter {
    mutating func write(_ value: ValueWrite) {
        write(value.id)
        write(value.object)
        write(value.path.text)
        write(value.condition.matches)
        write(value.condition.noneMatches)
        write(value.client)
        write(value.canStore)
        write(value.byteRoom)
    }

    private mutating func write(_ tags: ValueCondition.Tags?) {
        guard let tags else { return bytes.append(0) }
        switch tags {
        case .any: bytes.append(1)
        case .some(let tags):
            bytes.append(2)
            write(tags.count)
            for tag in tags {
                write(tag.high)
                write(tag.low)
            }
        }
    }

    mutating func write(_ document: Document) { write(document.bytes) }

    mutating func write(_ lifetime: ValueLifetime) {
        write(lifetime.timeToLive)
        write(lifetime.lease)
    }

    mutating func write(_ terms: ValueTerms) {
        write(terms.pathText)
        bytes.append(terms.flags)
    }
}

extension CommandReader {
    mutating func valueWrite() -> ValueWrite {
        let id = id()
        var write = ValueWrite(id: id, object: text(), path: path())
        write.condition.matches = tags()
        write.condition.noneMatches = tags()
        write.client = optionalWord()
        write.canStore = flag()
        write.byteRoom = count()
        return write
    }

    private mutating func tags() -> ValueCondition.Tags? {
        switch byte() {
        case 0: nil
        case 1: .any
        default: .some(list { ValueTag(high: $0.word(), low: $0.word()) })
        }
    }

    private mutating func path() -> DocumentPath {
        guard let path = try? DocumentPath.parse(text().span) else {
            preconditionFailure("a record has key paths")
        }
        return path
    }

    mutating func document(isPatch: Bool) -> Document {
        let text = text()
        let document =
            isPatch ? try? Document.parsePatch(text.span) : try? Document.parse(text.span)
        guard let document else { preconditionFailure("a record has documents") }
        return document
    }

    mutating func lifetime() -> ValueLifetime {
        ValueLifetime(timeToLive: optionalNumber(), lease: optionalNumber())
    }

    mutating func valueTerms() -> ValueTerms {
        guard let terms = ValueTerms(pathText: text(), flags: byte()) else {
            preconditionFailure("a record has key paths")
        }
        return terms
    }
}
