internal import BelfryBytes
internal import BelfryCenter

/// The fields of an explanation as they come, in JSON or in a query; nil for absent ones.
struct ExplainFields {
    private var name: [UInt8]?
    private var object: [UInt8]?
    private var selector: [UInt8]?
    private var limit: Int?
    private var cursor: UInt64?
    private var userInfo: [UInt8]?

    enum Key: String, CaseIterable {
        case name, object, selector, limit, cursor, userInfo
    }

    /// The members; null is a fault of the name and the selector.
    static let table = FieldTable(Key.allCases, takingNull: [.name, .selector])
    /// The parameters of a query, which has no userInfo.
    static let parameters = FieldTable(Key.allCases.filter { $0 != .userInfo }).names

    /// Reads or skips the value of one field; a faulty text is an empty one, which was given.
    mutating func read(
        _ key: Key, from source: inout some FieldSource, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch key {
        case .name: name = try source.name(in: bytes) ?? []
        case .object: object = try source.name(in: bytes) ?? []
        case .selector: selector = try source.selector(in: bytes) ?? []
        case .limit:
            limit = try source.integer(in: 1...source.limits.pageRowLimit, of: bytes)
        case .cursor:
            cursor = try source.value(ListingRequest.cursorDetail, in: bytes) {
                CursorText.read($0.span)
            }
        case .userInfo: preconditionFailure("a query has no userInfo")
        }
    }

    /// Reads the userInfo of a member.
    mutating func readUserInfo(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        let range = try fields.userInfo(in: bytes)
        userInfo = [UInt8](copying: bytes.extracting(range ?? 0..<0))
    }

    /// Makes the request, or reports its faults: a post needs a name, an ask object and selector.
    func request(tell: (Key, String) -> Void) -> ExplainRequest? {
        guard let selector else {
            guard let name else {
                tell(.name, "is required, unless selector is given")
                return nil
            }
            return .post(
                ExplainedPost(
                    name: name, object: object, userInfo: userInfo, cursor: cursor ?? 0,
                    limit: limit ?? 100))
        }
        let given = [
            (Key.name, name != nil), (.limit, limit != nil), (.cursor, cursor != nil),
            (.userInfo, userInfo != nil),
        ]
        for (key, isGiven) in given where isGiven { tell(key, "cannot be combined with selector") }
        guard let object else {
            tell(.object, "is required with selector")
            return nil
        }
        return .ask(object: object, selector: selector)
    }
}

extension FieldReader {
    /// Reads the members of an explanation.
    mutating func readExplanation(in bytes: Span<UInt8>) throws(Problem) -> ExplainRequest? {
        var explanation = ExplainFields()
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: ExplainFields.table, in: bytes) {
            if key == .userInfo {
                try explanation.readUserInfo(&self, in: bytes)
            } else {
                try explanation.read(key, from: &self, in: bytes)
            }
        }
        return explanation.request { addFault($0, $1) }
    }
}
