import BelfryStore
import Foundation

/// A directory of its own for one test, which goes with it.
final class TemporaryDirectory {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("belfry-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func path(of name: String) -> String { path + "/" + name }

    func bytes(of name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: path(of: name))))
    }

    /// Writes over the file, which stays the same one.
    func write(_ bytes: some Sequence<UInt8>, to name: String) throws {
        try Data(bytes).write(to: URL(fileURLWithPath: path(of: name)))
    }

    func has(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(of: name)) }

    func remove(_ name: String) throws {
        try FileManager.default.removeItem(atPath: path(of: name))
    }
}

/// The two stores that must not differ.
enum StoreKind: CaseIterable {
    case memory, file
}

/// One of them, with what a restart is for it.
final class TestStore {
    private let directory: TemporaryDirectory
    private let limits: StoreLimits
    private var memory: MemoryStore?
    private var file: StoreFile?

    init(_ kind: StoreKind, limits: StoreLimits = StoreLimits()) throws {
        directory = try TemporaryDirectory()
        self.limits = limits
        switch kind {
        case .memory: memory = MemoryStore(limits: limits)
        case .file: file = try open()
        }
    }

    func commit(_ changes: [StoreChange]) throws {
        try memory?.commit(changes)
        try file?.commit(changes)
    }

    func load() throws -> StoreImage {
        if let image = try memory?.load() { return image }
        guard let image = try file?.load() else { throw StoreError.locked }
        return image
    }

    /// Begins the next life, after an end in order or after kill -9.
    func restart(inOrder: Bool) throws {
        if inOrder { try commit([.cleanEnd]) }
        memory?.restart()
        guard file != nil else { return }
        file = nil
        file = try open()
    }

    private func open() throws -> StoreFile {
        try StoreFile(directory: directory.path, durability: .process, limits: limits)
    }
}
