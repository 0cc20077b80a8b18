// The names that a reader takes for another one, or that a typist writes in its place.

extension NotificationCenter {
    /// The bytes of names that `explain` compares letter by letter for each row of its limit.
    static let spellingBytesPerRow = 4
    /// Names whose lengths differ by more are not compared: that is two letters, and some blanks.
    static let spellingSlack = 8

    /// The channels near a name, with their differences.
    struct NearChannels {
        var reasons: [UInt32: NearMiss.Reason] = [:]
        /// Whether some were not compared, because that would have been too much work.
        var isPartial = false
    }

    /// Finds the observed channels whose names are near this one, among the first ones.
    func channelsNear(_ name: [UInt8], scanLimit: Int) -> NearChannels {
        var near = NearChannels()
        near.isPartial = index.channels.indexLimit > scanLimit
        let isASCII = Self.isASCII(name)
        let spelling = Self.spelling(of: name)
        var textsLeft = min(Self.unicodeScanLimit, scanLimit / 10)
        var bytesLeft = scanLimit * Self.spellingBytesPerRow
        for position in 0..<min(index.channels.indexLimit, scanLimit)  // Share: listings
        where index.channels.isObserved(at: UInt32(position)) {
            let candidate = index.channels.name(at: UInt32(position))
            guard candidate != name else { continue }
            if isASCII, Self.differsOnlyInCase(name, candidate) {
                near.reasons[UInt32(position)] = .nameDiffersInCase
                continue
            }
            if !isASCII, !Self.isASCII(candidate) {
                guard textsLeft > 0 else {
                    near.isPartial = true
                    continue
                }
                textsLeft -= 1
                if let reason = Self.nearness(of: candidate, to: name) {
                    near.reasons[UInt32(position)] = reason
                    continue
                }
            }
            guard abs(candidate.count - name.count) <= Self.spellingSlack else { continue }
            bytesLeft -= candidate.count
            guard bytesLeft >= 0, max(candidate.count, name.count) <= EditDistance.byteLimit else {
                near.isPartial = true
                continue
            }
            let other = Self.spelling(of: candidate)
            if other == spelling {
                near.reasons[UInt32(position)] = .nameDiffersInBlanks
            } else if EditDistance.isSlip(Self.singular(other).span, Self.singular(spelling).span) {
                near.reasons[UInt32(position)] = .nameDiffersInSpelling
            }
        }
        return near
    }

    /// Compares as people read: by canonical equivalence, as Swift's strings do.
    private static func nearness(of candidate: [UInt8], to name: [UInt8]) -> NearMiss.Reason? {
        let text = String(decoding: name, as: UTF8.self)
        let other = String(decoding: candidate, as: UTF8.self)
        if other == text { return .nameDiffersInUnicodeForm }
        return other.lowercased() == text.lowercased() ? .nameDiffersInCase : nil
    }

    private static func isASCII(_ bytes: [UInt8]) -> Bool {
        for byte in bytes where byte >= 0x80 { return false }  // Bound: bytes
        return true
    }

    private static func differsOnlyInCase(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        // Bound: bytes
        for index in left.indices where lowercase(left[index]) != lowercase(right[index]) {
            return false
        }
        return true
    }

    /// A name in lower case and without blanks.
    private static func spelling(of name: [UInt8]) -> [UInt8] {
        var letters: [UInt8] = []
        letters.reserveCapacity(name.count)
        // Bound: bytes
        for byte in name where byte != UInt8(ascii: " ") { letters.append(lowercase(byte)) }
        return letters
    }

    /// The spelling with the one plural that differs from its singular in more than two letters.
    private static func singular(_ spelling: [UInt8]) -> [UInt8] {
        guard spelling.count > 4, spelling.suffix(3).elementsEqual("ies".utf8) else {
            return spelling
        }
        return spelling.dropLast(3) + [UInt8(ascii: "y")]
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }
}
