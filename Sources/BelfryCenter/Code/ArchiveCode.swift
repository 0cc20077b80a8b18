// The code of archives, of their kinds and of kept notifications, of which a store makes rows.

extension ArchiveRecord: Coded {
    init(_ known: ArchiveRecord?, by coder: inout some Coder) throws(CodeError) {
        number = try coder(known?.number)
        name = ArchiveName(
            try coder(known?.name.text), isPrefix: try coder(known?.name.isPrefix))
        terms = try coder(known?.terms)
        since = try coder(known?.since)
        began = try coder(known?.began)
        forgotten = try coder(known?.forgotten)
        isEnded = try coder(known?.isEnded)
    }
}

extension ArchiveTerms: Coded {
    init(_ known: ArchiveTerms?, by coder: inout some Coder) throws(CodeError) {
        self.init()
        count = try coder(known?.count)
        byteLimit = try coder(known?.byteLimit)
        age = try coder(known?.age)
        guard let each = Each(rawValue: try coder.word(known?.each.rawValue)) else {
            throw .malformed
        }
        self.each = each
        keepLast = try coder(known?.keepLast)
        isStored = try coder(known?.isStored)
        isConfigured = try coder(known?.isConfigured)
    }
}

extension LossMark: Coded {
    init(_ known: LossMark?, by coder: inout some Coder) throws(CodeError) {
        self.init(
            sequence: try coder(known?.sequence), postedAt: try coder(known?.postedAt))
    }
}

extension LossMarks: Coded {
    init(_ known: LossMarks?, by coder: inout some Coder) throws(CodeError) {
        self.init(passed: try coder(known?.passed), ended: try coder(known?.ended))
    }
}

extension ArchivedKindKey: Coded {
    init(_ known: ArchivedKindKey?, by coder: inout some Coder) throws(CodeError) {
        archive = try coder(known?.archive)
        name = try coder(known?.name)
        object = try coder(known?.object)
        isOfObject = try coder(known?.isOfObject)
    }
}

extension ArchivedKindRecord: Coded {
    init(_ known: ArchivedKindRecord?, by coder: inout some Coder) throws(CodeError) {
        key = try coder(known?.key)
        marks = try coder(known?.marks)
        began = try coder(known?.began)
    }
}

/// The code leaves out the end on the clock, which means nothing in another life.
extension KeptRecord: Coded {
    init(_ known: KeptRecord?, by coder: inout some Coder) throws(CodeError) {
        archive = try coder(known?.archive)
        let id: NotificationID = try coder(known?.notification.id)
        let sequence: UInt64 = try coder(known?.notification.sequence)
        let postedAt: Int64 = try coder(known?.notification.postedAt)
        let causedBy: NotificationID? = try coder(known?.notification.causedBy)
        endsAt = try coder(known?.endsAt)
        notification = Notification(
            id: id, sequence: sequence, postedAt: postedAt, causedBy: causedBy,
            content: try coder(known?.notification.content), isRestored: true)
    }

    /// The record as a restarted center gets it.
    public var stored: KeptRecord {
        KeptRecord(
            archive: archive, notification: notification.restored(expiresAt: .max), endsAt: endsAt)
    }
}
