import BelfryHTTP
import BelfryJSON
import BelfryNATS
import BelfryStore
import BelfryWebSocket
import BelfryWire
import Foundation
import Testing

@testable import BelfryServer

/// The text of an error is a sentence, and never the spelling of its Swift case.
@Suite("Texts of errors")
struct ErrorTextTests {
    static let http: [HTTPError] = [
        .tooManyEmptyLines(limit: 7), .malformedStartLine, .invalidTarget, .malformedVersion,
        .unsupportedVersion, .requestLineTooLong(limit: 7), .bareLineFeed, .bareCarriageReturn,
        .invalidFieldName, .foldedField, .invalidFieldValue, .fieldLineTooLong(limit: 7),
        .tooManyFields(limit: 7), .headTooLarge(limit: 7), .missingHost, .repeatedHost,
        .repeatedOrigin, .invalidHost, .invalidContentLength, .repeatedContentLength,
        .contentLengthWithTransferEncoding, .repeatedTransferEncoding, .invalidTransferEncoding,
        .unsupportedTransferCoding, .transferEncodingInHTTP10, .bodyTooLarge(limit: 7),
        .invalidChunkSize, .invalidChunkExtension, .missingChunkEnd, .chunkLineTooLong(limit: 7),
        .chunkExtensionsTooLong(limit: 7), .trailerTooLarge(limit: 7), .invalidPercentEncoding,
        .invalidUTF8, .tooManyParameters(limit: 7), .tooManyInterimResponses(limit: 7),
        .incompleteMessage, .eventTooLong(limit: 7),
    ]

    static let webSocket: [WebSocketError] = [
        .reservedBits(1), .unknownOpcode(3), .missingMask, .unexpectedMask,
        .fragmentedControlFrame, .controlFrameTooLong, .lengthNotMinimal(byteCount: 5),
        .lengthOutOfRange, .unexpectedContinuation, .missingContinuation,
        .messageTooBig(byteCount: 8, limit: 7), .invalidDeflate, .tooManyFragments(limit: 7),
        .invalidUTF8(byteOffset: 7), .truncatedCloseCode, .invalidCloseCode(.abnormalClosure),
    ]

    static let nats: [NATSError] = [
        .unknownOperation, .malformedArguments, .invalidLineEnd, .controlLineTooLong(limit: 7),
        .infoTooLong(limit: 7), .headersTooLarge(byteCount: 8, limit: 7),
        .payloadTooLarge(byteCount: 8, limit: 7), .malformedHeaders, .invalidField(.sequence),
        .invalidFieldValue(.msgID), .invalidSubject, .subjectTooLong(limit: 7),
        .invalidStreamName, .malformedJSON(.unexpectedEnd), .unexpectedMember("seq"),
    ]

    static let damage: [StoreError.Damage] = [
        .noDatabase, .otherApplication(7), .otherForm, .missingPages, .brokenStructure(code: 7),
        .brokenRow(.gap),
    ]

    @Test(
        "a request that cannot be read is told why, with the limit and its option", arguments: http)
    func requests(error: HTTPError) {
        let detail = Problem(error).detail
        #expect(detail.hasPrefix("The request cannot be read: ") && detail.hasSuffix("."))
        expectPlain(detail)
    }

    @Test(
        "a limit that was passed is told with the option that sets it",
        arguments: [
            (HTTPError.requestLineTooLong(limit: 8_192), "8192 bytes; --max-request-line"),
            (.fieldLineTooLong(limit: 8_192), "8192 bytes; --max-field"),
            (.tooManyFields(limit: 100), "100 fields; --max-fields"),
            (.headTooLarge(limit: 65_536), "65536 bytes; --max-field"),
            (.bodyTooLarge(limit: 9), "9 bytes; --max-body"),
        ])
    func options(error: HTTPError, words: String) {
        #expect(Problem(error).detail.hasSuffix(words + " sets the limit."))
    }

    @Test("errors of WebSocket are sentences", arguments: webSocket)
    func frames(error: WebSocketError) {
        expectPlain("\(error)")
    }

    @Test("errors of NATS are sentences", arguments: nats)
    func operations(error: NATSError) {
        expectPlain("\(error)")
    }

    @Test("what is wrong with a data directory is a sentence", arguments: damage)
    func directories(damage: StoreError.Damage) {
        expectPlain(StoreError.damaged(damage).sentence)
    }

    @Test("no case is left out above")
    func completeness() throws {
        #expect(try Set(Self.http.map { "\($0)" }).count == caseCount("BelfryHTTP/HTTPError"))
        #expect(
            try Set(Self.webSocket.map { "\($0)" }).count
                == caseCount("BelfryWebSocket/WebSocketError"))
        #expect(try Set(Self.nats.map { "\($0)" }).count == caseCount("BelfryNATS/NATSError"))
    }

    @Test(
        "JSON that cannot be read is told where and why",
        arguments: [
            "", "{", #"{"name":"a"} x"#, "[01]", #"{"name":"\q"}"#, "\"\u{1}\"", "nul",
            #"{"name":"\ud800"}"#, String(repeating: "[", count: 200),
        ])
    func json(text: String) {
        #expect(throws: Problem.self) {
            do throws(Problem) {
                _ = try RequestReader().notifications(in: Array(text.utf8).span)
            } catch {
                expectPlain(error.detail)
                for fault in error.errors { expectPlain(fault.detail) }
                throw error
            }
        }
    }

    /// A word with a capital inside is a name of the program, unless it is one of the protocol.
    private func expectPlain(_ text: String) {
        let known: Set = ["WebSocket", "userInfo", "SQLite"]
        for word in text.split(whereSeparator: { !$0.isLetter }) where !known.contains(String(word))
        {
            let hasHump = zip(word, word.dropFirst()).contains { $0.isLowercase && $1.isUppercase }
            #expect(!hasHump, "`\(word)` in: \(text)")
        }
        #expect(!text.contains("(limit") && !text.contains("at:"), "\(text)")
    }

    /// How many cases an enum of a source has.
    private func caseCount(_ path: String) throws -> Int {
        let lines = try ContractFile("Sources/\(path).swift").lines
        return lines.prefix { !$0.contains(" var ") }.filter { $0.hasPrefix("    case ") }.count
    }
}
