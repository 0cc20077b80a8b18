import BelfryCenter
import BelfryWire
import Testing

/// A template reads a content like the reader that finds every fault.
@Suite("PostTemplate")
struct PostTemplateTests {
    private let reader = RequestReader()

    @Test(
        "a notification is read as by the reader, or not at all",
        arguments: [
            #"{"name":"a"}"#, #"{"name":"a","object":"o","userInfo":{"x":[1]}}"#,
            #" { "userInfo" : {} , "object" : "ö" , "name" : "é" } "#, #"{"name":"seven77"}"#,
        ])
    func whole(text: String) throws {
        let body = [UInt8](text.utf8)
        let posts = try reader.notifications(in: body.span).posts
        #expect(reader.content(of: PostTemplate(), body: body.span) == posts.first?.content)
    }

    @Test(
        "what is unusual or wrong is left to the reader",
        arguments: [
            "", " ", "{}", "[]", "null", #"{"name":"a""#, #"{"name":"a"}}"#, #"{"name":""}"#,
            #"{"name":"a",}"#, #"{"name":"a"{"object":"o"}}"#, #"{,"name":"a"}"#,
            #"{"name":"a","name":"b"}"#, #"{"name":"a","object":""}"#,
            #"{"name":"a","object":"","object":"o"}"#, #"{"name":"a","object":null}"#,
            #"{"name":"a","userInfo":null}"#, #"{"name":"a","userInfo":[]}"#,
            #"{"name":"a","userInfo":{},"userInfo":{}}"#, #"{"name":"a","style":"asap"}"#,
            #"{"name":"a","names":"b"}"#, #"{"name":"\u0061"}"#, #"{"n\u0061me":"a"}"#,
            #"{"name":"belfry.a"}"#, #"{"object":"o"}"#, #"{"name":7}"#, #"{"":"a"}"#,
            "{\"name\":\"a\u{7F}\"}",
        ])
    func left(text: String) {
        let body = [UInt8](text.utf8)
        #expect(reader.content(of: PostTemplate(), body: body.span) == nil)
    }

    @Test("the template of a post has its name, its object and its options")
    func ofPost() throws {
        let options = [QueryParameter(name: Array("style".utf8), value: Array("asap".utf8))]
        let post = try reader.channelPost(
            name: Array("a".utf8), object: Array("o".utf8), options: options,
            body: Array(#"{"x":1}"#.utf8).span)
        let template = try #require(PostTemplate(of: post))
        #expect(template.options == post.options)
        for text in [#" {"y":[2]} "#, "", "\n"] {
            let body = [UInt8](text.utf8)
            let other = try reader.channelPost(
                name: Array("a".utf8), object: Array("o".utf8), body: body.span)
            #expect(reader.content(of: template, body: body.span) == other.content)
        }
        let caused = PostRequest(content: post.content, causedBy: Bench.id)
        #expect(PostTemplate(of: caused) == nil)
    }

    @Test("a name that may not be posted has no template", arguments: ["", "belfry.x", "a\u{1}"])
    func names(name: String) {
        let bytes = [UInt8](name.utf8)
        #expect(PostTemplate(name: bytes.span, limits: WireLimits()) == nil)
    }
}
