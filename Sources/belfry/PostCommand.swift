import ArgumentParser
import BelfryClient
import BelfryJSON
import BelfrySystem

/// `belfry post`.
struct Post: ClientCommand {
    static let configuration = CommandConfiguration(
        abstract: "Post a notification, and print the receipt.")

    @Argument(help: .value("The notification name.", "NAME"))
    var name: String

    @Option(help: .value("The object: who posts it.", "OBJECT"))
    var object: String?

    @Option(help: .value("A JSON object; - reads it from standard input.", "JSON"))
    var userInfo: String?

    @OptionGroup var place: PlaceOptions
    @OptionGroup var report: ReportOptions

    func perform(_ signals: StopSignals) async throws(ToolError) {
        let url = try place.brokerURL()
        let request = HTTPRequest.post("notifications", json: try content())
        let answer = try await request.requiredAnswer(from: url)
        guard report.isForPeople, let receipt = JSONObject(answer.content) else {
            return try Report.write(Report.oneLine(answer.content))
        }
        let columns = ["id", "seq", "matched", "delivered", "held", "dropped"]
        try Report.write(Array(Report.table(columns, [receipt]).utf8))
    }

    private func content() throws(ToolError) -> [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        writer.member("name", string: name, into: &bytes)
        if let object { writer.member("object", string: object, into: &bytes) }
        if let userInfo = try readUserInfo() {
            writer.member("userInfo", raw: userInfo.json, into: &bytes)
        }
        writer.endObject(into: &bytes)
        return bytes
    }

    private func readUserInfo() throws(ToolError) -> UserInfo? {
        guard let userInfo else { return nil }
        do {
            if userInfo == "-" {
                return try UserInfo(json: StandardStream.input.readAll(byteLimit: 1 << 20))
            }
            return try UserInfo(json: userInfo)
        } catch let error as SystemCallError {
            throw .failure("standard input cannot be read: \(error)")
        } catch {
            throw .usage("--user-info: \(error)")
        }
    }
}

extension HTTPRequest {
    /// The answer of a broker that did what was asked.
    func requiredAnswer(from url: BrokerURL) async throws(ToolError) -> HTTPAnswer {
        do throws(ClientError) {
            let answer = try await answer(from: url)
            guard answer.isSuccess else { throw answer.refusal }
            return answer
        } catch {
            throw .failure("\(url): \(error)")
        }
    }
}
