// Searches by a part of the texts of rows, and listings in an order: both examine all rows, up to a
// limit.

extension NotificationCenter {
    /// The most rows that a survey examines without their texts.
    private static let keyScanLimit = 100_000
    /// The most bytes of text that a survey searches.
    static let searchByteLimit = 2 << 20

    /// The state of a survey.
    struct Survey<Item> {
        private let query: ObserverQuery
        /// The rows of the page, where these are in the order of their numbers.
        private var page: [(key: RowKey, item: Item)] = []
        private var hasMore = false
        /// The first rows, where there is an order.
        private var first: FirstRows<Item>
        private var matchCount = 0
        private(set) var seenCount = 0
        private var search: TextSearch?
        private let limit: Int

        init(_ query: ObserverQuery, limit: Int) {
            self.query = query
            self.limit = limit
            first = FirstRows(limit: query.limit)
            search = query.contained.map {
                TextSearch(for: $0, byteLimit: NotificationCenter.searchByteLimit)
            }
        }

        /// Whether one more row may be examined.
        mutating func goesOn() -> Bool {
            guard seenCount < limit, search?.isOver != true else { return false }
            seenCount += 1
            return true
        }

        /// Whether one of these texts contains the wanted part, or none is wanted.
        mutating func finds(_ texts: @autoclosure () -> [[UInt8]?]) -> Bool {
            search?.finds(in: texts()) ?? true
        }

        /// Adds a matching row.
        mutating func take(_ item: Item, _ number: UInt64, _ key: () -> RowKey) {
            matchCount += 1
            if query.order != nil {
                let key = key()
                if let last = query.last, key <= last { return }
                first.offer(key, item)
            } else if number > query.cursor {
                if page.count < max(query.limit, 1) {
                    page.append((RowKey(row: number), item))
                } else {
                    hasMore = true
                }
            }
        }

        /// The page of the found rows, of so many in all; it ends at the limit of text.
        consuming func page<Row>(
            of count: Int, textByteCount: (Row) -> Int, row: (Item) -> Row?
        ) -> Page<Row> {
            var page = Page<Row>()
            page.total = matchCount
            page.unseenCount = count - seenCount
            var byteCount = 0
            var last: RowKey?
            if query.order != nil { (self.page, hasMore) = (first.rows(), first.hasMore) }
            for (key, item) in self.page {  // Share: listings
                guard byteCount <= NotificationCenter.pageTextByteLimit else {
                    hasMore = true
                    break
                }
                guard let row = row(item) else { continue }
                page.rows.append(row)
                last = key
                byteCount += textByteCount(row)
            }
            guard hasMore else { return page }
            if query.order == nil { page.next = last?.row } else { page.last = last }
            return page
        }
    }

    /// The rows of a list, page by page, or those of a query with an order or a part of a text.
    ///
    /// - Parameters:
    ///   - texts: The texts that are searched.
    ///   - row: The row of a slot, if it matches and the caller may see it.
    func rows<Row>(
        of list: PostingList, _ query: ObserverQuery, scanLimit: Int,
        textByteCount: (Row) -> Int, texts: (Row) -> [[UInt8]?],
        key: (Row, _ serial: UInt64) -> RowKey, row: (UInt32) -> Row?
    ) -> Page<Row> {
        guard query.isSurvey else {
            return page(
                of: list, after: query.cursor, limit: query.limit, scanLimit: scanLimit,
                textByteCount: textByteCount, row: row)
        }
        var survey = Survey<Row>(query, limit: min(max(scanLimit, 1), Self.pageScanLimit))
        for entry in list.living {  // Share: listings
            guard survey.goesOn() else { break }
            guard let row = row(entry.slot), survey.finds(texts(row)) else { continue }
            survey.take(row, entry.serial) { key(row, entry.serial) }
        }
        return survey.page(of: list.count, textByteCount: textByteCount) { $0 }
    }

    /// The observers that a query with an order, or with a part of a text, asks for.
    func survey(
        _ query: ObserverQuery, scanLimit: Int, visible: Visibility
    ) -> Page<ObserverRow> {
        let readsRows = !query.includesAll || !visible(nil, nil)
        var survey = Survey<UInt32>(
            query,
            limit: min(max(scanLimit, 1), readsRows ? Self.pageScanLimit : Self.keyScanLimit))
        for entry in registry.observers.order.living {  // Share: listings
            guard survey.goesOn() else { break }
            if readsRows {
                let row = row(ofSlot: entry.slot)
                guard query.includes(row), row.reach.isAllowed(visible),
                    survey.finds(
                        [row.name, row.object, row.principal, row.idText]
                            + (row.role.filter?.texts ?? []))
                else { continue }
            }
            survey.take(entry.slot, entry.serial) {
                key(ofObserver: entry.slot, entry.serial, query.order)
            }
        }
        return survey.page(of: registry.observers.count, textByteCount: \.textByteCount) {
            row(ofSlot: $0)
        }
    }

    private func key(
        ofObserver slot: UInt32, _ serial: UInt64, _ order: RowOrder?
    ) -> RowKey {
        switch order {
        case .name:
            RowKey(text: registry.index.name(of: registry.observers[slot].place) ?? [], row: serial)
        case .newest: RowKey(number: -registry.observers[slot].createdAt, row: .max - serial)
        case .held: RowKey(number: -Int64(registry.observers[slot].heldCount), row: serial)
        case .dropped: RowKey(number: -Int64(registry.observers[slot].tally.dropped), row: serial)
        case .delivered:
            RowKey(number: -Int64(registry.observers[slot].tally.delivered), row: serial)
        case .age, .object, .observers, .posts, .bytes, nil: RowKey(row: serial)
        }
    }

    /// The clients that a query with an order, or with a part of a text, asks for.
    func survey(clients query: ObserverQuery, scanLimit: Int) -> Page<ClientRow> {
        var survey = Survey<UInt32>(
            query,
            limit: min(
                max(scanLimit, 1), query.includesAll ? Self.keyScanLimit : Self.pageScanLimit))
        for entry in registry.clients.order.living {  // Share: listings
            guard survey.goesOn() else { break }
            let client = registry.clients[entry.slot]
            guard query.principal == nil || query.principal == client.principal,
                query.state == nil || query.state == client.state,
                survey.finds([client.principal, Array("c\(client.id)".utf8)])
            else { continue }
            survey.take(entry.slot, entry.serial) {
                switch query.order {
                case .name: RowKey(text: client.principal, row: client.id)
                case .newest: RowKey(number: -client.connectedAt, row: .max - client.id)
                case .held: RowKey(number: -Int64(client.held.list.count), row: client.id)
                case .observers:
                    RowKey(number: -Int64(client.observers.count), row: client.id)
                case .age, .object, .dropped, .delivered, .posts, .bytes, nil:
                    RowKey(row: client.id)
                }
            }
        }
        return survey.page(of: registry.clients.count, textByteCount: \.principal.count) {
            row(ofClientSlot: $0)
        }
    }

    /// The channels of a query with an order or a part of a text; a cursor is one above a place.
    func survey(
        channels query: ObserverQuery, scanLimit: Int, visible: Visibility
    ) -> Page<ChannelRow> {
        var survey = Survey<UInt32>(query, limit: min(max(scanLimit, 1), Self.pageScanLimit))
        for place in 0..<UInt32(registry.index.channels.indexLimit) {  // Share: listings
            guard let row = registry.channelRow(at: place) else { continue }
            guard survey.goesOn() else { break }
            guard query.name == nil || query.name == row.name, visible(row.name, nil),
                survey.finds([row.name])
            else { continue }
            survey.take(place, UInt64(place) + 1) {
                switch query.order {
                case .newest:
                    RowKey(number: -(row.lastPostedAt ?? 0), text: row.name, row: 0)
                case .observers:
                    RowKey(number: -Int64(row.observerCount), text: row.name, row: 0)
                case .posts:
                    RowKey(
                        number: -Int64(clamping: row.postCount), text: row.name, row: 0)
                case .name, .object, .age, .held, .dropped, .delivered, .bytes, nil:
                    RowKey(text: row.name, row: 0)
                }
            }
        }
        return survey.page(of: registry.index.channels.count, textByteCount: \.name.count) {
            registry.channelRow(at: $0)
        }
    }

    /// The queue entries and timers that a query with an order, or with a part of a text, asks for.
    func survey(
        queue query: ObserverQuery, scanLimit: Int, visible: Visibility
    ) -> Page<QueueEntryRow> {
        var survey = Survey<QueueEntryRow>(
            query, limit: min(max(scanLimit, 1), Self.pageScanLimit))
        var place: UInt64 = 0
        func take(_ row: QueueEntryRow) -> Bool {
            guard survey.goesOn() else { return false }
            place += 1
            let (name, object, id) = (row.content.nameText, row.content.objectText, row.id.text)
            guard visible(name, object), survey.finds([name, object, id]) else { return true }
            // Places change with each entry that leaves: equal rows are in the order of their
            // identifiers.
            survey.take(row, place) {
                switch query.order {
                case .newest: RowKey(number: -row.enqueuedAt, text: id)
                case .name: RowKey(text: name + [0] + id)
                case .object, .age, .held, .dropped, .delivered, .observers, .posts, .bytes, nil:
                    RowKey(number: row.enqueuedAt, text: id)
                }
            }
            return true
        }
        if query.isWaiting != true {
            schedule.queue.forEachInPostingOrder { take(Self.row(of: $0)) }
        }
        if query.isWaiting != false {
            schedule.timers.order.forEach(from: 0) { take(row(ofTimer: $0.slot)) }
        }
        return survey.page(of: count(ofQueue: query), textByteCount: \.content.byteCount) { $0 }
    }
}
