internal import COpenSSL

/// The errors that libssl has noted on this thread since they were cleared.
enum ErrorQueue {
    static func clear() {
        ERR_clear_error()
    }

    /// The number of the oldest one: the cause of those after it.
    static var firstReason: Int32 {
        let code = ERR_peek_error()
        return code == 0 ? 0 : ERR_GET_REASON(code)
    }

    /// The number of the latest one.
    static var lastReason: Int32 {
        let code = ERR_peek_last_error()
        return code == 0 ? 0 : ERR_GET_REASON(code)
    }

    /// The words of libssl for the oldest one.
    static var firstText: String {
        text(of: ERR_peek_error())
    }

    /// The words of libssl for the latest one: what the failure meant to the connection.
    static var lastText: String {
        text(of: ERR_peek_last_error())
    }

    private static func text(of code: UInt) -> String {
        // SAFETY: the text is a constant of libcrypto that ends in a zero byte, or there is none.
        guard let text = unsafe ERR_reason_error_string(code) else { return "unknown reason" }
        return unsafe String(cString: text)
    }
}
