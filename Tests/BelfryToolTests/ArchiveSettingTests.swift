import Testing

@testable import belfry

@Suite("The option archives (Options.md)")
struct ArchiveSettingTests {
    @Test(
        "a fault in the archives has its place in the configuration file",
        arguments: [
            (#"[{"name":"a","count":0}]"#, "`/archives/0/count` must"),
            (#"[{"name":"a"},{"name":"b","keepLast":1}]"#, "`/archives/1/keepLast` requires"),
            (#"[{"name":"a"},{"name":"a"}]"#, "`/archives/1/name` is that of an archive before"),
            (
                #"[{"namePrefix":"a"},{"name":"a"},{"namePrefix":"a"}]"#,
                "`/archives/2/namePrefix` is that of an archive before"
            ),
            (#"{"name":"a"}"#, "It is JSON such as [{"),
            (#"[{"count":1}]"#, "`/archives/0/name` is"),
        ])
    func archives(text: String, sentence: String) throws {
        var reader = SettingsReader()
        reader.flags = ["archives": text]
        let fault = #expect(throws: ToolError.self) { try reader.settings() }
        #expect(fault?.text.hasPrefix("--archives: \(sentence)") == true, "\(fault?.text ?? "")")
    }
}
