import BelfryClient
import Testing

@testable import belfry

@Suite("belfry: words of a command line")
struct CommandWordTests {
    @Test(
        "a mistyped command says which one is near, or where they are listed",
        arguments: [
            (["obsreve", "A"], "There is no command `obsreve`. Do you mean `observe`?"),
            (["posts"], "There is no command `posts`. Do you mean `post`?"),
            (["fly"], "There is no command `fly`. `belfry --help` lists them."),
            (["value", "gte", "o"], "There is no command `gte`. Do you mean `get`?"),
            (
                ["mailbox", "empty"],
                "There is no command `empty`. `belfry mailbox --help` lists them."
            ),
            // A hidden command is no suggestion, and an argument is not looked at.
            (["name"], "There is no command `name`. `belfry --help` lists them."),
        ])
    func commands(arguments: [String], text: String) {
        #expect(Suggestion.fault(in: arguments) == text)
        #expect(Program.run(arguments) == 2)
    }

    @Test(
        "commands and their arguments are no slips",
        arguments: [
            [], ["--help"], ["help", "obsreve"], ["observe", "obsreve"], ["value", "get", "gte"],
            ["value", "--help"], ["names", "channels"], ["serve", "--data", "x"],
        ])
    func good(arguments: [String]) {
        #expect(Suggestion.fault(in: arguments) == nil)
    }

    @Test(
        "an id tells what is removed",
        arguments: [
            ("o17", true), ("o17.kJ3vW0y8Qm2sXb7TzR5LdA", true), ("c4", true), ("m3", true),
            ("m3.kJ3vW0y8Qm2sXb7TzR5LdA", true), ("01M8975BTXA0C1M80J3F342MKF", true),
            ("c4.secret", false), ("o", false), ("17", false), ("x3", false), ("o1/../..", false),
            ("01m8975btxa0c1m80j3f342mkf", false), ("", false),
        ])
    func ids(id: String, isKnown: Bool) throws {
        #expect((try Remove.request(for: id) != nil) == isKnown)
    }

    @Test("the secret half of a token stands in no path")
    func secrets() throws {
        for request in [
            try HTTPRequest.removeObserver("o17.secret"), try .mailboxContent("o17.secret"),
        ] {
            #expect(!request.path.contains("secret"))
            #expect(request.path.hasPrefix("observers/o17"))
        }
    }

    @Test(
        "a line that is refused is told by its number",
        arguments: [
            (
                ##"{"status":422,"errors":[{"pointer":"#/1/style","detail":"must be now, asap or idle"}]}"##,
                "line 9: style must be now, asap or idle; nothing of lines 7 to 9 was posted"
            ),
            (
                ##"{"status":422,"errors":[{"pointer":"#/0","detail":"must be an object"}]}"##,
                "line 7: must be an object; nothing of lines 7 to 9 was posted"
            ),
            (
                ##"{"status":422,"errors":[{"pointer":"#/5/x","detail":"is odd"}]}"##,
                "#/5/x is odd; nothing of lines 7 to 9 was posted"
            ),
            (
                #"{"status":413,"detail":"too large"}"#,
                "too large; nothing of lines 7 to 9 was posted"
            ),
        ])
    func lines(problem: String, text: String) throws {
        let refusal = BrokerRefusal(status: 422, content: Array(problem.utf8))
        #expect(PostLines.text(of: .refused(refusal), in: [7, 9]) == text)
    }
}
