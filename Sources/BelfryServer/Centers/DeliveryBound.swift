import BelfryCenter
import BelfryWire

/// The work of the posts of one callout so far: deliveries, as if all conditions were true, and
/// looks for them.
struct DeliveryBound {
    private var count = 0

    /// Adds posts, and checks the limit of the callout, which a single post may pass.
    ///
    /// - Throws: 413; the caller should send smaller batches.
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
                    This batch could make more than \(limit) deliveries and looks at \
                    conditions, the limit; post it in parts.
                    """,
                    members: [
                        Problem.Member("limit", integer: limit)
                    ])
            }
        }
    }
}
