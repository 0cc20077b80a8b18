import BelfryHTTP

/// HTTP, as both halves read it.
enum HTTPChecks {
    /// Small limits, so that short inputs reach them.
    private static var limits: HTTPLimits {
        var limits = HTTPLimits()
        limits.requestLineByteLimit = 200
        limits.fieldLineByteLimit = 200
        limits.fieldCountLimit = 12
        limits.headByteLimit = 1_000
        limits.bodyByteLimit = 2_000
        limits.chunkLineByteLimit = 60
        limits.chunkExtensionByteLimit = 200
        limits.trailerByteLimit = 200
        return limits
    }

    static func requestHead(_ bytes: [UInt8], _ cut: Cut) -> String? {
        let head = bytes + Array("\r\n\r\n".utf8)
        return compare(head, cut) { requests($0, stopsAfterHead: true) }
    }

    static func chunked(_ bytes: [UInt8], _ cut: Cut) -> String? {
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        return compare(Array(head.utf8) + bytes, cut) { requests($0, stopsAfterHead: false) }
    }

    static func pipeline(_ bytes: [UInt8], _ cut: Cut) -> String? {
        compare(bytes, cut) { requests($0, stopsAfterHead: false) }
    }

    static func response(_ bytes: [UInt8], _ cut: Cut) -> String? {
        compare(bytes, cut, responses)
    }

    static func eventStream(_ bytes: [UInt8], _ cut: Cut) -> String? {
        compare(bytes, cut, events)
    }

    private static func compare(
        _ bytes: [UInt8], _ cut: Cut, _ read: ([[UInt8]]) -> Transcript
    ) -> String? {
        read([bytes]).difference(to: read(cut.pieces(of: bytes)))
    }

    // MARK: Requests

    private static func requests(_ pieces: [[UInt8]], stopsAfterHead: Bool) -> Transcript {
        var parser = RequestParser(limits: limits)
        var transcript = Transcript()
        do throws(HTTPError) {
            for piece in pieces {
                var cursor = 0
                while let event = try parser.nextEvent(in: piece.span, at: &cursor) {
                    switch event {
                    case .head:
                        note(parser.head, &transcript)
                        if stopsAfterHead { return transcript }
                    case .body(let range):
                        if range.isEmpty { transcript.add("empty content") }
                        transcript.addContent(piece[range])
                    case .end:
                        transcript.add("end")
                    }
                }
                if cursor != piece.count { transcript.add("left bytes behind") }
            }
            transcript.add(parser.isBetweenRequests ? "between" : "waiting")
        } catch {
            transcript.add("\(error), \(error.status)")
        }
        return transcript
    }

    /// Reads everything that a head can be asked for.
    private static func note(_ head: RequestHead, _ transcript: inout Transcript) {
        transcript.add("method \(head.method) \(head.minorVersion)")
        transcript.add("target \(head.targetForm)", head.target)
        transcript.add("path", head.path)
        transcript.add("query \(head.hasQuery)", head.query)
        transcript.add("authority \(head.host.map { "\($0)" } ?? "-")", head.authority)
        transcript.add("host", head.hostName)
        transcript.add("type", head.contentType)
        transcript.add(
            "length \(head.contentLength ?? -1) \(head.isChunked) \(head.expectation) \(head.keepsAlive)"
        )
        transcript.add("uncommon \(head.uncommonFields.rawValue)")
        for index in 0..<head.fieldCount {
            transcript.add("name", head.name(at: index))
            transcript.add("value", head.value(at: index))
        }
        transcript.add("preferences \(Preferences(of: head))")
        if let type = MediaType(parsing: head.contentType) {
            transcript.add("media type", type.type + type.subtype)
        }
        var path: [UInt8] = []
        do throws(HTTPError) {
            try PercentEncoding.decode(head.path, into: &path)
            transcript.add("decoded", path)
        } catch {
            transcript.add("\(error)")
        }
    }

    // MARK: Responses

    private static func responses(_ pieces: [[UInt8]]) -> Transcript {
        var parser = ResponseParser(limits: limits)
        var transcript = Transcript()
        do throws(HTTPError) {
            for piece in pieces {
                var cursor = 0
                while let event = try parser.nextEvent(in: piece.span, at: &cursor) {
                    note(event, parser, piece, &transcript)
                }
            }
            if let last = try parser.finish() { note(last, parser, [], &transcript) }
        } catch {
            transcript.add("\(error)")
        }
        return transcript
    }

    private static func note(
        _ event: ResponseEvent, _ parser: ResponseParser, _ piece: [UInt8],
        _ transcript: inout Transcript
    ) {
        switch event {
        case .head:
            transcript.add("head \(parser.head.status) \(parser.head.contentLength ?? -1)")
        case .body(let range): transcript.addContent(piece[range])
        case .end: transcript.add("end")
        }
    }

    // MARK: Event streams

    private static func events(_ pieces: [[UInt8]]) -> Transcript {
        var parser = EventStreamParser(byteLimit: 400)
        var transcript = Transcript()
        do throws(HTTPError) {
            for piece in pieces {
                var cursor = 0
                while let event = try parser.nextEvent(in: piece.span, at: &cursor) {
                    transcript.add("\(event)")
                }
            }
        } catch {
            transcript.add("\(error)")
        }
        transcript.add("last", parser.lastEventID)
        return transcript
    }
}
