internal import CBelfrySystem
internal import Glibc

/// A system call that failed, and why.
///
/// `EINTR` never gets here (the call is repeated), nor does `EAGAIN`, which is a result.
public struct SystemCallError: Error, Equatable, Sendable {
    /// The call as the manual names it, such as `accept4`.
    public let call: String
    /// The error number, such as `EMFILE`.
    public let errno: Int32

    /// Creates the error of a failed call.
    public init(call: String, errno: Int32) {
        self.call = call
        self.errno = errno
    }

    /// Whether the process or the machine has run out of descriptors or of memory for them.
    public var isExhaustion: Bool {
        switch errno {
        case EMFILE, ENFILE, ENOMEM, ENOBUFS: true
        default: false
        }
    }

    /// Whether the disk, or the part of it that the process may use, is full.
    public var isFullDisk: Bool {
        switch errno {
        case ENOSPC, EDQUOT: true
        default: false
        }
    }

    /// Whether the remote endpoint has given up the connection.
    public var isReset: Bool {
        switch errno {
        case ECONNRESET, EPIPE, ECONNABORTED: true
        default: false
        }
    }
}

extension SystemCallError: CustomStringConvertible {
    /// The call, the error's usual text and its number.
    public var description: String {
        "\(call): \(text) (\(errno))"
    }

    private var text: String {
        // SAFETY: strerrordesc_np(3) returns a static string that ends in a zero byte, or null.
        guard let text = unsafe belfry_error_text(errno) else { return "unknown error" }
        return unsafe String(cString: text)
    }
}

/// Passes on what a call returned, or throws when it is a negative error number.
func checked(_ outcome: Int32, _ call: String) throws(SystemCallError) -> Int32 {
    if outcome < 0 { throw SystemCallError(call: call, errno: -outcome) }
    return outcome
}

/// Passes on the count that a call returned, `nil` for `EAGAIN`, or throws.
func countOrBlocked(_ outcome: Int, _ call: String) throws(SystemCallError) -> Int? {
    if outcome >= 0 { return outcome }
    let errno = Int32(truncatingIfNeeded: -outcome)
    if errno == EAGAIN { return nil }
    throw SystemCallError(call: call, errno: errno)
}
