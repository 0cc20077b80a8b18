import CBelfryAssets

/// A folder of files that belong to a page; the cases are in the order of `belfry_folder`.
enum AssetFolder: UInt32, CaseIterable {
    case console
    case desk

    /// The files of the folder, by name.
    var files: [[UInt8]: EmbeddedFile] { EmbeddedFile.ofFolders[self] ?? [:] }

    /// The files of the folder, copied.
    fileprivate var copied: [[UInt8]: EmbeddedFile] {
        let folder = belfry_folder(rawValue)
        return Dictionary(
            uniqueKeysWithValues: (0..<belfry_folder_file_count(folder)).map { file in
                let name = Array(
                    sequence(first: 0) { $0 + 1 }.lazy
                        .map { belfry_folder_file_name(folder, file, $0) }
                        .prefix { $0 != 0 })
                let count = belfry_folder_file_byte_count(folder, file)
                let bytes = (0..<count).map { belfry_folder_file_byte(folder, file, $0) }
                return (name, EmbeddedFile(bytes, contentType: Self.contentType(of: name)))
            })
    }

    /// The type of a file by the end of its name.
    private static func contentType(of name: [UInt8]) -> String {
        switch String(decoding: name.drop { $0 != UInt8(ascii: ".") }, as: UTF8.self) {
        case ".css": "text/css; charset=utf-8"
        case ".png": "image/png"
        case ".svg": "image/svg+xml"
        case ".webmanifest": "application/manifest+json"
        default: "text/javascript; charset=utf-8"
        }
    }
}

extension EmbeddedFile {
    /// The files of all folders, copied once in a process.
    static let ofFolders = Dictionary(
        uniqueKeysWithValues: AssetFolder.allCases.map { ($0, $0.copied) })
}
