internal import BelfryCenter

extension FieldReader {
    private static let listing = FieldTable(Listing.observers.keys)

    /// Reads the members of a listing of observers from JSON-RPC params.
    mutating func readListing(in bytes: Span<UInt8>) throws(Problem) -> ListingRequest? {
        var request = ListingRequest()
        guard try beginObject(in: bytes) else { return nil }
        while let key = try nextKey(of: Self.listing, in: bytes) {
            try request.read(key, from: &self, in: bytes)
        }
        if let fault = request.fault { addFault(fault.key, fault.detail) }
        return request
    }
}
