import CZlib

/// Inflates messages, each by itself (RFC 7692 §7.2.2).
///
/// It keeps nothing from one message to the next, so one serves all connections of a thread: each
/// of their readers uses it for as long as one call takes. It costs 40 KiB, and a buffer of 16 KiB.
@safe public final class Inflater {
    /// The end of a flush, which a sender leaves out (RFC 7692 §7.2.1).
    static let tail: [UInt8] = [0, 0, 0xFF, 0xFF]

    /// The bytes that the last step made.
    private(set) var piece: [UInt8]

    /// The bytes that have been inflated so far, by which the work of a turn is bounded.
    public private(set) var inflatedByteCount = 0

    private let stream: UnsafeMutablePointer<z_stream>
    private var state = State.running
    /// Whether the last step that read something ended right behind a block.
    private var endsBlock = false

    private enum State {
        case running
        /// A last block has ended, and the next byte begins another row of blocks.
        case betweenStreams
        case failed
    }

    /// The most bytes that one step makes: a bomb is seen after so many bytes too many.
    static let pieceByteLimit = 16_384

    /// An inflater, which takes any window.
    public init() {
        piece = [UInt8](repeating: 0, count: Self.pieceByteLimit)
        // SAFETY: the stream is used by this object alone, and freed in deinit.
        guard let stream = unsafe belfry_inflate_make() else {
            preconditionFailure("there is no memory for an inflater")
        }
        unsafe self.stream = stream
    }

    deinit {
        // SAFETY: nothing else holds the stream.
        unsafe belfry_inflate_free(stream)
    }

    /// Forgets the last message, also one that was not read to its end.
    func begin() {
        // SAFETY: the stream is valid for as long as this object is.
        unsafe inflateReset(stream)
        state = .running
        endsBlock = false
    }

    /// Inflates on at `cursor`.
    ///
    /// - Returns: how many bytes `piece` begins with; 0 means that all of the input was read.
    func step(_ bytes: Span<UInt8>, at cursor: inout Int) throws(WebSocketError) -> Int {
        while true {
            switch state {
            case .running: break
            case .failed: throw .invalidDeflate
            case .betweenStreams:
                guard cursor < bytes.count else { return 0 }
                // The window stays: what follows may refer to it.
                // SAFETY: the stream is valid for as long as this object is.
                unsafe inflateResetKeep(stream)
                state = .running
            }
            let step = inflate(bytes.extracting(cursor..<bytes.count))
            cursor += step.input_count
            inflatedByteCount += step.output_count
            if step.input_count > 0 { endsBlock = isBehindBlock }
            switch step.status {
            case Z_OK, Z_BUF_ERROR: break
            case Z_STREAM_END: state = .betweenStreams
            default: state = .failed
            }
            if step.output_count > 0 { return step.output_count }
            if state == .running { return 0 }
        }
    }

    /// Whether a message may end where the last step has ended.
    var isAtBoundary: Bool {
        switch state {
        case .running: endsBlock
        case .betweenStreams: true
        case .failed: false
        }
    }

    private var isBehindBlock: Bool {
        // SAFETY: the stream is valid for as long as this object is.
        unsafe belfry_inflate_is_between_blocks(stream) != 0
    }

    private func inflate(_ bytes: Span<UInt8>) -> belfry_zlib_step {
        // SAFETY: the stream is valid for as long as this object is.
        let stream = unsafe stream
        // SAFETY: zlib reads the input during the call only, and writes at most as many bytes as
        // the buffer has.
        return unsafe piece.withUnsafeMutableBufferPointer { output in
            unsafe bytes.withUnsafeBufferPointer { input in
                unsafe belfry_inflate(
                    stream, input.baseAddress, input.count, output.baseAddress, output.count)
            }
        }
    }
}
