import BelfryBytes

/// The members of a userInfo, found once, however many conditions ask for them.
///
/// It has the places of keys and values. The text is handed to each method and must be the same.
public struct JSONMembers: Sendable {
    /// The most members that a look-up compares one by one; more have a table.
    static let fewCount = 32
    /// The most members whose storage is kept for the next text.
    static let keptCount = 4_096
    /// The most bytes of a text; a longer one has no values.
    static let byteLimit = Int(Int32.max)

    /// The key of a member, or of a path that leads to one.
    struct Key: Sendable {
        /// Its first eight bytes, the first one lowest; zeros behind a shorter one.
        let word: UInt64
        let start: UInt32
        let byteCount: UInt32

        init(_ range: Range<Int>, in bytes: Span<UInt8>) {
            word = bytes.firstWord(of: range)
            start = UInt32(truncatingIfNeeded: range.lowerBound)
            byteCount = UInt32(truncatingIfNeeded: range.count)
        }

        var range: Range<Int> { Int(start)..<Int(start) + Int(byteCount) }
    }

    private struct Member: Sendable {
        let word: UInt64
        /// The number of the object that it is in, and below it the count of its key's bytes.
        let place: UInt64
        /// The index of its key in the text, or behind the text in the unescaped keys.
        let keyStart: UInt32
        let valueStart: UInt32

        @inline(__always)
        init(_ word: UInt64, _ object: UInt64, _ key: Range<Int>, valueStart: Int) {
            self.word = word
            place = object << 32 | UInt64(truncatingIfNeeded: key.upperBound &- key.lowerBound)
            keyStart = UInt32(truncatingIfNeeded: key.lowerBound)
            self.valueStart = UInt32(truncatingIfNeeded: valueStart)
        }

        /// Whether no key is like that of the member.
        var isNowhere: Bool { place & 0xFFFF_FFFF == 0xFFFF_FFFF }
    }

    /// All members of objects that are in no array, in the order of the text.
    private var members: [Member] = []
    /// The keys that have escapes, without them.
    private var unescapedKeys: [UInt8] = []
    /// The number of the member in each bucket, from 1 on, or 0; empty for few members.
    private var buckets: [UInt32] = []

    /// The members of nothing.
    public init() {}

    /// The bytes of its blocks.
    public var footprint: Int {
        JSONConditionPlan.block(of: members) + JSONConditionPlan.block(of: unescapedKeys)
            + JSONConditionPlan.block(of: buckets)
    }

    /// Finds the members of a userInfo, which has been validated before; another text may trap.
    ///
    /// Nil, and what is no object, have none. Of equal keys in an object the last counts.
    ///
    /// - Complexity: one pass. Up to 20 KiB nothing is allocated once the storage has grown.
    public mutating func read(_ userInfo: Span<UInt8>?) {
        members.removeAll(keepingCapacity: members.capacity <= Self.keptCount)
        unescapedKeys.removeAll(keepingCapacity: unescapedKeys.capacity <= 16 * Self.keptCount)
        buckets.removeAll(keepingCapacity: buckets.capacity <= 4 * Self.keptCount)
        guard let userInfo, userInfo.count <= Self.byteLimit else { return }
        do throws(JSONError) {
            try findMembers(in: userInfo)
        } catch {
            // Nobody has validated this text.
            members.removeAll()
        }
        if members.count > Self.fewCount { makeTable(in: userInfo) }
    }

    private mutating func findMembers(in text: Span<UInt8>) throws(JSONError) {
        var unescapedKeys: [UInt8] = []
        swap(&unescapedKeys, &self.unescapedKeys)
        var fault: JSONError?
        // The shortest member has five bytes: `"":1,`. Pages that are not used take no memory.
        members.append(addingCapacity: text.count / 5 + 1) { members in
            do throws(JSONError) {
                try Self.findMembers(in: text, &members, &unescapedKeys)
            } catch {
                fault = error
            }
        }
        swap(&unescapedKeys, &self.unescapedKeys)
        if let fault { throw fault }
    }

    private static func findMembers(
        in text: Span<UInt8>, _ members: inout OutputSpan<Member>,
        _ unescapedKeys: inout [UInt8]
    ) throws(JSONError) {
        var index = 0
        guard try JSONScanner.significantByte(in: text, at: &index) == .openBrace else { return }
        index &+= 1
        // The number of the object around, which is that of its member; 0 is the outermost one.
        var object: UInt64 = 0
        while true {
            var byte = try JSONScanner.significantByte(in: text, at: &index)
            if byte == .comma {
                index &+= 1
                _ = try JSONScanner.significantByte(in: text, at: &index)
            } else if byte == .closeBrace {
                index &+= 1
                if object == 0 { return }
                object = members.span[Int(object) - 1].place >> 32
                continue
            }
            let key = text.validString(at: index)
            index = key.content.upperBound &+ 1
            guard try JSONScanner.significantByte(in: text, at: &index) == .colon else {
                throw .unexpectedByte(at: index)
            }
            index &+= 1
            byte = try JSONScanner.significantByte(in: text, at: &index)
            if key.hasEscapes {
                append(key, object, valueStart: index, in: text, &members, &unescapedKeys)
            } else {
                members.append(Member(key.word, object, key.content, valueStart: index))
            }
            if byte == .quote {
                index = text.validString(at: index).content.upperBound &+ 1
            } else if byte == .openBrace {
                index &+= 1
                object = UInt64(members.count)
            } else {
                var scanner = JSONScanner(
                    depthLimit: JSONNesting.greatestLimit, startingAt: index)
                index = try scanner.skipValue(in: text).upperBound
            }
        }
    }

    /// Appends a member whose key has escapes: without them it lies among others of its kind.
    @inline(never)
    private static func append(
        _ key: JSONValidString, _ object: UInt64, valueStart: Int, in text: Span<UInt8>,
        _ members: inout OutputSpan<Member>, _ unescapedKeys: inout [UInt8]
    ) {
        let start = unescapedKeys.count
        do throws(JSONError) {
            let string = JSONStringRange(content: key.content, hasEscapes: true)
            try JSONReader.unescape(string, of: text, into: &unescapedKeys)
        } catch {
            // A key with half a surrogate pair is like no other one.
            unescapedKeys.removeLast(unescapedKeys.count - start)
            members.append(Member(0, object, 0..<Int(UInt32.max), valueStart: valueStart))
            return
        }
        let word = unescapedKeys.span.firstWord(of: start..<unescapedKeys.count)
        let range = text.count + start..<text.count + unescapedKeys.count
        members.append(Member(word, object, range, valueStart: valueStart))
    }

    // MARK: Looking up

    /// The index of the value at the end of some keys of a plan; nil where none is.
    @inline(__always)
    func value(
        at keys: Range<Int>, of plan: borrowing JSONConditionPlan, in text: Span<UInt8>
    ) -> Int? {
        var (object, valueStart) = (0, 0)
        for index in keys {
            guard let found = find(plan.keys[index], of: plan, in: object, text) else { return nil }
            object = found &+ 1
            valueStart = Int(members[found].valueStart)
        }
        return valueStart
    }

    /// The index of the member with a key in an object; nil where there is none.
    @inline(__always)
    private func find(
        _ key: Key, of plan: borrowing JSONConditionPlan, in object: Int, _ text: Span<UInt8>
    ) -> Int? {
        guard buckets.isEmpty else { return findInTable(key, of: plan, in: object, text) }
        let place = UInt64(truncatingIfNeeded: object) << 32 | UInt64(key.byteCount)
        for index in members.indices.reversed()
        where members[index].word == key.word && members[index].place == place {
            if key.byteCount <= 8 || hasKey(key, of: plan, at: index, text) { return index }
        }
        return nil
    }

    /// Whether a member has a key that is longer than the word which it has in common with it.
    @inline(never)
    private func hasKey(
        _ key: Key, of plan: borrowing JSONConditionPlan, at index: Int, _ text: Span<UInt8>
    ) -> Bool {
        bytesAreEqual(self.key(of: members[index], text), plan.bytes.span.extracting(key.range))
    }

    @inline(never)
    private func findInTable(
        _ key: Key, of plan: borrowing JSONConditionPlan, in object: Int, _ text: Span<UInt8>
    ) -> Int? {
        let place = UInt64(truncatingIfNeeded: object) << 32 | UInt64(key.byteCount)
        let bytes = plan.bytes.span.extracting(key.range)
        let number = buckets[bucket(of: bytes, key.word, at: place, in: buckets, text)]
        return number == 0 ? nil : Int(number) &- 1
    }

    @_lifetime(borrow self, copy text)
    private func key(of member: Member, _ text: Span<UInt8>) -> Span<UInt8> {
        let (start, count) = (Int(member.keyStart), Int(member.place & 0xFFFF_FFFF))
        if start < text.count { return text.extracting(start..<start + count) }
        return unescapedKeys.span.extracting(start - text.count..<start - text.count + count)
    }

    // MARK: Many members

    /// Makes the table, in which a key takes the place of an equal one before it.
    private mutating func makeTable(in text: Span<UInt8>) {
        var buckets: [UInt32] = []
        swap(&buckets, &self.buckets)
        let count = 2 << (Int.bitWidth - members.count.leadingZeroBitCount)
        buckets.append(contentsOf: repeatElement(0, count: count))
        for index in members.indices where !members[index].isNowhere {
            let member = members[index]
            let bucket = bucket(
                of: key(of: member, text), member.word, at: member.place, in: buckets, text)
            buckets[bucket] = UInt32(truncatingIfNeeded: index + 1)
        }
        swap(&buckets, &self.buckets)
    }

    /// The bucket that has a key with this first word or, if none has, is free for it.
    @inline(__always)
    private func bucket(
        of key: Span<UInt8>, _ word: UInt64, at place: UInt64, in buckets: [UInt32],
        _ text: Span<UInt8>
    ) -> Int {
        let mask = buckets.count &- 1
        var bucket = Self.hash(key, word, at: place) & mask
        while buckets[bucket] != 0 {
            let member = members[Int(buckets[bucket]) &- 1]
            if member.word == word, member.place == place,
                key.count <= 8 || bytesAreEqual(self.key(of: member, text), key)
            {
                break
            }
            bucket = (bucket &+ 1) & mask
        }
        return bucket
    }

    /// Hashes a key in its object by secrets of the process, so that nobody chooses collisions.
    @inline(__always)
    private static func hash(_ key: Span<UInt8>, _ word: UInt64, at place: UInt64) -> Int {
        let (first, second) = secrets
        var hash = folded(word ^ first, place ^ second)
        var index = 8
        while index < key.count {
            // The last word has bytes of the one before it.
            hash = folded(hash ^ key.word(at: min(index, key.count &- 8)) ^ first, second)
            index &+= 8
        }
        return Int(truncatingIfNeeded: hash)
    }

    /// Both halves of a product, as the hashes of Wang Yi have them.
    @inline(__always)
    private static func folded(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    private static let secrets = (secret(1), secret(2))

    /// A number that differs in each process, like the seed of `Hasher`.
    private static func secret(_ number: Int) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(number)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
