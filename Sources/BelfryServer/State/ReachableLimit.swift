/// A limit of the broker that is logged when it is reached.
enum ReachableLimit: Int, CaseIterable {
    case connections, addressConnections, descriptors, rates, observers, centers
    case queue, archives, held, unsent, unfinished, store, mail, shares

    /// The name of the limited thing for the log.
    var text: String {
        switch self {
        case .connections: "connections"
        case .addressConnections: "connections of an address"
        case .descriptors: "descriptors"
        case .rates: "requests in a time"
        case .observers: "observers"
        case .centers: "centers"
        case .queue: "queue entries"
        case .archives: "bytes of archives"
        case .held: "held bytes"
        case .unsent: "unsent bytes"
        case .unfinished: "bytes of unfinished requests"
        case .store: "bytes for the store"
        case .mail: "mail of a loop"
        case .shares: "what one principal or address has"
        }
    }

    /// The option that sets the limit; nil where none does.
    var option: String? {
        switch self {
        case .connections: "--max-connections, --connection-memory"
        case .addressConnections: "--max-connections-per-address, --address-share"
        case .rates: "--address-rate, --principal-rate"
        case .observers: "--max-observers, --observer-memory, --channel-memory"
        case .centers: "--max-centers, --center-memory"
        case .queue: "--queue-limit, --queue-memory"
        case .archives: "--archive-memory"
        case .held: "--hold-limit, --hold-memory"
        case .unsent: "--unsent-limit"
        case .unfinished: "--unfinished-limit"
        case .store: "--store-limit"
        case .shares: "--principal-share, --address-share"
        case .descriptors, .mail: nil
        }
    }
}
