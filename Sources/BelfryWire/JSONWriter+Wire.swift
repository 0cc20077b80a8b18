public import BelfryCenter
public import BelfryJSON

// Members that several shapes have.
extension JSONWriter {
    mutating func observerID(_ key: String, _ serial: UInt64, into output: inout [UInt8]) {
        var text: [UInt8] = []
        IdentifierText.append(observer: serial, to: &text)
        member(key, string: text, into: &output)
    }

    mutating func clientID(_ key: String, _ id: UInt64, into output: inout [UInt8]) {
        var text: [UInt8] = []
        IdentifierText.append(client: id, to: &text)
        member(key, string: text, into: &output)
    }

    mutating func modeID(_ key: String, _ serial: UInt64, into output: inout [UInt8]) {
        var text: [UInt8] = []
        IdentifierText.append(mode: serial, to: &text)
        member(key, string: text, into: &output)
    }

    mutating func notificationID(
        _ key: String, _ id: NotificationID, into output: inout [UInt8]
    ) {
        var text: [UInt8] = []
        id.append(to: &text)
        member(key, string: text, into: &output)
    }

    /// Where the next page starts, if there is one.
    mutating func next(_ cursor: UInt64?, into output: inout [UInt8]) {
        guard let cursor else { return }
        var text: [UInt8] = []
        CursorText.append(cursor, to: &text)
        member("next", string: text, into: &output)
    }

    /// Behind which place in an order the next page starts, if there is one.
    mutating func next(_ last: RowKey?, into output: inout [UInt8]) {
        guard let last else { return }
        var text: [UInt8] = []
        CursorText.append(last, to: &text)
        member("next", string: text, into: &output)
    }

    mutating func strings(_ key: String, _ texts: [[UInt8]], into output: inout [UInt8]) {
        array(key, of: texts, into: &output) { text, output, writer in
            writer.string(text, into: &output)
        }
    }

    /// Writes a member with a time in milliseconds since 1970.
    public mutating func time(_ key: String, _ milliseconds: Int64, into output: inout [UInt8]) {
        var text: [UInt8] = []
        TimeText.append(milliseconds: milliseconds, to: &text)
        member(key, string: text, into: &output)
    }

    mutating func optionalString(_ key: String, _ text: [UInt8]?, into output: inout [UInt8]) {
        if let text {
            member(key, string: text, into: &output)
        } else {
            member(null: key, into: &output)
        }
    }

    mutating func array<Element>(
        _ key: String, of elements: [Element], into output: inout [UInt8],
        element: (Element, inout [UInt8], inout JSONWriter) -> Void
    ) {
        self.key(key, into: &output)
        beginArray(into: &output)
        for value in elements { element(value, &output, &self) }
        endArray(into: &output)
    }

    /// Writes a loss that an observer was told.
    mutating func told(_ told: ToldGap, into output: inout [UInt8]) {
        beginObject(into: &output)
        member("reason", string: told.gap.reason.text, into: &output)
        if let count = told.gap.count {
            member("lost", integer: count, into: &output)
        } else {
            member(null: "lost", into: &output)
        }
        member("firstSeq", integer: told.gap.first, into: &output)
        member("lastSeq", integer: told.gap.last, into: &output)
        time("toldAt", told.toldAt, into: &output)
        endObject(into: &output)
    }

    /// The members of `belfry.gap`.
    ///
    /// An unknown count is null, and so is the selector of a responder, as in a listing.
    mutating func gap(_ gap: Gap, into output: inout [UInt8]) {
        beginObject(into: &output)
        observerID("observer", gap.observer, into: &output)
        if gap.selector.isEmpty {
            member(null: "selector", into: &output)
        } else {
            member("selector", string: gap.selector, into: &output)
        }
        if let count = gap.lostCount {
            member("lost", integer: count, into: &output)
        } else {
            member(null: "lost", into: &output)
        }
        member("firstSeq", integer: gap.firstSequence, into: &output)
        member("lastSeq", integer: gap.lastSequence, into: &output)
        member("reason", string: gap.reason.text, into: &output)
        endObject(into: &output)
    }

    /// The members of `belfry.removed`.
    mutating func removal(
        of observer: UInt64, _ tombstone: Tombstone, into output: inout [UInt8]
    ) {
        beginObject(into: &output)
        observerID("observer", observer, into: &output)
        member("reason", string: tombstone.reason.text, into: &output)
        member("removedBy", string: tombstone.removedBy.text, into: &output)
        endObject(into: &output)
    }

    /// The members of `belfry.settled`.
    mutating func settlement(
        of id: NotificationID, observer: UInt64, _ reason: Settlement, into output: inout [UInt8]
    ) {
        beginObject(into: &output)
        notificationID("id", id, into: &output)
        observerID("observer", observer, into: &output)
        member("reason", string: reason.text, into: &output)
        endObject(into: &output)
    }
}

extension Gap.Reason {
    /// The word of the protocol for it.
    public var text: String {
        switch self {
        case .dropped: "dropped"
        case .coalesced: "coalesced"
        case .overflow: "overflow"
        case .expired: "expired"
        case .unknown: "unknown"
        }
    }
}
