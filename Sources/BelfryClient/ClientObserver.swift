/// An observer of this client, over all its connections.
struct ClientObserver {
    /// A delivery whose answer the broker has not got.
    struct OwedAnswer {
        let sequence: UInt64
        let isAsk: Bool
        /// The id of the request as JSON; it is that of the last time that it came.
        var id: [UInt8]
        /// Whether it was asked on this connection: the broker knows no answer to another one.
        var isAsked = true
        /// The answer that was given before the broker asked again.
        var answer: DeliveryAnswer?
    }

    let wish: ObserverWish
    var registration: Registration?
    /// Whether this connection has it.
    var isRegistered = false
    /// The number up to which everything has come; a new connection continues behind it.
    var lastSequence: UInt64?
    /// The deliveries that are not answered, by their keys (`ReceivedNotification.owedKey`).
    ///
    /// The broker lets an observer owe 1,000 of them at most.
    var owed: [String: OwedAnswer] = [:]
    /// The value that it observes, if any.
    var value = FollowedValue()
    /// Where it begins for as long as nothing has come, if that was not said by a number.
    private var beginning: Beginning?
    /// The last number before it was registered, in this epoch.
    private var joined: UInt64 = 0

    init(_ wish: ObserverWish) {
        self.wish = wish
        beginning = wish.since?.number == nil ? wish.since : nil
    }

    /// The place from which a new registration continues: owed deliveries come again.
    var since: Beginning? {
        guard wish.isReplayed, let lastSequence else { return wish.since }
        if let beginning, lastSequence == 0 { return beginning }
        guard let first = owed.values.map(\.sequence).min(), first > 0 else {
            return .after(lastSequence)
        }
        return .after(min(lastSequence, first - 1))
    }

    /// The number from which its session continues.
    var position: UInt64? {
        lastSequence == 0 ? beginning?.number ?? 0 : lastSequence
    }

    /// Whether it is a responder that implements this selector.
    func implements(_ selector: some Sequence<UInt8>) -> Bool {
        wish.desk?.options.selectors.contains { $0.utf8.elementsEqual(selector) } ?? false
    }

    /// Records its registration at the broker.
    mutating func confirm(_ registration: Registration) {
        self.registration = registration
        isRegistered = true
        joined = registration.since
        guard let beginning else {
            let since = since?.number.map { min($0, registration.since) }
            lastSequence = lastSequence ?? since ?? registration.since
            return
        }
        lastSequence = lastSequence ?? 0
        // The last ones of a later time would be others, and those between would be missing.
        if !beginning.isSteady { self.beginning = .after(registration.since) }
    }

    /// Leaves the connection, on which all numbers below this one have come.
    mutating func detach(liveSequence: UInt64) {
        isRegistered = false
        // Frames of other observers with the last number itself may be missing. What came live
        // before it was registered says nothing of the past that it was to get.
        if liveSequence > joined { lastSequence = max(lastSequence ?? 0, liveSequence - 1) }
        // The broker does not expect an answer that it did not ask for again on this connection.
        owed = owed.filter { $0.value.answer == nil }
        for key in owed.keys { owed[key]?.isAsked = false }
    }

    /// Steps over a frame that cannot be read, and would come again with each connection.
    mutating func passOver(_ params: [UInt8]) {
        let sequence = JSONObject(params)?.integer("seq").flatMap { UInt64(exactly: $0) }
        if let sequence { lastSequence = max(lastSequence ?? 0, sequence) }
        wish.buffer.append(
            ReceivedNotification.Gap(lostCount: sequence.map { _ in 1 }, reason: "unknown"))
    }

    /// Forgets the numbers of an epoch that is over.
    ///
    /// Asks go by their ids, and come again.
    mutating func forgetNumbers() {
        lastSequence = 0
        beginning = nil
        joined = 0
        owed = owed.filter(\.value.isAsk)
    }
}
