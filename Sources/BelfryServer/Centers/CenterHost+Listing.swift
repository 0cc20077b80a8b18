import BelfryAccess
import BelfryCenter
import BelfryWire

extension CenterHost {
    /// Adds the centers of this loop; the last loop sorts them and answers.
    ///
    /// - Returns: whether the request is answered.
    mutating func listCenters(
        _ earlier: [CenterRow], cursor: UInt64, limit: Int, _ submission: Submission,
        _ outbox: inout Outbox
    ) -> Bool {
        let grants = submission.caller.grants
        var rows = earlier
        for position in 0..<centers.count {  // Bound: centers
            let center = centers[position]
            guard grants.allowSome(.inspect, center: center.name.span) else { continue }
            rows.append(CenterRow(center))
        }
        if outbox.number + 1 < outbox.configuration.loopCount {
            let request = CenterRequest.centers(rows: rows, cursor: cursor, limit: limit)
            outbox.send(
                Submission(
                    center: submission.center, request: request, caller: submission.caller,
                    reply: submission.reply), to: outbox.number + 1)
            return false
        }
        rows.sort { $0.name.lexicographicallyPrecedes($1.name) }
        // A cursor is a place in the order of names.
        let start = Int(clamping: cursor)
        let page = Array(rows.dropFirst(start).prefix(limit))
        let end = start + page.count
        Shape.append(
            centers: page, next: end < rows.count ? UInt64(end) : nil, to: &outbox.content)
        promises.deliver(.listing, submission.reply, &outbox)
        return true
    }
}
