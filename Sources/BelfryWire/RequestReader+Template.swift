import BelfryBytes
public import BelfryCenter
internal import BelfryJSON

// Posts with which nothing is wrong, and which are as simple as mostly: one look at the content is
// enough.

extension RequestReader {
    /// Reads the content of a post whose head says what the template has.
    ///
    /// - Returns: nil when something is wrong with it, or it is not that simple.
    /// - Complexity: one pass over the body, one buffer for the content.
    public func content(
        of template: borrowing PostTemplate, body: Span<UInt8>
    ) -> Notification.Content? {
        if template.nameByteCount == 0 { return (try? notificationInOrder(body)) ?? nil }
        guard let userInfo = (try? bodyInOrder(body)) ?? nil else { return nil }
        let nothing = body.extracting(0..<0)
        return Notification.Content(
            joined: [UInt8](joining: template.key.span, nothing, body.extracting(userInfo)),
            nameByteCount: template.nameByteCount, objectByteCount: template.objectByteCount,
            hasUserInfo: !userInfo.isEmpty)
    }

    /// The range of the userInfo in a body, empty for whitespace alone; nil for a fault.
    func bodyInOrder(_ body: Span<UInt8>) throws(JSONError) -> Range<Int>? {
        var scanner = JSONScanner(depthLimit: limits.userInfoDepthLimit)
        if scanner.isAtEnd(of: body) { return 0..<0 }
        let userInfo = try userInfoInOrder(body, &scanner)
        return scanner.isAtEnd(of: body) ? userInfo : nil
    }

    /// The members of a notification, as the words that their keys are.
    private enum Member: UInt64 {
        case name = 0x656D_616E
        case object = 0x7463_656A_626F
        case userInfo = 0x6F66_6E49_7265_7375
    }

    /// Reads a notification with a name and, at most, an object and a userInfo.
    ///
    /// Name and object have no escapes.
    private func notificationInOrder(
        _ body: Span<UInt8>
    ) throws(JSONError) -> Notification.Content? {
        var scanner = JSONScanner(depthLimit: limits.userInfoDepthLimit)
        // None of them is empty once it has come.
        var (name, object, userInfo) = (0..<0, 0..<0, 0..<0)
        var before = UInt8(ascii: "{")
        while let key = try scanner.nextShortKey(behind: before, in: body) {
            before = UInt8(ascii: ",")
            switch Member(rawValue: key) {
            case .name where name.isEmpty:
                name = try scanner.plainString(in: body) ?? 0..<0
                guard TextRule.isPostable(body.extracting(name), limits: limits) else { return nil }
            case .object where object.isEmpty:
                object = try scanner.plainString(in: body) ?? 0..<0
                guard TextRule.faultOfName(body.extracting(object), limits: limits) == nil
                else { return nil }
            case .userInfo where userInfo.isEmpty:
                guard let range = try userInfoInOrder(body, &scanner) else { return nil }
                userInfo = range
            case .name, .object, .userInfo, nil: return nil
            }
        }
        guard try scanner.endsObject(in: body), !name.isEmpty else { return nil }
        return Notification.Content(
            joined: [UInt8](
                joining: body.extracting(name), body.extracting(object), body.extracting(userInfo)),
            nameByteCount: name.count, objectByteCount: object.isEmpty ? nil : object.count,
            hasUserInfo: !userInfo.isEmpty)
    }

    /// The range of the object that comes next.
    private func userInfoInOrder(
        _ body: Span<UInt8>, _ scanner: inout JSONScanner
    ) throws(JSONError) -> Range<Int>? {
        let range = try scanner.skipValue(in: body)
        guard body[range.lowerBound] == UInt8(ascii: "{") else { return nil }
        return range.count <= limits.userInfoByteLimit ? range : nil
    }
}
