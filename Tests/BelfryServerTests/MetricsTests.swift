import BelfryCenter
import BelfryWire
import Foundation
import Synchronization
import Testing

@testable import BelfryServer

@Suite("Metrics")
struct MetricsTests {
    private static func terms(_ name: String, _ more: String) -> String {
        #""name":"\#(name)","suspensionBehavior":\#(more)"#
    }

    @Test("losses are counted by reason, once for each observer", arguments: Scene.all)
    func losses(scene: Scene) throws {
        let stage = try Stage(scene) { $0.centerLimits.replayCountLimit = 1 }
        #expect(try MetricsPage(stage.broker).troubles("belfry_lost_total").isEmpty)
        for _ in 0..<2 { _ = try stage.register(stage.x, Self.terms("d", #""drop""#)) }
        _ = try stage.register(stage.x, Self.terms("c", #""coalesce""#))
        _ = try stage.register(stage.x, Self.terms("o", #""hold","holdLimit":1"#))
        _ = try stage.register(stage.x, Self.terms("e", #""hold""#))
        try stage.suspend(stage.x)
        // Two observers of "d" lose three, "c" keeps the last of three, "o" one of three.
        for name in ["d", "c", "o"] { for _ in 0..<3 { try stage.post(name) } }
        _ = try stage.post(json: #"{"name":"e","ttl":1}"#)
        var page = try MetricsPage(stage.broker)
        #expect(
            page.troubles("belfry_lost_total") == ["dropped": 6, "coalesced": 2, "overflow": 2])
        #expect(page["belfry_held_notifications"] == 3)
        try stage.broker.advance(by: .seconds(2))
        // How much of what the ring has forgotten this one would have got is not known.
        _ = try stage.register(stage.y, #""name":"d","since":1"#)
        page = try MetricsPage(stage.broker)
        #expect(
            page.troubles("belfry_lost_total")
                == ["dropped": 6, "coalesced": 2, "overflow": 2, "expired": 1, "unknown": 1])
        #expect(page["belfry_held_notifications"] == 2)
        try stage.suspend(stage.x, false)
        #expect(try MetricsPage(stage.broker)["belfry_held_notifications"] == 0)
    }

    @Test("what is refused is counted by the type of its problem", arguments: Scene.all)
    func refusals(scene: Scene) throws {
        let stage = try Stage(scene)
        #expect(try MetricsPage(stage.broker).troubles("belfry_refused_total").isEmpty)
        _ = try stage.post(json: #"{"name":7}"#)
        #expect(try stage.broker.get("/nowhere", loop: stage.postLoop).status == 404)
        #expect(try stage.broker.request("DELETE", "/livez").status == 405)
        #expect(
            try MetricsPage(stage.broker).troubles("belfry_refused_total")
                == ["invalid-fields": 1, "not-found": 1, "method-not-allowed": 1])
    }

    @Test("every reason and every type is there from the start, so that rates see the first one")
    func labels() throws {
        let page = try MetricsPage(try Broker())
        for reason in Gap.Reason.allCases {
            #expect(page[#"belfry_lost_total{reason="\#(reason.text)"}"#] == 0)
        }
        for kind in Problem.Kind.allCases {
            #expect(page[#"belfry_refused_total{type="\#(kind.slug)"}"#] == 0)
        }
    }

    @Test("a post that is queued counts when it is accepted, and not when it leaves")
    func queued() throws {
        let broker = try Broker()
        #expect(try broker.post(#"{"name":"a","style":"idle","modes":["m"]}"#).status == 202)
        #expect(try MetricsPage(broker)["belfry_posts_total"] == 1)
        let mode = #"{"mode":"m"}"#
        #expect(try broker.post(mode, target: "/v1/modes").status < 300)
        #expect(try MetricsPage(broker)["belfry_queue_entries"] == 0)
        #expect(try MetricsPage(broker)["belfry_posts_total"] == 1)
    }

    @Test("the process tells what it takes under the names of Prometheus")
    func process() throws {
        let page = try MetricsPage(try Broker())
        #expect(try #require(page["process_resident_memory_bytes"]) > 1_048_576)
        #expect(try #require(page["process_open_fds"]) >= 3)
        #expect(try #require(page["process_max_fds"]) >= 3)
        #expect(try #require(page["process_cpu_seconds_total"]) > 0)
        #expect(try #require(page["process_start_time_seconds"]) > 1_700_000_000)
    }

    @Test("the rules in Deploy/alerts.yaml name metrics that there are, with labels that there are")
    func alerts() throws {
        let broker = try Broker(beginning: try HandStore().beginning())
        broker.shared.figures.certificateEnd.store(1, ordering: .relaxed)
        let page = try MetricsPage(broker)
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Deploy/alerts.yaml")
        let text = try String(contentsOf: path, encoding: .utf8)
        let names = text.matches(of: /\b(?:belfry|process)_[a-z_]+/).map(\.output)
        #expect(Set(names).count > 10)
        let cluster = try BrokerCluster(count: 1)
        let clusterPage = try MetricsPage(cluster[0])
        for name in names { #expect(page.has(name) || clusterPage.has(name), "\(name)") }
        let words = Set(Problem.Kind.allCases.map(\.slug) + Gap.Reason.allCases.map(\.text))
        for label in text.matches(of: /(?:reason|type)=~?"([^"]+)"/) {
            for word in label.output.1.split(separator: "|") {
                #expect(words.contains(String(word)), "\(word)")
            }
        }
    }
}
