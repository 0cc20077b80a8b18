import BelfryJSON
import BelfryNATS
import Testing

@Suite("The API of JetStream")
struct JetStreamTests {
    /// The payload of the only message of a capture.
    private func payload(of capture: String) throws -> [UInt8] {
        let messages = Transcript(of: capture).messages
        try #require(messages.count == 1)
        return messages[0].payload
    }

    private static func settings() throws -> StreamConfiguration {
        var config = StreamConfiguration(
            name: try StreamName("BELFRY_prod"), subjects: [try Subject("belfry.prod.log")])
        config.discard = .new
        config.maxBytes = 4_096
        config.allowDirect = true
        config.denyDelete = true
        config.duplicateWindow = .seconds(120)
        config.republish = .init(
            source: try Subject("belfry.prod.log"), destination: try Subject("belfry.prod.rep"))
        return config
    }

    // MARK: - Requests

    @Test("each request has its subject and its JSON")
    func requests() throws {
        let stream = try StreamName("S")
        let requests: [(JetStreamRequest, subject: String, payload: String)] = [
            (.info(stream), "$JS.API.STREAM.INFO.S", ""),
            (.purge(stream, before: 3), "$JS.API.STREAM.PURGE.S", #"{"seq":3}"#),
            (.purge(stream, before: 0), "$JS.API.STREAM.PURGE.S", #"{"seq":1}"#),
            (
                .directGet(stream, from: 2, batch: 64, maxBytes: 1_000), "$JS.API.DIRECT.GET.S",
                #"{"seq":2,"batch":64,"max_bytes":1000}"#
            ),
            (.directGetMessage(stream, 7), "$JS.API.DIRECT.GET.S", #"{"seq":7}"#),
            (
                .directGetLast(stream, try Subject("a.b")), "$JS.API.DIRECT.GET.S",
                #"{"last_by_subj":"a.b"}"#
            ),
            (
                .create(try Self.settings()), "$JS.API.STREAM.CREATE.BELFRY_prod",
                #"{"name":"BELFRY_prod","subjects":["belfry.prod.log"],"retention":"limits","#
                    + #""discard":"new","storage":"file","num_replicas":1,"max_bytes":4096,"#
                    + #""allow_direct":true,"deny_delete":true,"duplicate_window":120000000000,"#
                    + #""republish":{"src":"belfry.prod.log","dest":"belfry.prod.rep"}}"#
            ),
        ]
        for (request, subject, payload) in requests {
            #expect(request.subject.description == subject)
            #expect(text(request.payload) == payload)
        }
    }

    // MARK: - Streams

    @Test("a stream that was made has the settings that were asked for, and is empty")
    func created() throws {
        let info = try StreamInfo.read(payload(of: Captured.created)).get()
        #expect(info.config == (try Self.settings()))
        #expect(info.state.lastSequence == 0 && info.state.messages == 0 && info.leader == "")
    }

    @Test("the state of a stream is read, and who leads it")
    func info() throws {
        let info = try StreamInfo.read(payload(of: Captured.streamInfo)).get()
        #expect(info.config == (try Self.settings()))
        #expect(info.state.firstSequence == 1 && info.state.lastSequence == 4)
        #expect(info.state.messages == 4 && info.state.bytes == 352)
        #expect(info.leader == "NSERVER")
    }

    static let streams: [(json: String, error: NATSError)] = [
        ("{}", .unexpectedMember("config")),
        (#"{"config":{},"state":{}}"#, .unexpectedMember("name")),
        (#"{"config":{"name":"S"}}"#, .unexpectedMember("state")),
        (#"{"config":{"name":"S","retention":"new"},"state":{}}"#, .unexpectedMember("retention")),
        (#"{"config":{"name":"S","discard":"x"},"state":{}}"#, .unexpectedMember("discard")),
        (#"{"config":{"name":"S","storage":"x"},"state":{}}"#, .unexpectedMember("storage")),
        (#"{"config":{"name":"S.T"},"state":{}}"#, .invalidStreamName),
        (#"{"config":{"name":"S","subjects":["a b"]},"state":{}}"#, .invalidSubject),
        (
            #"{"config":{"name":"S","republish":{"src":"a"}},"state":{}}"#,
            .unexpectedMember("republish")
        ),
        (
            #"{"config":{"name":"S"},"state":{"messages":-1}}"#,
            .malformedJSON(.numberOutOfRange(at: 43))
        ),
    ]

    @Test("settings that are missing or unknown are told", arguments: streams)
    func strange(row: (json: String, error: NATSError)) {
        #expect(throws: row.error) { try StreamInfo.read(Array(row.json.utf8)) }
    }

    @Test("settings of another stream are read, whatever they are")
    func otherSettings() throws {
        let json = #"""
            {"config":{"name":"S","subjects":["a.>","b"],"retention":"workqueue","discard":"old",
             "storage":"memory","max_bytes":-1,"num_replicas":5,"republish":{"src":">","dest":"r.>",
             "headers_only":true}},"state":{"first_seq":99,"last_seq":98},"cluster":null}
            """#
        let info = try StreamInfo.read(Array(json.utf8)).get()
        #expect(info.config.subjects.map(\.description) == ["a.>", "b"])
        #expect(info.config.retention == .workQueue && info.config.discard == .old)
        #expect(info.config.storage == .memory && info.config.numReplicas == 5)
        #expect(info.config.republish?.destination.description == "r.>")
        #expect(info.state.firstSequence == 99 && info.state.lastSequence == 98)
    }

    @Test("a purge tells how many messages went")
    func purged() throws {
        #expect(try StreamPurge.read(payload(of: Captured.purged)).get().purged == 2)
        #expect(throws: NATSError.unexpectedMember("success")) {
            try StreamPurge.read(Array(#"{"purged":2}"#.utf8))
        }
    }

    // MARK: - What is published

    @Test("an acknowledgement tells the number in the stream, and whether it was there before")
    func acknowledged() throws {
        let first = try PublishAcknowledgement.read(payload(of: Captured.acknowledged)).get()
        #expect(first.stream == "BELFRY_prod" && first.sequence == 1 && !first.isDuplicate)
        let second = try PublishAcknowledgement.read(payload(of: Captured.duplicate)).get()
        #expect(second.sequence == 2 && second.isDuplicate)
        #expect(throws: NATSError.unexpectedMember("seq")) {
            try PublishAcknowledgement.read(Array(#"{"stream":"S"}"#.utf8))
        }
    }

    // MARK: - Refusals

    private func refusal<Answer>(_ answer: Result<Answer, APIError>) -> APIError? {
        if case .failure(let error) = answer { error } else { nil }
    }

    @Test("a refusal has a status, the number of its reason, and words")
    func refusals() throws {
        let full = refusal(try PublishAcknowledgement.read(payload(of: Captured.full)))
        #expect(full?.code == 503 && full?.errorCode == APIError.maximumBytesExceeded)
        #expect(full?.description == "maximum bytes exceeded")
        let missing = refusal(try StreamInfo.read(payload(of: Captured.noStream)))
        #expect(missing?.code == 404 && missing?.errorCode == APIError.streamNotFound)
        let other = refusal(try StreamInfo.read(payload(of: Captured.otherSettings)))
        #expect(other?.code == 400 && other?.errorCode == APIError.streamNameInUse)
        let large = refusal(try StreamInfo.read(payload(of: Captured.noRoom)))
        #expect(large?.code == 500 && large?.errorCode == APIError.insufficientStorage)
        let purge = refusal(try StreamPurge.read(payload(of: Captured.notPurged)))
        #expect(purge?.errorCode == APIError.streamNotFound)
    }

    // MARK: - What is read back

    @Test("a republished message tells its place and the one before it")
    func republished() throws {
        let message = try #require(Transcript(of: Captured.republished).messages.first)
        let headers = try message.headers()
        let place = try StoredPlace(headers)
        #expect(place.sequence == 1 && place.lastSequence == 0 && place.numPending == nil)
        #expect(text(.msgID, in: headers) == "n1.1.1")
        #expect(text(.stream, in: headers) == "BELFRY_prod")
        #expect(text(.subject, in: headers) == "belfry.prod.log")
        #expect(text(message.subject) == "belfry.prod.rep" && text(message.payload) == "entry1")
    }

    /// The answers of a capture in words.
    private func answers(_ capture: String) throws -> [String] {
        try Transcript(of: capture).messages.map { message in
            switch try DirectAnswer(message) {
            case .message(let place):
                "\(place.sequence) after \(place.lastSequence ?? 0), \(text(message.payload)), "
                    + "\(place.numPending ?? 0) left"
            case .endOfBatch(let numPending): "end, \(numPending) left"
            case .notFound, .badRequest, .noResponders: "\(try DirectAnswer(message))"
            case .other(let status): "\(status.rawValue)"
            }
        }
    }

    @Test("a batch is messages and its end, which tells how many are left")
    func batches() throws {
        #expect(
            try answers(Captured.batch)
                == ["2 after 0, entry2, 2 left", "3 after 2, entry3, 1 left", "end, 1 left"])
        #expect(
            try answers(Captured.overHole)
                == ["3 after 0, entry3, 1 left", "4 after 3, entry4, 0 left", "end, 0 left"])
    }

    @Test("a batch that there is not is a status alone")
    func noBatch() throws {
        #expect(try answers(Captured.pastEnd) == ["notFound"])
        #expect(try answers(Captured.malformedRequest) == ["badRequest"])
        #expect(try answers(Captured.nobody) == ["noResponders"])
        #expect(try answers("HMSG a 1 26 26\r\nNATS/1.0 100 Heartbeat\r\n\r\n\r\n") == ["100"])
    }

    @Test("a message without a number, or an end without a count, is no answer")
    func incomplete() throws {
        let cases: [(String, HeaderField)] = [
            ("MSG a 1 0\r\n\r\n", .sequence),
            ("HMSG a 1 16 16\r\nNATS/1.0 204\r\n\r\n\r\n", .numPending),
        ]
        for (input, field) in cases {
            let message = try #require(Transcript(of: input).messages.first)
            #expect(throws: NATSError.invalidField(field)) { try DirectAnswer(message) }
        }
    }
}
