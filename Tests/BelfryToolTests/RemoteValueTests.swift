import BelfryClient
import Testing

@Suite("RemoteCenter: values, with a broker")
struct RemoteValueTests {
    @Test("what is set is there, and what is refused is told with its problem")
    func writes() async throws {
        let broker = try await RunningBroker()
        let center = try await RemoteCenter.connect(to: broker.url)
        #expect(try await center.value("o") == nil)
        let set = try await center.setValue("o", keyPath: "n", json: "12345678901234567890.10")
        #expect(set.isChanged && set.matched == 0)
        let value = try #require(try await center.value("o", keyPath: "n"))
        #expect(value.json == "12345678901234567890.10" && value.etag == set.etag)
        let again = try await center.setValue(
            "o", keyPath: "n", json: "12345678901234567890.10", ifMatch: value.etag)
        #expect(!again.isChanged && again.etag == value.etag)
        try await center.setValue("o", keyPath: "n", json: "2")
        for write in [false, true] {
            let error = await #expect(throws: ClientError.self) {
                if write {
                    try await center.mergeValue("o", patch: "{}", ifNoneMatch: "*")
                } else {
                    try await center.setValue("o", keyPath: "n", json: "3", ifMatch: value.etag)
                }
            }
            guard case .refused(let refusal) = error else { continue }
            #expect(refusal.slug == "precondition-failed" && refusal.status == 412)
        }
        await #expect(throws: ClientError.invalidValue) {
            try await center.setValue("o", keyPath: "n", json: "1,2")
        }
        try await center.removeValue("o")
        #expect(try await center.value("o", keyPath: "n") == nil)
        await center.close()
    }

    @Test("observers of the whole and of a place in it have the same value, however it was written")
    func observing() async throws {
        let broker = try await RunningBroker()
        let center = try await RemoteCenter.connect(to: broker.url)
        var options = ValueOptions()
        options.tellsOld = true
        let whole = try await center.addObserver(object: "o", keyPath: "", options: options)
        let place = try await center.addObserver(object: "o", keyPath: "a.b")
        try await center.setValue("o", keyPath: "a.b", json: #"{"x":1}"#)
        try await center.mergeValue("o", patch: #"{"a":{"b":{"y":2},"c":3},"d":4}"#)
        try await center.removeValue("o", keyPath: "a.b.x")
        try await center.setValue("o", json: #"{"a":{"b":[1,2]}}"#)
        try await center.removeValue("o")
        var wholes = whole.makeAsyncIterator()
        var places = place.makeAsyncIterator()
        var told: [[String?]] = []
        for _ in 0..<6 {
            let change = try #require(try await wholes.next())
            told.append([change.kind.rawValue, change.value, change.patch ?? change.old])
        }
        #expect(
            told == [
                ["removed", nil, nil],
                ["set", #"{"a":{"b":{"x":1}}}"#, nil],
                [
                    "merge", #"{"a":{"b":{"x":1,"y":2},"c":3},"d":4}"#,
                    #"{"a":{"b":{"y":2},"c":3},"d":4}"#,
                ],
                ["merge", #"{"a":{"b":{"y":2},"c":3},"d":4}"#, #"{"a":{"b":{"x":null}}}"#],
                ["merge", #"{"a":{"b":[1,2]}}"#, #"{"a":{"b":[1,2],"c":null},"d":null}"#],
                ["removed", nil, #"{"a":{"b":[1,2]}}"#],
            ])
        var values: [String?] = []
        for _ in 0..<6 { values.append(try #require(try await places.next()).value) }
        #expect(
            values == [
                nil, #"{"x":1}"#, #"{"x":1,"y":2}"#, #"{"y":2}"#, "[1,2]", nil,
            ])
        try await place.removeObserver()
        #expect(try await places.next() == nil)
        await center.close()
    }

    @Test("an entry with a lease goes when its client has gone for so long")
    func lease() async throws {
        let broker = try await RunningBroker()
        let center = try await RemoteCenter.connect(to: broker.url)
        let other = try await RemoteCenter.connect(to: broker.url)
        let who = try await center.addObserver(object: "room", keyPath: "who")
        try await other.setValue(
            "room", keyPath: "who.c4", json: #"{"name":"Ann"}"#, lease: .milliseconds(200))
        await other.close()
        var values: [String?] = []
        for try await change in who {
            values.append(change.value)
            if values.count == 3 { break }
        }
        #expect(values == [nil, #"{"c4":{"name":"Ann"}}"#, "{}"])
        await center.close()
    }
}
