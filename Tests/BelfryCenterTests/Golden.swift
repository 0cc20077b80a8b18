import Foundation

@testable import BelfryCenter

/// Code that an earlier version wrote and every later one must read, as hexadecimal lines.
///
/// The files are in `Golden/`. A file of a version that was released is never changed.
/// `BELFRY_WRITE_GOLDEN=1` writes the files that are not there.
struct Golden {
    let lines: [[UInt8]]

    /// Reads a file; where there is none and it may be written, it has these lines from now on.
    init(_ name: String, writing newLines: @autoclosure () -> [[UInt8]]) throws {
        let url = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "Golden/\(name)")
        if ProcessInfo.processInfo.environment["BELFRY_WRITE_GOLDEN"] != nil,
            !FileManager.default.fileExists(atPath: url.path)
        {
            let text = newLines().map { Self.hexadecimal($0) + "\n" }.joined()
            try Data(text.utf8).write(to: url)
        }
        lines = try String(contentsOf: url, encoding: .utf8).split(separator: "\n").map(Self.bytes)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    private static func bytes(_ line: Substring) -> [UInt8] {
        var digits = line.utf8.compactMap(\.hexDigit).makeIterator()
        var bytes: [UInt8] = []
        while let high = digits.next(), let low = digits.next() { bytes.append(high << 4 | low) }
        return bytes
    }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? {
        Character(UnicodeScalar(self)).hexDigitValue.map(UInt8.init)
    }
}

extension CenterLimits {
    /// The limits with which the files were written.
    static var ofGoldenFiles: CenterLimits {
        var limits = CenterLimits()
        limits.actionLookLimit = 1_000_000
        limits.askFateLifetime = limits.fateLifetime
        return limits
    }
}
