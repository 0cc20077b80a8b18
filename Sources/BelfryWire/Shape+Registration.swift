internal import BelfryBytes
internal import BelfryCenter
internal import BelfryJSON

// The first answers to a client are written by hand, as the texts between their values are known.

extension Shape {
    /// Appends the filter and the terms of an observer, as members behind other members.
    static func append(filterOf row: ObserverRow, center: [UInt8], to output: inout [UInt8]) {
        output.append(literal: #","center":"#)
        JSONWriter.append(string: center, to: &output)
        if let terms = row.role.filter {
            append(terms, of: row, to: &output)
        } else {
            output.append(literal: #","name":"#)
            append(optional: row.name, to: &output)
            output.append(literal: #","object":"#)
            append(optional: row.object, to: &output)
        }
        output.append(literal: #","selector":"#)
        switch row.role {
        case .plain: JSONWriter.append(string: row.selector, to: &output)
        case .responder(let terms): append(terms, to: &output)
        case .action(let target):
            JSONWriter.append(string: row.selector, to: &output)
            output.append(literal: #","target":"#)
            JSONWriter.append(string: target, to: &output)
        case .filtered(_, let target):
            JSONWriter.append(string: row.selector, to: &output)
            guard let target else { break }
            output.append(literal: #","target":"#)
            JSONWriter.append(string: target, to: &output)
        case .value(let terms):
            JSONWriter.append(string: row.selector, to: &output)
            append(terms, to: &output)
        }
        append(row.terms, to: &output)
    }

    /// Appends the name and the object, or what an observer has in their places, and its condition.
    private static func append(
        _ terms: FilterTerms, of row: ObserverRow, to output: inout [UInt8]
    ) {
        if let prefix = terms.namePrefix {
            output.append(literal: #","namePrefix":"#)
            JSONWriter.append(string: prefix, to: &output)
        } else if terms.names.isEmpty {
            output.append(literal: #","name":"#)
            append(optional: row.name, to: &output)
        } else {
            append(strings: terms.names, literal: #","names":["#, to: &output)
        }
        if let prefix = terms.objectPrefix {
            output.append(literal: #","objectPrefix":"#)
            JSONWriter.append(string: prefix, to: &output)
        } else {
            output.append(literal: #","object":"#)
            append(optional: row.object, to: &output)
        }
        guard let condition = terms.condition else { return }
        output.append(literal: #","where":"#)
        output.append(contentsOf: condition.text)
    }

    private static func append(
        strings: [[UInt8]], literal: StaticString, to output: inout [UInt8]
    ) {
        output.append(literal: literal)
        for index in strings.indices {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            JSONWriter.append(string: strings[index], to: &output)
        }
        output.append(UInt8(ascii: "]"))
    }

    /// Appends null for the selector, the selectors that the responder implements, and its terms.
    private static func append(_ terms: ResponderTerms, to output: inout [UInt8]) {
        append(strings: terms.implements, literal: #"null,"implements":["#, to: &output)
        output.append(literal: #","next":"#)
        append(optional: terms.next, to: &output)
        output.append(literal: #","ifHeld":""#)
        output.append(terms.ifHeld.text)
        output.append(literal: #"","concurrency":"#)
        JSONWriter.append(integer: terms.concurrency, to: &output)
    }

    private static func append(_ terms: ValueTerms, to output: inout [UInt8]) {
        output.append(literal: #","keyPath":"#)
        JSONWriter.append(string: terms.path.text, to: &output)
        output.append(
            literal: terms.sendsInitial ? #","initial":true,"old":"# : #","initial":false,"old":"#)
        output.append(literal: terms.sendsOld ? "true" : "false")
        output.append(literal: terms.sendsOwn ? #","own":true"# : #","own":false"#)
    }

    private static func append(_ terms: ObserverTerms, to output: inout [UInt8]) {
        output.append(literal: #","suspensionBehavior":""#)
        output.append(terms.suspensionBehavior.text)
        output.append(
            literal: terms.acknowledges
                ? #"","acknowledge":true,"holdLimit":"# : #"","acknowledge":false,"holdLimit":"#)
        JSONWriter.append(integer: terms.holdLimit, to: &output)
        output.append(literal: #","minInterval":"#)
        append(nanoseconds: terms.minInterval, to: &output)
        output.append(literal: #","lease":"#)
        if terms.endsWithConnection {
            // Whatever was asked for: it does not outlive its connection.
            output.append(UInt8(ascii: "0"))
        } else if let lease = terms.lease {
            append(nanoseconds: lease, to: &output)
        } else {
            output.append(literal: "null")
        }
        output.append(
            literal: terms.endsWithConnection
                ? #","lifetime":"connection""# : #","lifetime":"token""#)
    }

    /// Appends a time in seconds; whole ones need no `Duration`, which divides 128-bit numbers.
    private static func append(nanoseconds: Int64, to output: inout [UInt8]) {
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        if rest == 0 {
            JSONWriter.append(integer: Int(seconds), to: &output)
        } else {
            JSONWriter.append(seconds: .nanoseconds(nanoseconds), to: &output)
        }
    }

    private static func append(optional text: [UInt8]?, to output: inout [UInt8]) {
        if let text {
            JSONWriter.append(string: text, to: &output)
        } else {
            output.append(literal: "null")
        }
    }
}

extension RPC {
    /// Appends `belfry.welcome`, the first message: the client, the center, and the ping interval.
    ///
    /// The interval is the silence after which the broker pings the client.
    ///
    /// - Parameter pingInterval: in seconds, as JSON has them.
    public static func append(
        welcome: Welcome, pingInterval: [UInt8], to output: inout [UInt8]
    ) {
        output.append(literal: #"{"jsonrpc":"2.0","method":"belfry.welcome","params":{"client":""#)
        IdentifierText.append(client: welcome.client, to: &output)
        output.append(literal: #"","session":"#)
        JSONWriter.append(string: welcome.session, to: &output)
        output.append(literal: #","center":"#)
        JSONWriter.append(string: welcome.center, to: &output)
        output.append(literal: #","epoch":"#)
        JSONWriter.append(string: welcome.epoch, to: &output)
        output.append(literal: #","seq":"#)
        JSONWriter.append(integer: welcome.sequence, to: &output)
        output.append(literal: #","pingInterval":"#)
        output.append(contentsOf: pingInterval)
        output.append(literal: "}}")
    }
}
