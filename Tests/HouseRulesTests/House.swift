import Foundation

/// The package on disk, as the house rules see it.
struct House {
    let root: URL

    /// The package that this test belongs to.
    static let own: House = {
        var folder = URL(filePath: #filePath).deletingLastPathComponent()
        while !FileManager.default.fileExists(
            atPath: folder.appending(path: "Package.swift").path()),
            folder.pathComponents.count > 1
        {
            folder.deleteLastPathComponent()
        }
        return House(root: folder)
    }()

    /// The text of a file, or `nil` when there is none or it is not UTF-8.
    func text(of path: String) -> String? {
        try? String(contentsOf: root.appending(path: path), encoding: .utf8)
    }

    /// Whether documents that are made are written, and not only compared.
    static var writesDocuments: Bool {
        ProcessInfo.processInfo.environment["WRITE_DOCUMENTS"] != nil
    }

    /// Writes the text of a file.
    func write(_ text: String, to path: String) throws {
        try text.write(to: root.appending(path: path), atomically: true, encoding: .utf8)
    }

    /// The Swift files below this folder, without those of a DocC catalog, which are in no room.
    func sources(in folder: String) -> [SwiftSource] {
        files(in: folder).filter { $0.hasSuffix(".swift") && !$0.contains(".docc/") }.compactMap {
            path in
            text(of: path).map { SwiftSource(path: path, text: $0) }
        }
    }

    /// The names of the folders directly below this one that hold a Swift file.
    func targets(in folder: String) -> Set<String> {
        let parts = files(in: folder).filter { $0.hasSuffix(".swift") }.map {
            $0.split(separator: "/")
        }
        return Set(parts.filter { $0.count > 2 }.map { String($0[1]) })
    }

    /// The paths of all files below this folder, sorted; hidden ones only where they are ours.
    ///
    /// The paths in `.gitignore` are left out: build folders, data, Python's caches,
    /// `Package.resolved`.
    func files(in folder: String = "") -> [String] {
        let start = folder.isEmpty ? root : root.appending(path: folder)
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: start.path()) else {
            return []
        }
        let ours: Set = [".ci", ".gitignore", ".dockerignore", ".swift-format"]
        let ignored: Set = ["__pycache__", "belfry-data", "Package.resolved"]
        return names.sorted().flatMap { name -> [String] in
            guard !name.hasPrefix(".") || ours.contains(name), !ignored.contains(name) else {
                return []
            }
            let path = folder.isEmpty ? name : folder + "/" + name
            var isFolder: ObjCBool = false
            // SAFETY: the call writes one Bool into `isFolder`, which outlives it.
            let exists = unsafe FileManager.default.fileExists(
                atPath: root.appending(path: path).path(), isDirectory: &isFolder)
            return exists && isFolder.boolValue ? files(in: path) : [path]
        }
    }
}
