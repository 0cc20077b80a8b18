internal import BelfryCenter

/// The fields of an explanation as they come, in JSON or in a query; nil for absent ones.
struct ExplainFields {
    var name: [UInt8]?
    var object: [UInt8]?
    var selector: [UInt8]?
    var limit: Int?
    var cursor: UInt64?

    /// The fields, in the order of their ordinals.
    enum Key: Int, CaseIterable {
        case name, object, selector, limit, cursor

        var text: String {
            switch self {
            case .name: "name"
            case .object: "object"
            case .selector: "selector"
            case .limit: "limit"
            case .cursor: "cursor"
            }
        }
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
                    name: name, object: object, cursor: cursor ?? 0, limit: limit ?? 100))
        }
        let given = [(Key.name, name != nil), (.limit, limit != nil), (.cursor, cursor != nil)]
        for (key, isGiven) in given where isGiven { tell(key, "cannot be combined with selector") }
        guard let object else {
            tell(.object, "is required with selector")
            return nil
        }
        return .ask(object: object, selector: selector)
    }

    /// Sets a parameter from its text, and returns its fault or nil.
    mutating func set(_ key: Key, to text: [UInt8], limits: WireLimits) -> String? {
        switch key {
        case .name: name = text
        case .object: object = text
        case .selector:
            selector = text
            return TextRule.faultOfSelector(text, limits: limits)
        case .limit:
            limit = ListingRequest.limit(text, limits: limits)
            return limit == nil ? ListingRequest.limitDetail(limits) : nil
        case .cursor:
            cursor = CursorText.read(text.span)
            return cursor == nil ? ListingRequest.cursorDetail : nil
        }
        return TextRule.faultOfName(text.span, limits: limits)
    }
}
