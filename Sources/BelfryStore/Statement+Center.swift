internal import BelfryCenter

// The values of a center as columns.

extension Statement {
    func bind(_ hash: SecretHash) {
        bind(high: hash.high, low: hash.low)
    }

    func bind(_ id: NotificationID?) {
        guard let id else { return bindNull() }
        bind(high: id.high, low: id.low)
    }

    /// Binds the three columns name, object and userInfo.
    func bind(_ content: Notification.Content) {
        bind(content.name)
        if let object = content.object { bind(object) } else { bindNull() }
        if let userInfo = content.userInfo { bind(userInfo) } else { bindNull() }
    }
}

extension StatementRow {
    /// The next column; nil when it is not the 16 bytes of a hash.
    mutating func hash() -> SecretHash? {
        words().map { SecretHash(high: $0.high, low: $0.low) }
    }

    /// The next column; nil when it is not the 16 bytes of an identifier, or NULL.
    mutating func id() -> NotificationID? {
        words().map { NotificationID(high: $0.high, low: $0.low) }
    }

    /// The next three columns: name, object and userInfo.
    mutating func content() -> Notification.Content {
        var joined: [UInt8] = []
        joined.reserveCapacity(byteCount(ofNext: 3))
        let nameByteCount = append(to: &joined) ?? 0
        let objectByteCount = append(to: &joined)
        let userInfoByteCount = append(to: &joined)
        return Notification.Content(
            joined: joined, nameByteCount: nameByteCount, objectByteCount: objectByteCount,
            hasUserInfo: userInfoByteCount != nil)
    }
}
