public import BelfryJSON

// What can be seen of values; looking changes nothing.

extension NotificationCenter {
    /// How many objects have a value.
    public var valueCount: Int { values.count }

    /// What is at a place of the value of an object; nil where nothing is.
    public func value(of object: [UInt8], at path: DocumentPath) -> PresentValue? {
        guard usesValues, let slot = values.slot(of: object.span),
            let value = values[slot].document?.value(at: path)
        else { return nil }
        return PresentValue(value: value, tag: ValueTag(of: value), sequence: sequence)
    }

    /// The values after a cursor, in the order in which they came.
    public func values(
        after cursor: UInt64, limit: Int, object: [UInt8]?, scanLimit: Int = .max,
        visible: Visibility
    ) -> Page<ValueRow> {
        guard let object else {
            return page(
                of: values.order, after: cursor, limit: limit, scanLimit: scanLimit,
                textByteCount: \.object.count
            ) { slot in
                let row = row(ofValue: slot)
                return visible(nil, row.object) ? row : nil
            }
        }
        var page = Page<ValueRow>()
        if cursor == 0, let slot = values.slot(of: object.span), values[slot].document != nil,
            visible(nil, object)
        {
            page.rows = [row(ofValue: slot)]
        }
        return page
    }

    private func row(ofValue slot: UInt32) -> ValueRow {
        ValueRow(
            object: values.object(at: slot), byteCount: values[slot].document?.byteCount ?? 0,
            observerCount: values[slot].trie.observerCount, changedAt: values[slot].changedAt)
    }
}
