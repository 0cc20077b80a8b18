import BelfryBytes

// Reading responders and asks, which changes nothing.

extension NotificationCenter {
    /// The state of an ask, and its subject.
    public struct AskFate: Sendable {
        /// The state.
        public let outcome: AskOutcome
        /// The principal of the asker.
        public let principal: [UInt8]
        /// The address.
        public let object: [UInt8]
        /// The selector.
        public let selector: [UInt8]

        fileprivate init(
            _ outcome: AskOutcome, _ content: Notification.Content, principal: [UInt8]
        ) {
            self.outcome = outcome
            self.principal = principal
            object = content.address
            selector = content.selector
        }
    }

    /// The state of an ask; nil when it is unknown or forgotten.
    public func ask(_ id: NotificationID, at time: CommandTime) -> AskFate? {
        if let slot = asks.open.slot(of: id) {
            return AskFate(
                AskOutcome(
                    id: id, state: .open(until: asks.open[slot].answerBy),
                    path: asks.open[slot].path),
                asks.open[slot].content, principal: asks.open[slot].principal)
        }
        guard let fate = asks.fates[id], fate.forgottenAt > time.monotonicNanoseconds else {
            return nil
        }
        return AskFate(fate.outcome, fate.content, principal: fate.principal)
    }

    /// The open asks that a query asks for, by default the oldest first.
    public func asks(
        matching query: ObserverQuery, scanLimit: Int = .max, visible: Visibility
    ) -> Page<AskRow> {
        var page: Page<AskRow> = rows(
            of: asks.open.order, query, scanLimit: scanLimit, textByteCount: \.textByteCount,
            texts: { [$0.selector, $0.object, $0.principal, $0.id.text] },
            key: { row, ordinal in
                switch query.order {
                case .object: RowKey(text: row.object, row: ordinal)
                case .newest: RowKey(row: .max - ordinal)
                case .name, .age, .held, .dropped, .delivered, .observers, .posts, .bytes, nil:
                    RowKey(row: ordinal)
                }
            }
        ) { slot in
            let row = row(of: asks.open[slot])
            return query.includes(row) && visible(row.selector, row.object) ? row : nil
        }
        if query.includesAll, !query.isSurvey, visible(nil, nil) { page.total = asks.open.count }
        return page
    }

    private func row(of ask: OpenAsk) -> AskRow {
        AskRow(
            id: ask.id, object: ask.content.address, selector: ask.content.selector,
            observer: ask.state.observer ?? 0, path: ask.path, askedAt: ask.askedAt,
            answerBy: ask.answerBy, isShown: ask.sequence > 0, principal: ask.principal,
            present: ask.options.present)
    }

    /// The responders that a query asks for, by default in registration order.
    public func responders(
        matching query: ObserverQuery, scanLimit: Int = .max, visible: Visibility
    ) -> Page<ResponderRow> {
        var page: Page<ResponderRow> = rows(
            of: registry.observers.order, query, scanLimit: scanLimit,
            textByteCount: \.observer.textByteCount,
            texts: { [$0.observer.object, $0.observer.principal, $0.observer.idText] },
            key: { row, serial in
                switch query.order {
                case .object: RowKey(text: row.observer.object ?? [], row: serial)
                case .newest: RowKey(row: .max - serial)
                case .held: RowKey(number: -Int64(row.observer.held), row: serial)
                case .name, .age, .dropped, .delivered, .observers, .posts, .bytes, nil:
                    RowKey(row: serial)
                }
            }
        ) { slot in
            guard let responder = registry.observers.responder(at: slot),
                query.selector.map({ responder.implements.contains($0) }) ?? true
            else { return nil }
            let row = row(ofSlot: slot)
            return query.includes(row) && visible(row.name, row.object) ? responderRow(row) : nil
        }
        if query.includesAll, !query.isSurvey, visible(nil, nil) {
            page.total = asks.addresses.holderCount
        }
        return page
    }

    /// The holders of an address, in registration order.
    public func responders(at address: [UInt8]) -> [ResponderRow] {
        asks.addresses.holders(of: address.span).map { responderRow(row(ofSlot: $0.slot), $0) }
    }

    private func responderRow(
        _ row: ObserverRow, _ holder: AddressTable.Holder? = nil
    ) -> ResponderRow {
        let address = row.object ?? []
        let holder =
            holder ?? asks.addresses.holders(of: address.span).first { $0.serial == row.serial }
        return ResponderRow(
            observer: row, openAskCount: asks.open.shownCount(to: row.serial),
            askedCount: holder?.askedCount ?? 0, answeredCount: holder?.answeredCount ?? 0)
    }
}

extension Notification.Content {
    /// The bytes of the name.
    public var nameText: [UInt8] { [UInt8](copying: name) }

    /// The bytes of the object, if it has one.
    public var objectText: [UInt8]? {
        guard let object else { return nil }
        return [UInt8](copying: object)
    }

    /// The object of an ask.
    var address: [UInt8] { objectText ?? [] }

    /// The name of an ask.
    var selector: [UInt8] { nameText }
}

extension AskRow {
    /// The bytes of its texts.
    fileprivate var textByteCount: Int {
        path.reduce(object.count + selector.count + principal.count + (present?.count ?? 0)) {
            $0 + $1.count
        }
    }
}

extension ObserverQuery {
    fileprivate func includes(_ row: AskRow) -> Bool {
        (object == nil || object == row.object) && (selector == nil || selector == row.selector)
            && (observer == nil || observer == row.observer)
    }
}
