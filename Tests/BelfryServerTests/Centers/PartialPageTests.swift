import Testing

@testable import BelfryServer

@Suite("Pages of the past that have no room for all (Protocol.md section 16)")
struct PartialPageTests {
    @Test("the newest that a page has no room for are told as missing")
    func partial() throws {
        let stage = try Stage.archiving()
        try stage.archive("a")
        let text = String(repeating: "x", count: 200_000)
        for number in 1...12 {
            try stage.post("a", "o\(number)", userInfo: #"{"n":\#(number),"s":"\#(text)"}"#)
        }
        func read(_ query: String) throws -> Value {
            let http = try stage.broker.http()
            try http.send(HTTPPeer.text("GET", "/v1/notifications?\(query)"))
            _ = try http.readHead()
            return try #require(try http.read()).json
        }
        var page = try read("name=a&last=12")
        var numbers = Stage.numbers(page["notifications"].elements)
        #expect(numbers.last == 12 && numbers.count < 12)
        while page["partial"] == true {
            #expect(page["next"] == .null)
            let first = page["notifications"][0]["seq"].int ?? 0
            page = try read("name=a&last=\(12 - numbers.count)&before=\(first)")
            numbers = Stage.numbers(page["notifications"].elements) + numbers
        }
        #expect(numbers == Array(1...12))
        #expect(try read("name=a&lastEach=1")["partial"] == true)
        #expect(try !stage.past("name=a&last=2").json.has("partial"))
        #expect(try !stage.past("name=a&lastEach=1&object=o3").json.has("partial"))
        #expect(try !stage.past("name=a&limit=2").json.has("partial"))
    }
}
