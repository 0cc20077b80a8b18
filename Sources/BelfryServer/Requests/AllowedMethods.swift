import BelfryHTTP

/// A set of methods, for a decision and for the `Allow` field.
struct AllowedMethods: OptionSet {
    let rawValue: UInt8

    /// GET, and HEAD with it.
    static let get = AllowedMethods(rawValue: 1)
    static let post = AllowedMethods(rawValue: 2)
    static let delete = AllowedMethods(rawValue: 4)
    /// GET of an endless answer.
    static let getWithoutHead = AllowedMethods(rawValue: 8)
    static let patch = AllowedMethods(rawValue: 16)
    static let put = AllowedMethods(rawValue: 32)

    /// Whether the set has a method.
    func allow(_ method: HTTPMethod) -> Bool {
        switch method {
        case .get: contains(.get) || contains(.getWithoutHead)
        case .head: contains(.get)
        case .post: contains(.post)
        case .delete: contains(.delete)
        case .patch: contains(.patch)
        case .put: contains(.put)
        case .options, .trace, .connect, .other: false
        }
    }

    /// The names of the methods with OPTIONS, for the `Allow` field.
    var text: String {
        var names: [String] = []
        if contains(.get) { names += ["GET", "HEAD"] }
        if contains(.getWithoutHead) { names.append("GET") }
        if contains(.post) { names.append("POST") }
        if contains(.put) { names.append("PUT") }
        if contains(.delete) { names.append("DELETE") }
        if contains(.patch) { names.append("PATCH") }
        return (names + ["OPTIONS"]).joined(separator: ", ")
    }
}
