internal import BelfryCenter
internal import BelfryJSON

// What every client asks for first is written by hand, as its texts between the values are known.

/// The texts between the values of an observer that was registered.
enum RegisteredText {
    static let id = [UInt8]("{\"id\":\"".utf8)
    static let token = [UInt8]("\",\"token\":".utf8)
    static let client = [UInt8](",\"client\":\"".utf8)
    static let session = [UInt8]("\",\"session\":".utf8)
    static let since = [UInt8](",\"since\":".utf8)
}

/// The texts between the values of a filter and its terms.
private enum FilterText {
    static let center = [UInt8](",\"center\":".utf8)
    static let name = [UInt8](",\"name\":".utf8)
    static let object = [UInt8](",\"object\":".utf8)
    static let selector = [UInt8](",\"selector\":".utf8)
    static let behavior = [UInt8](",\"suspensionBehavior\":\"".utf8)
    static let acknowledges = [UInt8]("\",\"acknowledge\":true,\"holdLimit\":".utf8)
    static let acknowledgesNot = [UInt8]("\",\"acknowledge\":false,\"holdLimit\":".utf8)
    static let minInterval = [UInt8](",\"minInterval\":".utf8)
    static let lease = [UInt8](",\"lease\":".utf8)
    static let lifetimeToken = [UInt8](",\"lifetime\":\"token\"".utf8)
    static let lifetimeConnection = [UInt8](",\"lifetime\":\"connection\"".utf8)
    static let null = [UInt8]("null".utf8)
}

/// The texts between the values of `belfry.welcome`.
private enum WelcomeText {
    static let start = [UInt8](
        "{\"jsonrpc\":\"2.0\",\"method\":\"belfry.welcome\",\"params\":".utf8)
    static let client = [UInt8]("{\"client\":\"".utf8)
    static let session = [UInt8]("\",\"session\":".utf8)
    static let center = [UInt8](",\"center\":".utf8)
    static let epoch = [UInt8](",\"epoch\":".utf8)
    static let sequence = [UInt8](",\"seq\":".utf8)
}

extension Shape {
    /// Appends what was registered and under which terms, as members behind other members.
    static func append(filterOf row: ObserverRow, center: [UInt8], to output: inout [UInt8]) {
        output.append(contentsOf: FilterText.center)
        JSONWriter.append(string: center, to: &output)
        output.append(contentsOf: FilterText.name)
        append(optional: row.name, to: &output)
        output.append(contentsOf: FilterText.object)
        append(optional: row.object, to: &output)
        output.append(contentsOf: FilterText.selector)
        JSONWriter.append(string: row.selector, to: &output)
        append(row.terms, to: &output)
    }

    private static func append(_ terms: ObserverTerms, to output: inout [UInt8]) {
        output.append(contentsOf: FilterText.behavior)
        output.append(terms.suspensionBehavior.text)
        output.append(
            contentsOf: terms.acknowledges ? FilterText.acknowledges : FilterText.acknowledgesNot)
        JSONWriter.append(integer: terms.holdLimit, to: &output)
        output.append(contentsOf: FilterText.minInterval)
        append(nanoseconds: terms.minInterval, to: &output)
        output.append(contentsOf: FilterText.lease)
        if terms.endsWithConnection {
            // Whatever was asked for: it does not outlive its connection.
            output.append(UInt8(ascii: "0"))
        } else if let lease = terms.lease {
            append(nanoseconds: lease, to: &output)
        } else {
            output.append(contentsOf: FilterText.null)
        }
        output.append(
            contentsOf: terms.endsWithConnection
                ? FilterText.lifetimeConnection : FilterText.lifetimeToken)
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
            output.append(contentsOf: FilterText.null)
        }
    }
}

extension Shape {
    /// Appends what a client is told first.
    static func append(_ welcome: Welcome, to output: inout [UInt8]) {
        output.append(contentsOf: WelcomeText.client)
        IdentifierText.append(client: welcome.client, to: &output)
        output.append(contentsOf: WelcomeText.session)
        JSONWriter.append(string: welcome.session, to: &output)
        output.append(contentsOf: WelcomeText.center)
        JSONWriter.append(string: welcome.center, to: &output)
        output.append(contentsOf: WelcomeText.epoch)
        JSONWriter.append(string: welcome.epoch, to: &output)
        output.append(contentsOf: WelcomeText.sequence)
        JSONWriter.append(integer: welcome.sequence, to: &output)
        output.append(UInt8(ascii: "}"))
    }
}

extension RPC {
    /// Appends `belfry.welcome`, the first message of a connection.
    public static func append(welcome: Welcome, to output: inout [UInt8]) {
        output.append(contentsOf: WelcomeText.start)
        Shape.append(welcome, to: &output)
        output.append(UInt8(ascii: "}"))
    }
}
