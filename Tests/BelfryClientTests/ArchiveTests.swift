import Testing

@testable import BelfryClient

@Suite("Archives: requests and answers")
struct ArchiveTests {
    private func query(_ request: HTTPRequest) -> String {
        request.query.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
    }

    @Test("an archive is addressed by its name, or by a prefix, and has the bounds that were given")
    func archives() {
        var terms = ArchiveTerms()
        #expect(String(decoding: terms.json, as: UTF8.self) == "{}")
        terms.count = 1_000
        terms.byteLimit = 1 << 20
        terms.age = .seconds(60)
        terms.each = .object
        terms.keepLast = 1
        terms.isStored = false
        let request = HTTPRequest.putArchive(.prefix("Shop. "), terms)
        #expect(request.path == "archives/Shop.%20" && query(request) == "prefix=true")
        #expect(
            String(decoding: request.content, as: UTF8.self)
                == #"{"count":1000,"bytes":1048576,"age":60,"each":"object","keepLast":1,"#
                + #""stored":false}"#)
        #expect(query(HTTPRequest.removeArchive(.exactly("A"))).isEmpty)
        #expect(query(HTTPRequest.archives(cursor: "c")) == "limit=1000&cursor=c")
    }

    @Test("a row is an archive with its bounds and what it keeps")
    func row() throws {
        let json =
            #"{"namePrefix":"A.","count":null,"bytes":4096,"age":60,"each":"name","keepLast":0,"#
            + #""stored":true,"since":7,"kept":2,"keptBytes":80}"#
        let archive = try Archive(json: Array(json.utf8))
        #expect(archive.name == .prefix("A.") && archive.since == 7)
        #expect(archive.terms.count == nil && archive.terms.byteLimit == 4_096)
        #expect(archive.terms.age == .seconds(60) && archive.terms.each == .name)
        #expect(archive.terms.keepLast == 0 && archive.terms.isStored == true)
        #expect(archive.keptCount == 2 && archive.keptByteCount == 80)
        #expect(throws: ClientError.notUnderstood) { try Archive(json: Array("{}".utf8)) }
    }

    @Test("a look has the parameters that were given, and goes on where its page ended")
    func pages() throws {
        var wanted = PastQuery(
            NotificationFilter(names: .prefix("A."), objects: .exactly("o")))
        wanted.from = "2026-11-22T06:00:00Z"
        wanted.limit = 2
        #expect(
            query(.past(wanted)) == "namePrefix=A.&object=o&from=2026-11-22T06:00:00Z&limit=2")
        let json =
            #"{"notifications":[{"id":"n1","seq":3,"name":"A.b","postedAt":"t"}],"#
            + #""gaps":[{"reason":"unknown","lost":null,"firstSeq":1,"lastSeq":2}],"#
            + #""next":3,"seq":9,"epoch":"k3"}"#
        let page = try PastPage(json: Array(json.utf8))
        #expect(page.notifications.map(\.sequence) == [3])
        #expect(page.gaps.map(\.reason) == ["unknown"] && page.gaps.map(\.lostCount) == [nil])
        #expect(page.sequence == 9 && page.epoch == "k3")
        #expect(wanted.following(page)?.after == 3 && !page.isPartial)
        wanted.isNewestFirst = true
        #expect(wanted.following(page)?.before == 3 && wanted.following(page)?.after == nil)
        let end = try PastPage(
            json: Array(
                #"{"notifications":[],"next":null,"partial":true,"seq":9,"epoch":"k3"}"#.utf8))
        #expect(wanted.following(end) == nil && end.isPartial)
        #expect(throws: ClientError.notUnderstood) { try PastPage(json: Array("{}".utf8)) }
    }

    @Test("a removal says what goes")
    func removal() {
        var wanted = PastQuery(name: "A")
        wanted.before = 7
        #expect(
            query(.removeNotifications(wanted, id: "n1")) == "name=A&before=7&id=n1")
    }
}
