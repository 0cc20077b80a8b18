import BelfryClient
import BelfrySystem

/// `belfry post -`: posts the lines of standard input, each a JSON object, in batches.
struct PostLines {
    /// The limits of one request (Protocol.md section 11).
    static let lineLimit = 1_000
    static let byteLimit = 1 << 20

    private let url: BrokerURL
    private let report: ReportOptions
    private var batch = Batch()
    private var lineNumber = 0
    private var total = Total()

    /// Lines that are posted together.
    struct Batch {
        fileprivate(set) var content: [UInt8] = []
        /// The numbers of its lines, among all lines.
        fileprivate(set) var lineNumbers: [Int] = []
    }

    /// The sums of all receipts.
    private struct Total {
        var posts = 0
        var queued = 0
        var coalesced = 0
        var matched = 0
        var unmatched = 0
    }

    init(_ url: BrokerURL, _ report: ReportOptions) {
        self.url = url
        self.report = report
    }

    /// Posts lines up to the end of standard input.
    mutating func run() async throws(ToolError) {
        var rest: [UInt8] = []
        while true {
            let bytes: [UInt8]
            do throws(SystemCallError) {
                bytes = try await Blocking.call { () throws(SystemCallError) in
                    try StandardStream.input.readSome()
                }
            } catch {
                throw .failure("standard input cannot be read: \(error)")
            }
            if bytes.isEmpty { break }
            rest += bytes
            var start = 0
            while let end = rest[start...].firstIndex(of: UInt8(ascii: "\n")) {
                try await take(rest[start..<end])
                start = end + 1
            }
            rest.removeFirst(start)
            // A program that writes line by line sees each of them posted.
            try await flush()
            if rest.count > Self.byteLimit { throw tooLong(lineNumber + 1) }
        }
        try await take(rest[...])
        try await flush()
        if report.isForPeople { try Report.write(Array(summary.utf8)) }
    }

    private mutating func take(_ line: ArraySlice<UInt8>) async throws(ToolError) {
        lineNumber += 1
        let isBlank = line.allSatisfy { " \t\r".utf8.contains($0) }
        if isBlank { return }
        if line.count >= Self.byteLimit {
            try await flush()
            throw tooLong(lineNumber)
        }
        let byteCount = batch.content.count + line.count + 1
        if batch.lineNumbers.count == Self.lineLimit || byteCount > Self.byteLimit {
            try await flush()
        }
        batch.content += line
        batch.content.append(UInt8(ascii: "\n"))
        batch.lineNumbers.append(lineNumber)
    }

    private func tooLong(_ number: Int) -> ToolError {
        .failure("line \(number) is longer than 1 MiB, and nothing from there on was posted")
    }

    private mutating func flush() async throws(ToolError) {
        if batch.lineNumbers.isEmpty { return }
        let answer: HTTPAnswer
        do throws(ClientError) {
            answer = try await HTTPRequest.posts(lines: batch.content).acceptedAnswer(from: url)
        } catch {
            throw .failure("\(url): \(Self.text(of: error, in: batch.lineNumbers))")
        }
        batch = Batch()
        for receipt in JSONObject(answer.content)?.objects("receipts") ?? [] {
            note(receipt)
            if !report.isForPeople { try Report.write(Report.oneLine(receipt.json)) }
        }
    }

    /// Counts what became of one post.
    mutating func note(_ receipt: JSONObject) {
        total.posts += 1
        switch receipt.string("outcome") {
        case "queued": total.queued += 1
        case "coalesced": total.coalesced += 1
        default:
            let matched = receipt.integer("matched") ?? 0
            total.matched += matched
            if matched == 0 { total.unmatched += 1 }
        }
    }

    /// The outcome of all posts, for people.
    var summary: String {
        let posts = total.posts == 1 ? "1 post" : "\(total.posts) posts"
        return "\(posts): \(total.matched) deliveries matched, \(total.unmatched) without an "
            + "observer, \(total.queued) queued, \(total.coalesced) coalesced"
    }

    /// Why a batch was refused, with the numbers of the lines in place of pointers.
    static func text(of error: ClientError, in lineNumbers: [Int]) -> String {
        let last = lineNumbers.last ?? 0
        let place = "nothing of lines \(lineNumbers.first ?? 0) to \(last) was posted"
        guard case .refused(let refusal) = error, !refusal.faults.isEmpty else {
            return "\(error); \(place)"
        }
        let faults = refusal.faults.map { fault in
            let parts = fault.dropFirst(2).split(
                maxSplits: 1, omittingEmptySubsequences: false,
                whereSeparator: { "/ ".contains($0) })
            guard fault.hasPrefix("#/"), parts.count == 2, let index = Int(parts[0]),
                lineNumbers.indices.contains(index)
            else { return fault }
            return "line \(lineNumbers[index]): \(parts[1])"
        }
        return "\(faults.joined(separator: "; ")); \(place)"
    }
}
