internal import BelfryBytes

/// Writes the response with which a server opens a connection (RFC 6455 §4.2.2).
public enum OpeningAnswer {
    /// Appends the response; frames follow it.
    ///
    /// All of it is the server's own text, so no text from outside can be in it.
    ///
    /// - Parameters:
    ///   - acceptKey: the answer of `OpeningDecision` or `UsualOpening` to the key.
    ///   - subprotocol: the one that was chosen, if the client offered any.
    ///   - extensions: the agreement on extensions, if any.
    ///   - date: the value of Date (RFC 9110 §6.6.1).
    ///   - output: the buffer to append to.
    public static func append(
        acceptKey: [UInt8], subprotocol: [UInt8]?, extensions: [UInt8]?, date: [UInt8],
        to output: inout [UInt8]
    ) {
        output.append(literal: "HTTP/1.1 101 Switching Protocols\r\nDate: ")
        output.append(contentsOf: date)
        output.append(literal: "\r\nSec-WebSocket-Accept: ")
        output.append(contentsOf: acceptKey)
        if let subprotocol {
            output.append(literal: "\r\nSec-WebSocket-Protocol: ")
            output.append(contentsOf: subprotocol)
        }
        if let extensions {
            output.append(literal: "\r\nSec-WebSocket-Extensions: ")
            output.append(contentsOf: extensions)
        }
        output.append(literal: "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
    }
}
