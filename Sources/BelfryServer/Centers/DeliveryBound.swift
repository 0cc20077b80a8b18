import BelfryCenter
import BelfryWire

/// How often the posts of one callout may be delivered, about, as far as it has come.
struct DeliveryBound {
    private var count = 0

    /// A batch must not be delivered more often than this in all, unless it is one post.
    ///
    /// - Throws: 413, which asks for smaller batches.
    mutating func bound(
        _ requests: [PostRequest], of name: [UInt8], in centers: borrowing CenterTable,
        limit: Int
    ) throws(Problem) {
        guard let position = centers.position(of: name) else { return }
        for (place, request) in requests.enumerated() {  // Bound: batch
            let count = centers[position].deliveryBound(of: request.content, limit: limit)
            let isFirst = place == 0 && self.count == 0
            self.count += count
            guard isFirst || self.count <= limit else {
                throw Problem(
                    .contentTooLarge,
                    """
                    This batch could make more than \(limit) deliveries, the limit; \
                    post it in parts.
                    """,
                    members: [
                        Problem.Member("limit", integer: limit)
                    ])
            }
        }
    }
}
