import Glibc
import Testing

@testable import BelfrySystem

@Suite("FileSystem (statfs(2))")
struct FileSystemTests {
    @Test("a path of this machine has a file system, and /proc has nothing free")
    func kinds() throws {
        #expect(try FileSystem(of: "/").freeByteCount > 0)
        #expect(try FileSystem(of: "/proc") == FileSystem(kind: .disk, freeByteCount: 0))
        #expect(try FileSystem(of: "/dev/shm").kind == .memory)
    }

    @Test("a path that is not there says so")
    func absent() {
        #expect(throws: SystemCallError(call: "statfs", errno: ENOENT)) {
            try FileSystem(of: "/proc/none")
        }
    }
}
