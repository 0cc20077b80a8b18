import BelfryBytes

/// Reads a text into the tree of a document; it goes no deeper than the limit.
struct DocumentParser {
    private let keepsNulls: Bool
    private let depthLimit: Int
    private var scanner = JSONScanner()
    /// Where strings with escapes are looked at.
    private var scratch: [UInt8] = []

    init(keepsNulls: Bool, depthLimit: Int) {
        self.keepsNulls = keepsNulls
        self.depthLimit = depthLimit
    }

    mutating func parse(_ text: Span<UInt8>) throws(JSONError) -> DocumentNode {
        let node = try node(in: text, depth: 0)
        try scanner.finish(in: text)
        return node
    }

    /// A member as the text has it: in its order, and also where it is null.
    private struct Entry {
        let key: [UInt8]
        let offset: Int
        /// None for one inside an array.
        let node: DocumentNode?
    }

    /// The next value; `depth` tells how many objects and arrays are open around it.
    private mutating func node(
        in text: Span<UInt8>, depth: Int
    ) throws(JSONError) -> DocumentNode {
        switch try scanner.peekKind(in: text) {
        case .object:
            return .object(try object(in: text, depth: depth + 1))
        case .array, .string, .number, .boolean, .null:
            var leaf: [UInt8] = []
            try copyValue(in: text, into: &leaf, depth: depth)
            return .leaf(leaf)
        }
    }

    private mutating func object(
        in text: Span<UInt8>, depth: Int
    ) throws(JSONError) -> DocumentObject {
        var entries: [Entry] = []
        try open(.openBrace, depth: depth)
        if try scanner.skipByte(.closeBrace, in: text) { return DocumentObject() }
        repeat {
            let key = try key(in: text)
            let node = try node(in: text, depth: depth)
            entries.append(Entry(key: key.text, offset: key.range.lowerBound, node: node))
        } while try scanner.skipByte(.comma, in: text)
        try close(.closeBrace, in: text)
        var members: [DocumentObject.Member] = []
        members.reserveCapacity(entries.count)
        for entry in try Self.sorted(entries) {
            guard let node = entry.node, keepsNulls || !node.isNull else { continue }
            members.append(DocumentObject.Member(key: entry.key, node: node))
        }
        return DocumentObject(sorted: members)
    }

    /// Copies a leaf, or what is in an array, without white space.
    private mutating func copyValue(
        in text: Span<UInt8>, into leaf: inout [UInt8], depth: Int
    ) throws(JSONError) {
        let kind = try scanner.peekKind(in: text)
        let start = scanner.index
        switch kind {
        case .object:
            return try copyObject(in: text, into: &leaf, depth: depth + 1)
        case .array:
            return try copyArray(in: text, into: &leaf, depth: depth + 1)
        case .string:
            try check(try scanner.skipString(in: text), of: text)
        case .number, .boolean, .null:
            _ = try scanner.skipValue(in: text)
        }
        leaf.append(text.extracting(start..<scanner.index))
    }

    private mutating func copyArray(
        in text: Span<UInt8>, into leaf: inout [UInt8], depth: Int
    ) throws(JSONError) {
        try open(.openBracket, depth: depth)
        leaf.append(.openBracket)
        if !(try scanner.skipByte(.closeBracket, in: text)) {
            var isFirst = true
            repeat {
                if !isFirst { leaf.append(.comma) }
                isFirst = false
                try copyValue(in: text, into: &leaf, depth: depth)
            } while try scanner.skipByte(.comma, in: text)
            try close(.closeBracket, in: text)
        }
        leaf.append(.closeBracket)
    }

    /// Copies an object inside an array, whose members stay as they are; none may come twice.
    private mutating func copyObject(
        in text: Span<UInt8>, into leaf: inout [UInt8], depth: Int
    ) throws(JSONError) {
        try open(.openBrace, depth: depth)
        leaf.append(.openBrace)
        if !(try scanner.skipByte(.closeBrace, in: text)) {
            var entries: [Entry] = []
            repeat {
                if !entries.isEmpty { leaf.append(.comma) }
                let key = try key(in: text)
                entries.append(Entry(key: key.text, offset: key.range.lowerBound, node: nil))
                leaf.append(text.extracting(key.range))
                leaf.append(.colon)
                try copyValue(in: text, into: &leaf, depth: depth)
            } while try scanner.skipByte(.comma, in: text)
            try close(.closeBrace, in: text)
            _ = try Self.sorted(entries)
        }
        leaf.append(.closeBrace)
    }

    private mutating func open(_ opener: UInt8, depth: Int) throws(JSONError) {
        guard depth <= depthLimit else {
            throw .depthLimit(limit: depthLimit, at: scanner.index)
        }
        scanner.index += 1
    }

    private mutating func close(_ closer: UInt8, in text: Span<UInt8>) throws(JSONError) {
        guard try scanner.skipByte(closer, in: text) else {
            throw .unexpectedByte(at: scanner.index)
        }
    }

    /// The key of a member, unescaped, and its range with the quotation marks.
    private mutating func key(
        in text: Span<UInt8>
    ) throws(JSONError) -> (text: [UInt8], range: Range<Int>) {
        let string = try scanner.skipKey(in: text)
        var key: [UInt8] = []
        try JSONReader.unescape(string, of: text, into: &key)
        return (key, string.content.lowerBound - 1..<string.content.upperBound + 1)
    }

    /// Looks for lone surrogates.
    private mutating func check(
        _ string: JSONStringRange, of text: Span<UInt8>
    ) throws(JSONError) {
        guard string.hasEscapes else { return }
        scratch.removeAll(keepingCapacity: true)
        try JSONReader.unescape(string, of: text, into: &scratch)
    }

    /// The members in the order of their keys.
    ///
    /// - Throws: `duplicateMember`.
    private static func sorted(_ entries: [Entry]) throws(JSONError) -> [Entry] {
        // Members in order, as in the canonical bytes, are not sorted again.
        let areInOrder = entries.indices.dropFirst().allSatisfy {
            DocumentObject.compare(entries[$0 - 1].key, entries[$0].key) == .orderedBefore
        }
        if areInOrder { return entries }
        let entries = entries.sorted {
            DocumentObject.compare($0.key, $1.key) == .orderedBefore
        }
        for index in entries.indices.dropFirst() where entries[index].key == entries[index - 1].key
        {
            // The order of equal keys is not told.
            throw .duplicateMember(at: max(entries[index].offset, entries[index - 1].offset))
        }
        return entries
    }
}
