import Testing

@testable import BelfrySystem

@Suite("MemoryLimit (cgroups)")
struct MemoryLimitTests {
    @Test(
        "the smallest limit of the group and of those around it counts",
        arguments: [
            ("0::/\n", ["/sys/fs/cgroup/memory.max": "268435456\n"], 268_435_456),
            ("0::/\n", ["/sys/fs/cgroup/memory.max": "max\n"], nil),
            ("0::/\n", [:], nil),
            ("", ["/sys/fs/cgroup/memory.max": "1"], nil),
            (
                "0::/system.slice/belfry.service\n",
                [
                    "/sys/fs/cgroup/system.slice/belfry.service/memory.max": "max\n",
                    "/sys/fs/cgroup/system.slice/memory.max": "1000000\n",
                ], 1_000_000
            ),
            (
                "0::/a/b\n",
                ["/sys/fs/cgroup/a/b/memory.max": "7\n", "/sys/fs/cgroup/a/memory.max": "9\n"], 7
            ),
            (
                "12:cpu,cpuacct:/x\n4:memory:/docker/abc\n1:name=systemd:/x\n",
                ["/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes": "536870912\n"],
                536_870_912
            ),
            // In a container the group that is told may not be there, but the root is.
            (
                "4:memory:/docker/abc\n",
                ["/sys/fs/cgroup/memory/memory.limit_in_bytes": "42\n"], 42
            ),
            (
                "4:memory:/\n",
                ["/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"], nil
            ),
            ("4:cpu:/x\nnonsense\n0:\n", ["/sys/fs/cgroup/x/memory.max": "1"], nil),
            ("0::/a:b\n", ["/sys/fs/cgroup/a:b/memory.max": "5"], 5),
        ] as [(String, [String: String], Int?)])
    func smallest(groups: String, files: [String: String], expected: Int?) {
        let limit = MemoryLimit.smallest(groups: Array(groups.utf8)) { path in
            files[path].map { Array($0.utf8) }
        }
        #expect(limit == expected)
    }

    @Test("asking this machine is no fault")
    func current() {
        #expect(MemoryLimit.current().map { $0 > 0 } ?? true)
    }
}
