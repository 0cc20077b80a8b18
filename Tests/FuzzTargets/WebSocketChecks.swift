import BelfryWebSocket

/// WebSockets: frames and the opening handshake.
enum WebSocketChecks {
    /// Frames of a client; `inflates` is whether their messages may be compressed.
    static func frames(_ bytes: [UInt8], _ cut: Cut, inflates: Bool) -> String? {
        // Small limits, so that short inputs reach them; but an unfinished message is looked at
        // from 1,024 compressed bytes on.
        let limits = MessageLimits(messageByteLimit: inflates ? 3_000 : 600, fragmentLimit: 20)
        let inflater = inflates ? Inflater() : nil
        let whole = read([bytes], limits, inflater)
        // One inflater serves both, whatever the first has left behind.
        return whole.difference(to: read(cut.pieces(of: bytes), limits, inflater))
    }

    private static func read(
        _ pieces: [[UInt8]], _ limits: MessageLimits, _ inflater: Inflater?
    ) -> Transcript {
        var reader = MessageReader(role: .server, limits: limits, inflater: inflater)
        var transcript = Transcript()
        do throws(WebSocketError) {
            for piece in pieces {
                var cursor = 0
                while let event = try reader.nextEvent(in: piece.span, at: &cursor) {
                    switch event {
                    case .text, .binary: transcript.add("\(event)", reader.message)
                    case .ping, .pong, .close: transcript.add("\(event)", reader.control)
                    }
                    if reader.message.count > limits.messageByteLimit
                        || reader.control.count > 125
                    {
                        transcript.add("past a limit")
                    }
                }
                if cursor != piece.count { transcript.add("left bytes behind") }
            }
            transcript.add(reader.isBetweenMessages ? "between" : "waiting")
        } catch {
            transcript.add("\(error), \(error.closeCode)")
        }
        return transcript
    }

    /// The input is the lines of all fields, each behind a letter that says of which.
    static func opening(_ bytes: [UInt8]) -> String? {
        var request = OpeningRequest()
        request.upgrade = [Array("websocket".utf8)]
        request.connection = [Array("Upgrade".utf8)]
        request.key = [Array("dGhlIHNhbXBsZSBub25jZQ==".utf8)]
        request.version = [Array("13".utf8)]
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            let value = Array(line.dropFirst())
            switch line.first {
            case UInt8(ascii: "u"): request.upgrade.append(value)
            case UInt8(ascii: "c"): request.connection.append(value)
            case UInt8(ascii: "k"): request.key = [value]
            case UInt8(ascii: "v"): request.version.append(value)
            case UInt8(ascii: "p"): request.subprotocols.append(value)
            default: request.extensions.append(value)
            }
        }
        _ = request.deflateOffers
        let own = Array("belfry.v1".utf8)
        switch request.decide(subprotocols: [own], unknown: .refused, allowsDeflate: true) {
        case .accept(_, let subprotocol, let deflate):
            if let deflate, ![9, 12, 15].contains(deflate.windowBitCount) {
                return "a window of \(deflate.windowBitCount) bits"
            }
            if let subprotocol, subprotocol != own {
                return "another's subprotocol: \(subprotocol)"
            }
        case .refuse(let refusal):
            if !(400..<500).contains(refusal.status) { return "status \(refusal.status)" }
        }
        return nil
    }
}
