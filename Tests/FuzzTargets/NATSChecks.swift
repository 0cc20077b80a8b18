import BelfryNATS

/// NATS, as a client reads it, and the JSON of JetStream.
enum NATSChecks {
    /// Small limits, so that short inputs reach them.
    private static var limits: NATSLimits {
        var limits = NATSLimits(payloadByteLimit: 1_500)
        limits.controlLineByteLimit = 100
        limits.infoByteLimit = 800
        limits.headerByteLimit = 300
        return limits
    }

    static func events(_ bytes: [UInt8], _ cut: Cut) -> String? {
        let whole = read([bytes])
        return whole.entries.first { $0.word.hasPrefix("fault") }?.word
            ?? whole.difference(to: read(cut.pieces(of: bytes)))
    }

    private static func read(_ pieces: [[UInt8]]) -> Transcript {
        var parser = ServerParser(limits: limits)
        var transcript = Transcript()
        do throws(NATSError) {
            for piece in pieces {
                var cursor = 0
                while let event = try parser.nextEvent(in: piece.span, at: &cursor) {
                    transcript.add("\(event)")
                    if case .message(let message) = event { note(message, &transcript) }
                }
                if cursor != piece.count { transcript.add("fault: left bytes behind") }
            }
            transcript.add(parser.isBetweenEvents ? "between" : "waiting")
        } catch {
            transcript.add("\(error)")
        }
        return transcript
    }

    /// Reads everything that a message can be asked for.
    private static func note(_ message: Message, _ transcript: inout Transcript) {
        if message.headerBytes.count > limits.headerByteLimit
            || message.payload.count > limits.payloadByteLimit
        {
            transcript.add("fault: past a limit")
        }
        transcript.add("\(Result { () throws(NATSError) in try DirectAnswer(message) })")
        if let headers = try? message.headers(), let fault = fault(in: headers) {
            transcript.add("fault: \(fault)")
        }
        let json = message.payload
        transcript.add(
            "\(Result { () throws(NATSError) in try PublishAcknowledgement.read(json) })")
        transcript.add("\(Result { () throws(NATSError) in try StreamPurge.read(json) })")
        if case .success(let info)? = try? StreamInfo.read(json) {
            transcript.add("\(info)")
            if let fault = fault(in: info.config) { transcript.add("fault: \(fault)") }
        }
    }

    /// A value that was read can be written, and is the same when it is read back.
    private static func fault(in headers: HeaderBlock) -> String? {
        for field in HeaderField.allCases {
            guard let value = headers.value(of: field) else { continue }
            var written = headers
            // A tab within is read, and not written.
            guard (try? written.append(field, copy(value))) != nil else {
                if copy(value).contains(0x09) { continue }
                return "a value that cannot be written"
            }
            guard let again = try? HeaderBlock(written.bytes), again == written,
                let read = again.value(of: field), copy(read) == copy(value)
            else { return "a block that is another one when it is read back" }
        }
        return nil
    }

    /// Settings that were read can be written, and are the same when they are read back.
    private static func fault(in config: StreamConfiguration) -> String? {
        let json =
            Array(#"{"config":"#.utf8) + JetStreamRequest.create(config).payload
            + Array(#","state":{}}"#.utf8)
        guard case .success(let again)? = try? StreamInfo.read(json) else {
            return "settings that cannot be read back"
        }
        return again.config == config ? nil : "settings that are others when they are read back"
    }
}
