import BelfryServer
import Foundation
import Testing

/// The output of `Scripts/contract` for `openapi.yaml`, and the needs of client generators.
@Suite("openapi.yaml, and what is made of it")
struct MadeContractTests {
    private static let prefix = "/v1/centers/{center}"
    private let file: ContractValue

    init() throws {
        file = try ContractFile("openapi.yaml").yaml()
    }

    @Test("openapi.json says what openapi.yaml says")
    func json() throws {
        let text = try ContractFile("openapi.json").lines.joined(separator: "\n")
        let json = try JSONDecoder().decode(ContractValue.self, from: Data(text.utf8))
        for (section, value) in file.members where section != "paths" {
            #expect(json[section] == value, "\(section); run Scripts/contract")
        }
        for (path, value) in file["paths"].members {
            #expect(json["paths"][path] == value, "\(path); run Scripts/contract")
        }
        #expect(json == file)
    }

    @Test("the paths of one center are those of the center `default`, with the center")
    func centers() {
        let paths = file["paths"].members
        let ofBroker: Set = [
            "/v1/tickets", "/v1/backup", "/v1/centers", "/v1/me", "/v1/overview", "/v1/cluster",
            "/v1/cluster/upgrade", "/v1/cluster/apply-config", "/v1/cluster/recover",
        ]
        var expected: [String: ContractValue] = [:]
        for (path, item) in paths
        where path.hasPrefix("/v1/") && !path.hasPrefix(Self.prefix) && !ofBroker.contains(path) {
            expected[Self.prefix + path.dropFirst(3)] = inCenter(item)
        }
        // Those two are others without the center: they are written, not made.
        let ownPaths = ["/overview", "/me"].map { Self.prefix + $0 }
        let written = paths.filter {
            $0.key.hasPrefix(Self.prefix + "/") && !ownPaths.contains($0.key)
        }
        #expect(Set(written.keys) == Set(expected.keys))
        for (path, item) in expected {
            #expect(written[path] == item, "\(path); run Scripts/contract")
        }
    }

    @Test("the version is the broker's", arguments: ["openapi.yaml", "asyncapi.yaml"])
    func version(name: String) throws {
        let version = try ContractFile(name).section("info").values(of: "version").first
        #expect(version == Server.version)
    }

    @Test("no enum has null in it, and no constant is a boolean: generators stumble over both")
    func generators() {
        file.forEachValue { #expect(!$0["enum"].elements.contains(.null), "\($0)") }
        for (name, schema) in file["components"]["schemas"].members {
            for (property, value) in schema["properties"].members {
                if case .boolean = value["const"] { Issue.record("\(name).\(property)") }
            }
        }
    }

    private func inCenter(_ item: ContractValue) -> ContractValue {
        var made = item
        let center: ContractValue = .object(["$ref": .text("#/components/parameters/Center")])
        made["parameters"] = .array([center] + item["parameters"].elements)
        for (method, operation) in item.members where method != "parameters" {
            made[method] = operationInCenter(operation)
        }
        return made
    }

    private func operationInCenter(_ operation: ContractValue) -> ContractValue {
        var made = operation
        made["operationId"] = operation["operationId"].text.map { .text($0 + "InCenter") } ?? .null
        made["summary"] =
            operation["summary"].text.map { .text($0.dropLast() + " (in one center).") } ?? .null
        if operation["description"] != .null {
            made["description"] = .text("As without the prefix.")
        }
        if operation["tags"].elements.contains(.text("Looking inside")),
            operation["responses"]["404"] == .null
        {
            made["responses"]["404"] = .object(["$ref": .text("#/components/responses/NotFound")])
        }
        for (status, answer) in operation["responses"].members where answer["links"] != .null {
            made["responses"][status]["links"] = linksInCenter(answer["links"])
        }
        return made
    }

    /// Links lead on in the same center; what leads into one already has no place there.
    private func linksInCenter(_ links: ContractValue) -> ContractValue {
        .object(
            links.members.compactMapValues { reference in
                var link = file.resolving(reference)
                guard link["parameters"]["path.center"] == .null else { return nil }
                link["operationId"] =
                    link["operationId"].text.map { .text($0 + "InCenter") } ?? .null
                link["parameters"]["path.center"] = .text("$request.path.center")
                return link
            })
    }
}
