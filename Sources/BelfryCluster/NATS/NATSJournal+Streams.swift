import BelfryNATS

// How a journal sees to its streams: it makes them, or finds them as they should be.

extension NATSJournal {
    func configuration(of stream: NATSStream) -> StreamConfiguration {
        switch stream {
        case .log: names.logConfiguration(settings)
        case .snapshots: names.snapshotConfiguration(settings)
        }
    }

    /// Takes the answer of STREAM.CREATE, or of STREAM.INFO for a stream with other settings.
    func takeStream(_ message: Message, _ stream: NATSStream, isOther: Bool) {
        guard !preparedStreams.contains(stream) else { return }
        if let headers = try? message.headers(), headers.status == .noResponders {
            return failUnlessReady(.withoutJetStream(text: "nobody responds"))
        }
        let wanted = configuration(of: stream)
        do throws(NATSError) {
            switch try StreamInfo.read(message.payload) {
            case .success(let info):
                let name = wanted.name.description
                if let difference = wanted.difference(from: info.config) {
                    return fail(.otherSettings(stream: name, difference))
                }
                if isOther {
                    let unknown = NATSDifference(setting: nil, found: "", wanted: "")
                    return fail(.otherSettings(stream: name, unknown))
                }
                if stream == .log { leader = String(untrusted: Array(info.leader.utf8)) }
                preparedStreams.insert(stream)
                guard preparedStreams.count == NATSStream.allCases.count else { return }
                progress = .ready
                hasBeenReady = true
            case .failure(let error) where error.errorCode == APIError.streamNameInUse && !isOther:
                ask(.info(wanted.name), .look(stream))
            case .failure(let error): failUnlessReady(failure(of: error, wanted))
            }
        } catch {
            fail(.malformed(error))
        }
    }

    /// Ends the connection because of what may pass, unless it is of use.
    private func failUnlessReady(_ failure: NATSFailure) {
        if progress != .ready || failure.isFinal { fail(failure) }
    }

    private func failure(of error: APIError, _ wanted: StreamConfiguration) -> NATSFailure {
        let stream = wanted.name.description
        let text = String(untrusted: Array(error.description.utf8))
        return switch error.errorCode {
        case APIError.insufficientStorage,
            APIError.noSuitablePeers where text.hasSuffix("insufficient storage"):
            .insufficientStorage(stream: stream, byteCount: wanted.maxBytes)
        case APIError.replicasNotSupported:
            .tooFewServers(stream: stream, replicaCount: wanted.numReplicas)
        default:
            error.code == 503
                ? .withoutJetStream(text: text) : .streamRefused(stream: stream, text: text)
        }
    }
}
