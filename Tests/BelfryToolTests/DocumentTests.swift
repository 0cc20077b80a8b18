import BelfryServer
import Foundation
import Testing

@testable import belfry

@Suite("Documents that are made of rows")
struct DocumentTests {
    /// With WRITE_DOCUMENTS=1 the document is written instead.
    @Test(
        "a document is the page that the rows make",
        arguments: [
            ("Options.md", SettingsDocument.page), ("Metrics.md", MetricsDocument.page),
            ("belfry.1", ManualPage.page),
        ])
    func page(name: String, page: String) throws {
        let path = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Documentation/\(name)").standardized
        if ProcessInfo.processInfo.environment["WRITE_DOCUMENTS"] != nil {
            try page.write(to: path, atomically: true, encoding: .utf8)
        }
        #expect(try String(contentsOf: path, encoding: .utf8) == page)
    }
}
