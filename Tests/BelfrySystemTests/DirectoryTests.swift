import BelfrySystem
import Foundation
import Testing

@Suite("Directory")
struct DirectoryTests {
    /// A path that is free, and removed after the body.
    func withPath(_ body: (String) throws -> Void) throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("belfry-directory-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: url) }
        try body(url.path)
    }

    func locked(_ directory: borrowing Directory) throws -> LockedFile {
        guard let lock = try directory.lock("lock") else {
            throw SystemCallError(call: "flock", errno: EWOULDBLOCK)
        }
        return lock
    }

    @Test("a file is locked by one at a time, and keeps what is written into it")
    func lock() throws {
        try withPath { path in
            let directory = try Directory(path: path)
            do {
                let lock = try locked(directory)
                #expect(throws: SystemCallError.self) { _ = try locked(directory) }
                let empty = try lock.start(byteCount: 9)
                #expect(empty.isEmpty)
                try lock.rewrite(Array("1234".utf8))
                try lock.rewrite(Array("56".utf8))
            }
            let lock = try locked(directory)
            let whole = try lock.start(byteCount: 9)
            #expect(whole == Array("56".utf8))
            let first = try lock.start(byteCount: 1)
            #expect(first == Array("5".utf8))
        }
    }

    @Test("a file that is allocated has its size, grows, and goes")
    func allocation() throws {
        try withPath { path in
            let directory = try Directory(path: path)
            let before = try directory.status(of: "room")
            #expect(before == nil)
            try directory.allocate("room", byteCount: 10_000)
            try directory.allocate("room", byteCount: 20_000)
            let status = try #require(try directory.status(of: "room"))
            #expect(status.byteCount == 20_000)
            let start = try directory.start(of: "room", byteCount: 3)
            #expect(start == [0, 0, 0])
            try directory.rename("room", to: "other")
            let old = try directory.status(of: "room")
            #expect(old == nil)
            let new = try directory.status(of: "other")
            #expect(new == status)
            try directory.remove("other")
            try directory.remove("other")
            let gone = try directory.status(of: "other")
            #expect(gone == nil)
        }
    }

    @Test("an allocation that is too large leaves the file as it was")
    func allocationFails() throws {
        try withPath { path in
            let directory = try Directory(path: path)
            try directory.allocate("room", byteCount: 4_096)
            #expect(throws: SystemCallError.self) {
                try directory.allocate("room", byteCount: 1 << 60)
            }
            let unchanged = try directory.status(of: "room")
            #expect(unchanged?.byteCount == 4_096)
        }
    }

    @Test("a directory that is there is opened; one below nothing is an error")
    func opening() throws {
        try withPath { path in
            _ = try Directory(path: path)
            _ = try Directory(path: path)
            #expect(throws: SystemCallError(call: "mkdir", errno: ENOENT)) {
                _ = try Directory(path: path + "/a/b")
            }
        }
    }

    @Test("a new file has its name once it is whole, takes nobody else's, and leaves nothing")
    func newFile() throws {
        try withPath { path in
            let partial = NewFile.partial(path)
            func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }
            let file = try NewFile(path: path)
            try file.write([1, 2])
            #expect(!has(path) && has(partial))
            let exists = SystemCallError(call: "open", errno: EEXIST)
            #expect(throws: exists) { _ = try NewFile(path: path) }
            try file.write([3])
            try file.finish()
            file.discard()
            #expect(try WholeFile.read(path: path, byteLimit: 9) == [1, 2, 3])
            #expect(!has(partial))
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(throws: exists) { _ = try NewFile(path: path) }
            try FileManager.default.removeItem(atPath: path)
            let other = try NewFile(path: path)
            other.discard()
            #expect(!has(path) && !has(partial))
        }
    }

    @Test("a file that is made takes its room at once, keeps its size, and gives both up")
    func reserving() throws {
        try withPath { path in
            let directory = try Directory(path: path)
            let file = try directory.create("new", reserving: 1 << 20)
            #expect(try directory.status(of: "new")?.byteCount == 0)
            #expect(throws: SystemCallError(call: "openat", errno: EEXIST)) {
                _ = try directory.create("new", reserving: 0)
            }
            let same = try directory.duplicate()
            #expect(try same.status(of: "new") == directory.status(of: "new"))
            #expect(throws: SystemCallError.self) {
                _ = try directory.create("huge", reserving: 1 << 60)
            }
            try Data([1, 2]).write(to: URL(fileURLWithPath: path + "/new"))
            let before = try file.bytes(9)
            #expect(before == [1, 2])
            try file.empty()
            let after = try file.bytes(9)
            #expect(after.isEmpty)
        }
    }
}
