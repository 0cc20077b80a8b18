internal import BelfryCenter
internal import BelfryJSON

extension FieldReader {
    private static let observerKeys = Listing.observers.keys
    private static let listingKeys = JSONKeyTable(observerKeys.map(\.text))

    /// Reads the members of a listing of observers from JSON-RPC params.
    mutating func readListing(in bytes: Span<UInt8>) throws(Problem) -> ListingRequest? {
        var request = ListingRequest()
        _ = try readObject(Self.listingKeys, in: bytes) {
            (fields, ordinal, bytes) throws(Problem) in
            try fields.readListingMember(ordinal, of: &request, in: bytes)
        }
        if let fault = request.fault { addFault(fault.key.text, fault.detail) }
        return request
    }

    private mutating func readListingMember(
        _ ordinal: Int, of request: inout ListingRequest, in bytes: Span<UInt8>
    ) throws(Problem) {
        let key = Self.observerKeys[ordinal]
        if key == .limit {
            let range = 1...limits.pageRowLimit
            let limit = try optionalInteger(key.text, in: range, of: bytes)
            request.query.limit = limit ?? request.query.limit
        } else if let text = try optionalString(key.text, in: bytes) {
            if let fault = request.set(key, to: text, limits: limits) {
                addFault(key.text, fault)
            }
        }
    }
}
