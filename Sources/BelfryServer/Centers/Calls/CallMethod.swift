/// What a client can call.
enum CallMethod: String, CaseIterable {
    case addObserver
    case removeObserver
    case post
    case ask
    case withdraw
    case setValue
    case mergeValue
    case removeValue
    case value
    case dequeue
    case setSuspended
    case resume
    case observers
    case explain
    case enterMode
    case leaveMode
    case ping

    init?(_ name: [UInt8]) {
        self.init(rawValue: String(decoding: name, as: UTF8.self))
    }
}
