internal import BelfryCenter
internal import BelfryJSON

/// The fields of a listing of observers, from JSON-RPC params.
struct ListingFields {
    var request = ObserversRequest()

    static let keys = JSONKeyTable([
        "limit", "cursor", "name", "object", "client", "state", "principal",
    ])

    /// Reads or skips the value of one member.
    mutating func read(
        _ ordinal: Int, _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        switch ordinal {
        case 0:
            let range = 1...fields.limits.pageRowLimit
            if let limit = try fields.optionalInteger("limit", in: range, of: bytes) {
                request.query.limit = limit
            }
        case 1: try readCursor(&fields, in: bytes)
        case 2: request.query.name = try fields.optionalName("name", in: bytes)
        case 3: request.query.object = try fields.optionalName("object", in: bytes)
        case 4: try readClient(&fields, in: bytes)
        case 5: try readState(&fields, in: bytes)
        default: request.query.principal = try fields.optionalName("principal", in: bytes)
        }
    }

    private mutating func readCursor(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard let text = try fields.optionalString("cursor", in: bytes) else { return }
        if let cursor = CursorText.read(text.span) {
            request.query.cursor = cursor
        } else {
            fields.addFault("cursor", "must be the next of an earlier page")
        }
    }

    private mutating func readClient(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard let text = try fields.optionalString("client", in: bytes) else { return }
        if let id = IdentifierText(client: text.span), id.secret == nil {
            request.query.client = id.number
        } else {
            fields.addFault("client", "must be the id of a client")
        }
    }

    private mutating func readState(
        _ fields: inout FieldReader, in bytes: Span<UInt8>
    ) throws(Problem) {
        guard let text = try fields.optionalString("state", in: bytes) else { return }
        request.state = ClientState(text: text)
        if request.state == nil {
            fields.addFault("state", "must be live, slow, asked or disconnected")
        }
    }
}

extension FieldReader {
    mutating func readListing(in bytes: Span<UInt8>) throws(Problem) -> ObserversRequest? {
        var listing = ListingFields()
        _ = try readObject(ListingFields.keys, in: bytes) {
            (fields, ordinal, bytes) throws(Problem) in
            try listing.read(ordinal, &fields, in: bytes)
        }
        return listing.request
    }
}
