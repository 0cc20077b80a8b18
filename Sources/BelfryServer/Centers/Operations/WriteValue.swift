import BelfryCenter
import BelfryWire

/// One write to a value, by a request or a call.
struct WriteValue: Operation {
    static let answersFirst = false
    let request: ValueRequest
    /// The client that calls, if a call writes.
    var client: UInt64?

    func begin(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) {
        let place = ValuePlace(object: request.object, path: request.path)
        try submission.checkSet(place)
        // The result of a condition reveals the value.
        if !request.condition.isEmpty { try submission.checkRead(place) }
        guard let position = try position(&host, submission, &outbox) else { return }
        var write = ValueWrite(
            id: host.centers.nextNotificationID(at: position, &outbox), object: request.object,
            path: request.path)
        write.condition = request.condition
        write.client = client
        write.owner = host.centers.owner(of: submission, &outbox)
        write.canStore = host.shared.canStore
        write.byteRoom = host.kept.valueByteRoom(for: write.owner, &outbox)
        let action: Command.Action =
            switch request.change {
            case .set(let value, let lifetime): .setValue(write, value, lifetime)
            case .merge(let patch): .mergeValue(write, patch: patch)
            case .remove: .removeValue(write)
            }
        host.submitCommand(
            try host.centers.action(action, within: submission.cover(of: request), at: position),
            to: position, &outbox)
    }

    /// The center; a removal makes none, and neither does a condition that needs a value.
    private func position(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) throws(Problem) -> Int? {
        if let position = host.centers.position(of: submission.center) { return position }
        if case .remove = request.change { throw Problem.noCenter }
        guard request.condition.isMet(by: nil) else {
            throw Problem(.preconditionFailed(current: nil))
        }
        return try host.makeCenter(for: submission, &outbox)
    }

    func finish(
        _ host: inout CenterHost, _ submission: Submission, _ outbox: inout Outbox
    ) -> Ending {
        guard case .written(let written) = host.effects.outcome else {
            preconditionFailure("a write that is not refused was done")
        }
        // An equal write may repeat one whose change is not stored yet (rule V15).
        if !written.isChanged, host.shared.hasStore { host.promises.awaitEverything() }
        // A caller that may not read gets no tag, neither of the old value nor of the new one.
        let place = ValuePlace(object: request.object, path: request.path)
        let tag = submission.mayRead(place) ? written.tag : nil
        Shape.append(written: written, tag: tag, to: &outbox.content)
        var answer = Answer.json
        if written.isCreated { answer.status = 201 }
        // The result of a call has no fields.
        if client == nil, let tag { answer.fields = [.tag(tag)] }
        return .answer(answer)
    }
}
