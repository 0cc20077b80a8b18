internal import BelfryJSON

/// A write to a value, as the params of its call have it.
struct ValueWrite: Sendable {
    /// A value inside that of an object.
    struct Place: Hashable, Sendable {
        let object: [UInt8]
        let path: DocumentPath

        /// The way from this place to one in it; nil for one that is elsewhere, or above.
        func way(to other: Place) -> DocumentPath? {
            guard object == other.object, path.leads(to: other.path) else { return nil }
            return DocumentPath(keys: Array(other.path.keys.dropFirst(path.keys.count)))
        }
    }

    enum Method: String {
        case setValue, mergeValue, removeValue
    }

    let method: Method
    let place: Place
    /// The value that is set, or the patch; nil where the value is removed.
    let document: Document?
    let lease: Duration?
    let ttl: Duration?

    /// The limits of a document, above those of a broker.
    static let limits = DocumentLimits(byteLimit: .max, depthLimit: UserInfo.depthLimit)

    /// Reads the params of a call; nil for another method, and for what no broker takes.
    init?(method name: String, params: [UInt8]) {
        guard let method = Method(rawValue: name), let members = JSONObject(params),
            let object = members.string("object"),
            let path = try? DocumentPath.parse(Array((members.string("keyPath") ?? "").utf8).span)
        else { return nil }
        self.method = method
        place = Place(object: Array(object.utf8), path: path)
        lease = members.seconds("lease")
        ttl = members.seconds("ttl")
        switch method {
        case .setValue:
            guard let json = members.raw("value"),
                let value = try? Document.parse(json.span, limits: Self.limits)
            else { return nil }
            document = value
        case .mergeValue:
            guard let json = members.raw("patch"),
                let patch = try? Document.parsePatch(json.span, limits: Self.limits)
            else { return nil }
            document = patch
        case .removeValue: document = nil
        }
    }

    /// Whether it ends the lease of another place: it is there or above, and changes the whole.
    func endsLease(at other: Place) -> Bool {
        guard let way = place.way(to: other) else { return false }
        guard method == .mergeValue, !way.isWhole, let document else { return true }
        for count in 0...way.keys.count {
            guard let value = document.value(at: way.prefix(count)) else { return false }
            if !value.isObject { return true }
        }
        return false
    }

    /// Follows the write in a value that is below its place or above it; false if it is elsewhere.
    func apply(to value: inout Document, at other: Place) -> Bool {
        do throws(DocumentError) {
            if let way = other.way(to: place) {
                if let document, method == .setValue {
                    try value.set(document, at: way, limits: Self.limits)
                } else if let document {
                    try value.merge(document, at: way, limits: Self.limits)
                } else {
                    _ = value.remove(at: way)
                }
                return true
            }
            guard method == .mergeValue, let way = place.way(to: other),
                let patch = document?.value(at: way)
            else { return false }
            try value.merge(patch, limits: Self.limits)
            return true
        } catch {
            // No broker has taken a document that is too deep.
            return false
        }
    }
}
