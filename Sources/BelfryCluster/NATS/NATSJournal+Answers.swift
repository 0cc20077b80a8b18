import BelfryNATS

// Messages to the journal: any client of the engine may have published one, so malformed ones are
// dropped.

extension NATSJournal {
    func take(_ message: Message) {
        guard message.headerBytes.count <= NATSSettings.headerBlockByteLimit else { return }
        switch Sid(rawValue: message.sid) {
        case .pushes?: takePush(message)
        case .beats?:
            if progress == .ready, let beat = Beat(code: message.payload) {
                events.append(.beat(beat))
            }
        case .answers?:
            guard let inquiry = Inquiry(subject: message.subject, inbox: inbox),
                inquiry.bringsData || message.payload.count <= NATSSettings.answerByteLimit
            else { return }
            take(message, for: inquiry)
        case nil: break
        }
    }

    private func take(_ message: Message, for inquiry: Inquiry) {
        switch inquiry {
        case .create(let stream): takeStream(message, stream, isOther: false)
        case .look(let stream): takeStream(message, stream, isOther: true)
        case .append(let name): takeAcknowledgement(message, of: name)
        case .batch(let read): takeBatch(message, of: read)
        case .end(let read): takeEnd(message, of: read)
        case .bounds(let index): takeBounds(message, trimming: index)
        case .purge: break
        case .state: _ = logState(message)
        case .newest: takeNewest(message)
        case .piece(let save, let place): takePiece(message, of: save, at: place)
        case .check(let save): takeCheck(message, of: save)
        case .whole(let save): takeWhole(message, of: save)
        case .last(let load): takeLast(message, of: load)
        case .part(let load, let place): takePart(message, of: load, at: place)
        }
    }

    /// The state of the log, out of an answer; nil where it is not one.
    func logState(_ message: Message) -> StreamInfo.State? {
        guard let answer = try? StreamInfo.read(message.payload), case .success(let info) = answer,
            info.config.name == names.log
        else { return nil }
        leader = String(untrusted: Array(info.leader.utf8))
        logByteCount = info.state.bytes
        return info.state
    }

    /// The sequence under which a stream has taken a message; nil where it has not.
    func sequence(_ message: Message, in stream: StreamName) -> UInt64? {
        guard let answer = try? PublishAcknowledgement.read(message.payload),
            case .success(let acknowledgement) = answer,
            Array(acknowledgement.stream.utf8) == stream.bytes
        else { return nil }
        return acknowledgement.sequence
    }
}
