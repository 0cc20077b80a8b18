import BelfryCenter
import BelfryWire

extension CenterHost {
    /// A batch must not be delivered more often than this in all, unless it is one post.
    ///
    /// - Throws: 413, which asks for smaller batches.
    mutating func boundDeliveries(
        of requests: [PostRequest], center name: [UInt8], _ outbox: inout Outbox
    ) throws(Problem) {
        guard let position = centers.position(of: name) else { return }
        for (place, request) in requests.enumerated() {
            let count = centers[position].observerBound(of: request.content)
            let isFirst = place == 0 && calloutDeliveryCount == 0
            calloutDeliveryCount += count
            guard isFirst || calloutDeliveryCount <= outbox.configuration.batchDeliveryLimit else {
                throw Problem(
                    .contentTooLarge,
                    """
                    The notifications of this batch may be delivered more than \
                    \(outbox.configuration.batchDeliveryLimit) times in all; post it in parts.
                    """,
                    members: [
                        Problem.Member("limit", integer: outbox.configuration.batchDeliveryLimit)
                    ])
            }
        }
    }

    /// The answers of one batch may have so many bytes before its looks are refused.
    private static let batchAnswerByteLimit = 256 << 10

    /// A batch of a thousand looks must not have an answer of a thousand pages.
    ///
    /// - Throws: 413, which asks for smaller batches.
    func boundLooks(of batch: CallBatch?) throws(Problem) {
        guard let batch, batch.byteCount > Self.batchAnswerByteLimit else { return }
        throw Problem(
            .contentTooLarge,
            "The answers to this batch passed \(Self.batchAnswerByteLimit >> 10) KiB; split it.",
            members: [Problem.Member("limit", integer: Self.batchAnswerByteLimit)])
    }
}
