// Asks: one question, one who answers (rules R4 to R17).

extension NotificationCenter {
    mutating func ask(
        _ ask: Ask, _ terms: AskTerms, _ command: CommandID, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        throw .unknownAsk
    }

    mutating func withdraw(
        _ id: NotificationID, at time: CommandTime, _ effects: inout Effects
    ) throws(Refusal) {
        throw .unknownAsk
    }

    mutating func answer(
        _ id: NotificationID, by observer: UInt64, _ response: Response, at time: CommandTime,
        _ effects: inout Effects
    ) throws(Refusal) {
        throw .unknownAsk
    }

    /// How an ask stands, or how it ended, with who asked; nil when it is not known or forgotten.
    public func ask(
        _ id: NotificationID, at time: CommandTime
    ) -> (outcome: AskOutcome, principal: [UInt8], object: [UInt8], selector: [UInt8])? { nil }

    /// The open asks, the oldest first.
    public func asks(matching query: AskQuery, visible: Visibility) -> Page<AskRow> { Page() }

    /// The responders after a cursor, in registration order.
    public func responders(
        matching query: ObserverQuery, selector: [UInt8]?, visible: Visibility
    ) -> Page<ResponderRow> { Page() }

    /// Who holds an address, in registration order.
    public func responders(at address: [UInt8]) -> [ResponderRow] { [] }

    /// Who would be asked.
    public func explainAsk(object: [UInt8], selector: [UInt8]) -> AskExplanation {
        AskExplanation(outcome: .failed(.noResponder))
    }
}
