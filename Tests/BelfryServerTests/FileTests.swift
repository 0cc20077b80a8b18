import BelfryTLS
import Foundation
import Testing

@testable import BelfryServer
@testable import BelfryWebSocket

@Suite("The files of the broker (RFC 9110 §8.8.3, §13.1.2)")
struct FileTests {
    private static func names(of folder: AssetFolder) -> [String] {
        folder.files.keys.map { String(decoding: $0, as: UTF8.self) }
    }
    private static let paths =
        Asset.files.keys.map(\.facts.path)
        + AssetFolder.allCases.flatMap { folder in names(of: folder).map { "/\(folder)/\($0)" } }

    @Test("a file has a strong tag of its bytes, and who has them is told so", arguments: paths)
    func entityTag(path: String) throws {
        let broker = try Broker()
        let file = try broker.get(path)
        let tag = try #require(file.field("etag"))
        #expect(tag.hasPrefix("\"") && tag.count == 34)
        #expect(file.field("cache-control") == "no-cache")
        for condition in [tag, "W/\(tag)", "\"other\", \(tag)", "*"] {
            let answer = try broker.get(path, fields: ["If-None-Match: \(condition)"])
            #expect(answer.status == 304)
            #expect(answer.body.isEmpty && answer.field("content-type") == nil)
            for field in ["etag", "cache-control", "vary", "content-location"] {
                #expect(answer.field(field) == file.field(field))
            }
        }
        for condition in ["\"other\"", "W/\"\"", "nonsense", ""] {
            let answer = try broker.get(path, fields: ["If-None-Match: \(condition)"])
            #expect(answer.status == 200 && answer.body == file.body)
        }
    }

    @Test(
        "the bytes that gzip makes have a tag of their own",
        arguments: paths.filter { !$0.hasSuffix(".png") })
    func entityTagOfGzip(path: String) throws {
        let broker = try Broker()
        let gzip = ["Accept-Encoding: gzip"]
        let (plain, compressed) = (try broker.get(path), try broker.get(path, fields: gzip))
        #expect(compressed.field("content-encoding") == "gzip")
        let tag = try #require(compressed.field("etag"))
        #expect(tag != plain.field("etag"))
        let condition = "If-None-Match: \(tag)"
        #expect(try broker.get(path, fields: gzip + [condition]).status == 304)
        #expect(try broker.get(path, fields: [condition]).status == 200)
    }

    @Test("the library says where its bytes are for ever, and there they may be kept")
    func fixedLibrary() throws {
        let broker = try Broker()
        let library = try broker.get("/belfry.js")
        let place = try #require(library.field("content-location"))
        #expect(place.hasPrefix("belfry-") && place.hasSuffix(".js"))
        let fixed = try broker.get("/\(place)")
        #expect(fixed.status == 200 && fixed.body == library.body)
        #expect(fixed.field("cache-control") == "public, max-age=31536000, immutable")
        #expect(fixed.field("content-type") == library.field("content-type"))
        #expect(fixed.field("etag") == library.field("etag"))
    }

    /// Bytes that the library may have over the wire, compressed.
    private static let librarySizeLimit = 16 << 10

    @Test("the library is served minified and compressed, in at most 16 KiB")
    func minifiedLibrary() throws {
        let broker = try Broker()
        let gzip = try broker.get("/belfry.js", fields: ["Accept-Encoding: gzip"])
        #expect(gzip.field("content-encoding") == "gzip")
        #expect(gzip.body.count <= Self.librarySizeLimit, "\(gzip.body.count) bytes")
        let plain = try broker.get("/belfry.js")
        // Ten bytes are before what is deflated, and a checksum and the size behind.
        let inflater = Inflater()
        inflater.begin()
        var (inflated, cursor) = ([UInt8](), 0)
        let deflated = gzip.body.dropFirst(10).dropLast(8)
        while case let count = try inflater.step(Array(deflated).span, at: &cursor), count > 0 {
            inflated += inflater.piece.prefix(count)
        }
        #expect(inflated == plain.body, "run Scripts/library")
        #expect(plain.field("content-encoding") == nil)
        #expect(try plain.body == Self.bytes(ofWeb: "belfry.min.js"))
        let refused = try broker.get("/belfry.js", fields: ["Accept-Encoding: gzip;q=0, br"])
        #expect(refused.body == plain.body)
    }

    @Test("the minified library was made of the library that there is")
    func madeLibrary() throws {
        let source = try Self.bytes(ofWeb: "belfry.js")
        let text = Digest(of: source.span).bytes.map {
            ($0 < 16 ? "0" : "") + String($0, radix: 16)
        }.joined()
        let made = String(decoding: try Self.bytes(ofWeb: "belfry.min.js"), as: UTF8.self)
        let first = made.prefix { $0 != "\n" }
        #expect(
            first.contains("(SHA-256 \(text.prefix(16)))"), "\(first); run Scripts/library")
    }

    @Test("the library as it was written is beside it, for whoever reads it in a debugger")
    func readableLibrary() throws {
        let broker = try Broker()
        let readable = try broker.get("/belfry.debug.js")
        #expect(try readable.body == Self.bytes(ofWeb: "belfry.js"))
        let library = try broker.get("/belfry.js")
        for field in ["content-type", "cross-origin-resource-policy", "x-typescript-types"] {
            #expect(readable.field(field) == library.field(field), "\(field)")
        }
        #expect(readable.field("content-location") == nil)
    }

    @Test("no part of a file is sent alone (RFC 9110 §14.2)", arguments: paths)
    func noRanges(path: String) throws {
        let broker = try Broker()
        let file = try broker.get(path)
        let part = try broker.get(path, fields: ["Range: bytes=0-9"])
        #expect(part.status == 200 && part.body == file.body)
        #expect(part.field("accept-ranges") == file.field("accept-ranges"))
        #expect(part.field("content-range") == nil)
    }

    private static let web = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Web")

    /// A file of the folder Web.
    private static func bytes(ofWeb name: String) throws -> [UInt8] {
        try Array(Data(contentsOf: web.appending(path: name)))
    }

    @Test("another digest leads to the library that there is", arguments: ["0", "0.1.0", "%2F"])
    func otherDigest(digest: String) throws {
        let answer = try Broker().get("/belfry-\(digest).js")
        #expect(answer.status == 307)
        #expect(answer.field("location") == "belfry.js")
        #expect(answer.field("cache-control") == "no-cache")
    }

    /// The type of each file of a folder, by the end of its name.
    private static let types = [
        "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
        "png": "image/png", "svg": "image/svg+xml", "webmanifest": "application/manifest+json",
    ]

    @Test(
        "each file of a page's folder is served as what it is, and nothing else is",
        arguments: AssetFolder.allCases)
    func folder(_ folder: AssetFolder) throws {
        let names = try FileManager.default.contentsOfDirectory(
            atPath: Self.web.appending(path: "\(folder)").path())
        #expect(Set(names) == Set(Self.names(of: folder)))
        let broker = try Broker()
        for name in names {
            let file = try broker.get("/\(folder)/\(name)")
            #expect(try file.body == Self.bytes(ofWeb: "\(folder)/\(name)"))
            let end = try #require(name.split(separator: ".").last)
            #expect(file.field("content-type") == Self.types[String(end)])
        }
        for name in [
            "", "main", "main.js/", "../belfry.js", "%2E%2E%2Fbelfry.js", "MAIN.JS", "main.js%00",
        ] {
            #expect(try broker.get("/\(folder)/\(name)").status >= 400, "\(name)")
        }
    }

    @Test("a page may talk to its own broker alone", arguments: ["/", "/desk"])
    func policy(path: String) throws {
        let page = try Broker().get(path)
        #expect(page.field("content-security-policy") == Asset.contentSecurityPolicy)
        #expect(page.field("referrer-policy") == "no-referrer")
    }

    @Test("no digest is no path", arguments: ["/belfry-.js", "/belfry-0.css", "/elfry-0.js"])
    func noDigest(path: String) throws {
        #expect(try Broker().get(path).problem == "not-found")
    }
}

@Suite("/try: a small page to look at and to copy")
struct TryPageTests {
    @Test("the page observes what the query names, and refers to its own folder alone")
    func page() throws {
        let page = try Broker().get("/try?name=ButtonChange&object=calculator&center=team")
        #expect(page.status == 200)
        #expect(page.field("content-type") == "text/html; charset=utf-8")
        #expect(page.text.contains(#"{ name: "ButtonChange", object: "calculator" }"#))
        #expect(page.text.contains(#"{ center: "team" }"#))
        #expect(page.text.contains(#"from "./belfry.js""#))
        #expect(!page.text.contains("\"/") && !page.text.contains("http"))
        #expect(page.text.split(separator: "\n").count <= 37)
    }

    @Test("what is not named is any, and the center is the default one")
    func anything() throws {
        let page = try Broker().get("/try").text
        #expect(page.contains("{ name: null, object: null }"))
        #expect(page.contains("{ center: null }"))
    }

    @Test("before its script runs the page says what it needs, and the script says how to post")
    func words() throws {
        let page = try Broker().get("/try?name=ButtonChange").text
        #expect(page.contains("<p>Loading; this page needs JavaScript and its broker.</p>"))
        #expect(page.contains("`Press the button to listen to ${what}.`"))
        #expect(page.contains("`Listening to ${what}; post with:`"))
        #expect(page.contains("`${observed.name ?? \"every notification\"}${of}`"))
        #expect(page.contains(##"`curl -d '{"title":"7"}' '${url.href.replaceAll("'", "%27")}'`"##))
    }

    static let hostile = [
        "</script><script>alert(1)</script>", "</title><script>alert(1)</script>",
        "\"};alert(1);//",
        "\\\"};alert(1);//", "<!--<script>", "`${alert(1)}`", "&lt;b&gt;", "\u{2028}alert(1)",
        "😀\u{FFFD}",
    ]

    @Test("a name and an object are text, whatever they have", arguments: hostile)
    func hostileText(text: String) throws {
        let encoded = text.utf8.map { "%" + String(format($0)) }.joined()
        let page = try Broker().get("/try?name=\(encoded)&object=\(encoded)&center=\(encoded)")
        #expect(page.status == 200)
        let pieces = page.text.components(separatedBy: "<")
        #expect(
            pieces.dropFirst().map { String($0.prefix { $0 != ">" && $0 != " " }) }
                == [
                    "!doctype", "meta", "title", "/title", "p", "/p", "button", "/button", "pre",
                    "/pre", "ol", "/ol",
                    "script",
                    "/script",
                ])
        // The literals are JSON but for their names, and say what was asked.
        let observed = try #require(page.text.split(separator: "observed = ").last)
        let literals = observed.prefix { $0 != "\n" }.dropLast()
            .replacing("{ name:", with: "{\"name\":").replacing(", object:", with: ",\"object\":")
        let value = try Value(Array(literals.utf8))
        #expect(value == .object(["name": .text(text), "object": .text(text)]))
    }

    private func format(_ byte: UInt8) -> String {
        let digits = Array("0123456789ABCDEF")
        return "\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }

    @Test("the policy lets this script run, and no other", arguments: ["a", "b&object=<c>"])
    func policy(query: String) throws {
        let page = try Broker().get("/try?name=\(query.replacing("<c>", with: "%3Cc%3E"))")
        let script = try #require(
            page.text.components(separatedBy: "<script type=\"module\">").last?
                .components(separatedBy: "</script>").first)
        let digest = Base64.standard.encode(Digest(of: Array(script.utf8).span).bytes.span)
        let policy = try #require(page.field("content-security-policy"))
        #expect(policy.hasPrefix("default-src 'none'; "))
        let hash = String(decoding: digest, as: UTF8.self)
        #expect(policy.contains("script-src 'self' 'sha256-\(hash)';"))
        #expect(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"))
        #expect(page.field("x-content-type-options") == "nosniff")
    }

    @Test(
        "a text that no observer can have is refused",
        arguments: ["name=", "object=%00", "center=", "title=a", "name=a&name=b"])
    func refused(query: String) throws {
        let answer = try Broker().get("/try?\(query)")
        #expect(answer.problem == "invalid-fields")
        #expect(answer.place == String(query.prefix { $0 != "=" }))
    }

    @Test("a name has 255 characters, and no more")
    func limit() throws {
        let broker = try Broker()
        let name = String(repeating: "a", count: 255)
        #expect(try broker.get("/try?name=\(name)").status == 200)
        #expect(try broker.get("/try?name=\(name)a").place == "name")
    }
}
