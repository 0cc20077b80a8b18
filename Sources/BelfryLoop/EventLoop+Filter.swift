internal import BelfrySystem

// Connections whose output goes through a filter. Sealed bytes join the unsent ones, so that their
// order is that of the sealing, a full socket keeps them, and the marks count them. Bytes that a
// cork keeps back join them unsealed, since they may be taken back; the uncorking seals them.

extension EventLoop {
    /// Lets the output of a connection go through the filter from now on.
    public mutating func filterOutput(of id: ConnectionID) {
        precondition(filter != nil, "there is no filter")
        guard let index = index(of: id), !slots[index].flags.contains(.closing) else { return }
        slots[index].flags.insert(.filtered)
    }

    /// Sends bytes of the filter itself, such as a handshake, without a seal.
    ///
    /// They leave with the flush, before the bytes that it seals.
    public mutating func send(sealed bytes: Span<UInt8>, to id: ConnectionID) {
        guard let index = index(of: id), !bytes.isEmpty, !slots[index].flags.contains(.closing)
        else { return }
        // Whether the socket has room is found out by writing.
        if slots[index].unsentByteCount == 0 { slots[index].flags.insert(.writable) }
        if slots[index].flags.contains(.corked) {
            // The bytes behind the cork are sealed later.
            let sealed = bytes.indices.map { bytes[$0] }
            slots[index].unsent.insert(contentsOf: sealed, at: slots[index].corkStart)
            slots[index].corkStart += sealed.count
        } else {
            slots[index].unsent.append(addingCapacity: bytes.count) { room in
                for position in bytes.indices { room.append(bytes[position]) }
            }
        }
        unsentByteTotal += bytes.count
        markDirty(index)
    }

    /// Seals this turn's ranges behind the unsent bytes, and after them the end if there is one.
    mutating func sealRanges(_ index: Int, ofFrames hasFrames: Bool) {
        guard let filter else { return }
        var sealed: [UInt8] = []
        swap(&sealed, &slots[index].unsent)
        defer { swap(&sealed, &slots[index].unsent) }
        let id = id(at: index)
        let ranges = takeRanges(index)
        let arena = hasFrames ? frames : output
        if ranges.count == 1 {
            filter.seal(arena.span.extracting(ranges[0]), of: id, into: &sealed)
        } else if !ranges.isEmpty {
            var gathered: [UInt8] = []
            gathered.reserveCapacity(ranges.reduce(0) { $0 + $1.count })
            for range in ranges { gathered += arena[range] }
            filter.seal(gathered.span, of: id, into: &sealed)
        }
        if slots[index].flags.contains(.closing) {
            slots[index].flags.remove(.filtered)
            filter.end(id, into: &sealed)
        }
    }
}
