public import BelfryJSON

// Reading values, which changes nothing.

extension NotificationCenter {
    /// How many objects have a value.
    public var valueCount: Int { values.count }

    /// The value at a place of the value of an object; nil where there is none.
    public func value(of object: [UInt8], at path: DocumentPath) -> PresentValue? {
        guard usesValues, let slot = values.slot(of: object.span),
            let value = values[slot].document?.value(at: path)
        else { return nil }
        return PresentValue(
            value: value, tag: ValueTag(of: value, key: values.tagKey), sequence: sequence)
    }

    /// The values that a query asks for, by default in the order in which they were added.
    public func values(
        matching query: ObserverQuery, scanLimit: Int = .max, visible: Visibility
    ) -> Page<ValueRow> {
        if let object = query.object, !query.isSurvey {
            var page = Page<ValueRow>()
            if query.cursor == 0, let slot = values.slot(of: object.span),
                values[slot].document != nil, visible(nil, object)
            {
                page.rows = [row(ofValue: slot)]
            }
            return page
        }
        var page: Page<ValueRow> = rows(
            of: values.order, query, scanLimit: scanLimit, textByteCount: \.object.count,
            texts: { [$0.object] },
            key: { row, ordinal in
                switch query.order {
                case .object: RowKey(text: row.object)
                case .newest: RowKey(number: -row.changedAt, row: ordinal)
                case .observers: RowKey(number: -Int64(row.observerCount), row: ordinal)
                case .bytes: RowKey(number: -Int64(row.byteCount), row: ordinal)
                case .name, .age, .held, .dropped, .delivered, .posts, nil: RowKey(row: ordinal)
                }
            }
        ) { slot in
            let row = row(ofValue: slot)
            let isWanted = query.object == nil || query.object == row.object
            return isWanted && visible(nil, row.object) ? row : nil
        }
        if query.includesAll, !query.isSurvey, visible(nil, nil) { page.total = values.count }
        return page
    }

    private func row(ofValue slot: UInt32) -> ValueRow {
        ValueRow(
            object: values.object(at: slot), byteCount: values[slot].document?.byteCount ?? 0,
            observerCount: values[slot].trie.observerCount, changedAt: values[slot].changedAt)
    }
}
