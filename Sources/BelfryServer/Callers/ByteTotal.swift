/// The bytes of unfinished input of all connections of a loop.
final class ByteTotal {
    private(set) var count = 0

    init() {}

    func add(_ byteCount: Int) { count += byteCount }
}
