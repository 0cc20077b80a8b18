import Testing

@testable import BelfryServer

@Suite("asyncapi.yaml and the JSON-RPC calls")
struct CallTests {
    private let file: ContractFile
    private let calls = Set(CallMethod.allCases.map(\.rawValue))

    init() throws {
        file = try ContractFile("asyncapi.yaml")
    }

    @Test("the messages have the methods that a client can call, and no other")
    func messages() {
        let messages = file.section("components").section("messages", depth: 1)
        var methods: Set<String> = []
        for name in messages.keys(depth: 2) {
            let message = messages.section(name, depth: 2)
            for line in message.lines.indices.dropLast()
            where message.lines[line].hasSuffix(" method:") {
                let value = message.lines[line + 1].drop { $0 == " " }
                if value.hasPrefix("const: ") { methods.insert(String(value.dropFirst(7))) }
            }
        }
        #expect(methods.filter { !$0.hasPrefix("belfry.") } == calls)
        let unasked: Set = [
            "belfry.welcome", "belfry.gap", "belfry.removed", "belfry.settled", "belfry.draining",
        ]
        #expect(methods.filter { $0.hasPrefix("belfry.") } == unasked)
    }

    @Test("each call is an operation of both WebSocket channels, with its result")
    func operations() {
        let operations = Set(file.section("operations").keys(depth: 1))
        let channels = file.section("channels")
        for call in calls {
            #expect(operations.isSuperset(of: [call, call + "InCenter"]))
            for channel in ["webSocket", "webSocketInCenter"] {
                let messages = channels.section(channel, depth: 1).section("messages", depth: 2)
                #expect(messages.keys(depth: 3).contains(call))
                #expect(messages.keys(depth: 3).contains(call + "Result"))
            }
        }
    }
}
