import BelfryAccess
import BelfryServer
import Foundation
import Testing

@testable import belfry

@Suite("belfry check-token")
struct CheckTokenTests {
    private func keyring(_ rows: String) throws -> Keyring {
        try Keyring(keys: Array(#"{"keys":[\#(rows)]}"#.utf8), keySet: nil)
    }

    @Test("a good token tells whose it is and what it allows")
    func good() throws {
        let key = GeneratedKey()
        let grants =
            #"[{"verbs":["post"]},{"verbs":["observe","ask"],"names":["Sale*"]}]"#
        let rows =
            #"{"id":"till","hash":"\#(key.hash)","expires":"2030-01-01T00:00:00Z","grants":\#(grants)}"#
        let verdict = try CheckToken.verdict(Array(key.token.utf8), keyring(rows), now: 0)
        #expect(
            String(decoding: verdict, as: UTF8.self)
                == #"{"principal":"till","grants":[{"verbs":["post"],"names":["*"],"objects":["*"],"#
                + #""centers":["*"]},{"verbs":["observe","ask"],"names":["Sale*"],"objects":["*"],"#
                + #""centers":["*"]}],"expiresAt":"2030-01-01T00:00:00.000Z"}"#)
    }

    @Test("a token that is not good says why")
    func bad() throws {
        let (key, other) = (GeneratedKey(), GeneratedKey())
        let rows =
            #"{"id":"till","hash":"\#(key.hash)","expires":"2030-01-01T00:00:00Z","grants":[]}"#
        let keyring = try keyring(rows)
        func fault(_ token: String, now: Int64 = 0) -> String? {
            #expect(throws: ToolError.self) {
                try CheckToken.verdict(Array(token.utf8), keyring, now: now)
            }?.text
        }
        #expect(fault(other.token) == "the token is refused: no key of the file has its hash")
        #expect(
            fault(key.token, now: 1_893_456_000_000)
                == "the token is refused: it has expired (`exp`, or `expires` of its key)")
        #expect(
            fault("a.b") == "the token is refused: it is neither a key of `belfry gen-token` nor a "
                + "JWT (three parts with dots between)")
    }

    @Test("without keys, without a token, or with a file that is none, nothing is checked")
    func usage() {
        #expect(Program.run(["check-token", "x"]) == 2)
        #expect(Program.run(["check-token", "--keys", "/dev/null"]) == 2)
        #expect(Program.run(["check-token", "x", "--keys", "/nonexistent"]) == 1)
    }
}
