/// The responders by address, the asks that are open, and the ends of recent ones.
struct Asks: Sendable {
    /// Whether there ever was a responder, an ask or a result; without, a command pays for one check.
    var isUsed = false
    /// The holders of each address.
    var addresses: AddressTable
    var open: AskTable
    /// The ends of recent asks.
    var fates: AskFateTable

    init(seed: HashSeed) {
        addresses = AddressTable(seed: seed)
        open = AskTable(seed: seed)
        fates = AskFateTable(seed: seed)
    }
}
