import ArgumentParser
import Foundation
import Testing

@testable import belfry

@Suite("Completion, and the documents of the command line")
struct CompletionTests {
    /// The completions of bash for the last of these words.
    private func offers(_ words: [String], _ broker: RunningBroker) async throws -> [String] {
        let script = #"""
            program=$1; export BELFRY_URL=$2; shift 2
            belfry() { "$program" "$@"; }
            source /dev/stdin <<< "$(belfry --generate-completion-script bash)"
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}
            COMP_TYPE=9
            _belfry belfry "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
            printf '%s\n' "${COMPREPLY[@]}"
            """#
        let shell = try RunningProgram(
            ["-c", script, "completion", RunningProgram.ownPath, "\(broker.url)", "belfry"] + words,
            at: "/bin/bash")
        var offers: [String] = []
        while let line = await shell.line() { offers.append(line) }
        return offers.filter { !$0.isEmpty }
    }

    @Test("bash completes commands, words, options of serve, and names of the broker")
    func bash() async throws {
        let broker = try await RunningBroker()
        _ = try await broker.run("mailbox", "new", "ButtonChange", "--object", "calculator")
        #expect(try await offers(["obs"], broker) == ["observe", "observers"])
        #expect(try await offers(["observe", "B"], broker) == ["ButtonChange"])
        #expect(try await offers(["post", "A", "--object", "c"], broker) == ["calculator"])
        #expect(try await offers(["post", "A", "--style", "i"], broker) == ["idle"])
        #expect(try await offers(["serve", "--dat"], broker) == ["--data"])
        #expect(try await offers(["remove", "o"], broker) == ["o1"])
        #expect(try await offers(["name"], broker) == [])
        let responder = try await broker.respond(["w", "a", "--", "sleep", "1000"])
        let asked = try await broker.run("ask", "w", "a", "--ttl", "1h", "--no-wait")
        #expect(try await offers(["fate", "0"], broker) == asked.output)
        withExtendedLifetime(responder) {}
        await broker.program.kill()
        #expect(try await offers(["observe", "B"], broker) == [])
    }

    @Test("each command is in the page about the command line, and in the manual page")
    func documents() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation").standardized
        let page = try String(
            contentsOf: folder.appending(path: "CommandLine.md"), encoding: .utf8)
        let manual = ManualPage.page
        for command in Belfry.configuration.groupedSubcommands.flatMap(\.subcommands) {
            let name = command._commandName
            #expect(page.contains("`belfry \(name)"), "CommandLine.md has no `belfry \(name)`")
            #expect(manual.contains(".SS belfry \(name.replacing("-", with: "\\-"))\n"))
        }
        for setting in Setting.all {
            let flag = SettingsDocument.flag(setting).replacing("-", with: "\\-")
            #expect(manual.contains(flag))
        }
    }
}
