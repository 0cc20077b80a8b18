import BelfryJSON
import BelfryWire
import Synchronization

/// The content of `/readyz`: whether the broker takes work, and the state of each part.
struct Readiness {
    /// The reason why it takes no work; nil when it does.
    let problem: Problem?
    /// The parts in their order, each with a word for its state.
    let parts: [(name: String, state: String)]

    /// Reads the state that all loops share.
    ///
    /// A store that fails costs readiness, unless the configuration says otherwise. One that is
    /// full does not: clients that acknowledge make room in it, and must reach the broker for that
    /// (decision 54).
    init(_ shared: SharedState, _ configuration: ServerConfiguration) {
        let lifecycle = shared.lifecycle.load(ordering: .relaxed)
        let storeState =
            switch shared.store {
            case nil: "none"
            case let store? where store.isFailing: "failing"
            case let store? where !store.takesPromises: "refusing"
            case _?: "ok"
            }
        let reached = [
            (
                "observers", shared.totals.observerCount.load(ordering: .relaxed),
                configuration.observerLimit
            ),
            (
                "centers", shared.totals.centerCount.load(ordering: .relaxed),
                configuration.centerLimit
            ),
            (
                "held", shared.totals.heldByteCount.load(ordering: .relaxed),
                configuration.heldByteLimit
            ),
            (
                "queue", shared.totals.queueByteCount.load(ordering: .relaxed),
                configuration.queueByteLimit
            ),
        ].filter { $0.1 >= $0.2 }.map(\.0)
        let unavailability = shared.logState.withLock { $0 }
        // Without a cluster the part is left out.
        let cluster =
            configuration.cluster == nil ? [] : [("cluster", unavailability?.word ?? "ok")]
        let own = [
            ("loops", "\(configuration.loopCount)"), ("store", storeState),
            ("restore", shared.progress?.text ?? "done"), ("drain", lifecycle.word),
            ("limits", reached.isEmpty ? "ok" : reached.joined(separator: ",")),
        ]
        parts = own + cluster
        if let progress = shared.progress {
            problem = .isRestoring(progress)
        } else if lifecycle > .ready {
            problem = .isStopping
        } else if let unavailability {
            problem = Problem(unavailability)
        } else if storeState == "failing", !configuration.isReadyWithoutStore {
            problem = Problem(.storeUnavailable, "The store cannot write to its disk.")
        } else {
            problem = nil
        }
    }

    /// The parts as a JSON object.
    var partsJSON: [UInt8] {
        var writer = JSONWriter()
        var json: [UInt8] = []
        writer.beginObject(into: &json)
        for part in parts { writer.member(part.name, string: part.state, into: &json) }
        writer.endObject(into: &json)
        return json
    }
}

extension Lifecycle {
    /// The word for the phase.
    fileprivate var word: String {
        switch self {
        case .ready: "none"
        case .lame: "delayed"
        case .draining: "draining"
        case .released: "released"
        }
    }
}
