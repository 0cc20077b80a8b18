import Glibc

/// Writes what happens in one seed into a file.
func record(_ order: Order) -> Int32 {
    guard order.operands.count == 2, let seed = UInt64(order.operands[1]) else { return 2 }
    let world = World(seed: seed)
    world.keepRecord()
    do throws(Violation) {
        for _ in 0..<order.stepCount { try world.step() }
    } catch {
        print("seed \(seed), step \(world.stepCount): \(error.text)")
        return 1
    }
    let bytes = world.recorder.bytes
    // SAFETY: the strings end in 0 and live during the call; the file is closed below, once.
    guard let file = unsafe fopen(order.operands[0], "wb") else { return 2 }
    // SAFETY: the span has as many bytes as are written, and lives during the call.
    let written = unsafe bytes.withUnsafeBytes { unsafe fwrite($0.baseAddress, 1, $0.count, file) }
    guard unsafe fclose(file) == 0, written == bytes.count else { return 2 }
    print("seed \(seed): \(world.commandCount) commands, \(bytes.count) bytes")
    return 0
}

/// Does what a file says, and compares the digests.
func replay(_ order: Order) -> Int32 {
    // SAFETY: the strings end in 0 and live during the call; the file is closed below, once.
    guard let name = order.operands.first, let file = unsafe fopen(name, "rb") else { return 2 }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        // SAFETY: at most as many bytes as the buffer has are written into it.
        let count = unsafe buffer.withUnsafeMutableBytes {
            unsafe fread($0.baseAddress, 1, $0.count, file)
        }
        if count == 0 { break }
        bytes += buffer[..<count]
    }
    unsafe fclose(file)
    do throws(Violation) {
        print("\(try Replayer.replay(bytes)) digests are equal")
        return 0
    } catch {
        print(error.text)
        return 1
    }
}
