import BelfryBytes

/// The kinds of all archives: channels, or channels and objects, with what was let go of each.
struct ArchivedKinds: Footprinted, Sendable {
    /// One kind.
    struct Kind: Sendable {
        let key: ArchivedKindKey
        /// Two fields of the key: to read them there would copy it.
        let archive: UInt32
        let isOfObject: Bool
        var rows = Chain()
        var marks = LossMarks()
        /// The last notification of the channel before the archive began.
        var began = LossMark()
        /// Whether the store has it.
        var isStored = false
        /// Its neighbours in the order of use, and among the kinds of its archive.
        fileprivate var ofUse = Chain.Links()
        fileprivate var ofArchive = Chain.Links()

        fileprivate init(key: ArchivedKindKey) {
            self.key = key
            archive = key.archive
            isOfObject = key.isOfObject
        }
    }

    private var keys: KeyTable
    private var kinds: [Kind] = []
    /// The storage of a key that is looked up.
    private var lookUp: [UInt8] = []
    /// All kinds, that which was used longest ago first.
    private var byUse = Chain()
    private var ofArchives: [UInt32: Chain] = [:]

    /// The key of a number that is free.
    private static let none = ArchivedKindKey(channel: [], in: 0)

    init(seed: HashSeed) { keys = KeyTable(seed: seed) }

    var count: Int { keys.count }

    /// The kind that was used longest ago.
    var oldest: UInt32 { byUse.first }

    var footprint: Int {
        keys.footprint + kinds.count * MemoryLayout<Kind>.stride + 24 * ofArchives.count
            + Footprint.texts(count: 2 * count, byteCount: keys.byteCount)
    }

    subscript(kind: UInt32) -> Kind {
        _read { yield kinds[Int(kind)] }
        _modify { yield &kinds[Int(kind)] }
    }

    /// The archive of a kind.
    func archive(of kind: UInt32) -> UInt32 { kinds[Int(kind)].archive }

    /// Whether a kind is of a channel and an object.
    func isOfObject(_ kind: UInt32) -> Bool { kinds[Int(kind)].isOfObject }

    /// The rows of a kind.
    func rows(of kind: UInt32) -> Chain { kinds[Int(kind)].rows }

    /// Calls the visitor with all kinds.
    func forEach(_ visit: (UInt32) -> Void) { kinds.forEach(in: byUse, .ofUse, visit) }

    /// Calls the visitor with the kinds of an archive.
    func forEach(of archive: UInt32, _ visit: (UInt32) -> Void) {
        kinds.forEach(in: ofArchives[archive] ?? Chain(), .ofArchive, visit)
    }

    /// How many kinds an archive has.
    func count(of archive: UInt32) -> Int { ofArchives[archive]?.count ?? 0 }

    /// A kind of an archive; none where it has none.
    func first(of archive: UInt32) -> UInt32 { ofArchives[archive]?.first ?? Chain.none }

    /// The number of a kind, if the archive has it.
    func number(_ key: ArchivedKindKey) -> UInt32? { keys.index(of: key.bytes.span) }

    /// The kind of a notification in an archive, which has been used last from now on.
    mutating func use(
        _ content: borrowing Notification.Content, in archive: UInt32, isOfObject: Bool
    ) -> UInt32? {
        var key: [UInt8] = []
        swap(&key, &lookUp)
        defer { swap(&key, &lookUp) }
        key.removeAll(keepingCapacity: true)
        key.appendKindKey(
            of: content.name, isOfObject ? content.object : nil, in: archive,
            isOfObject: isOfObject)
        guard let number = keys.find(key.span) else { return nil }
        touch(number)
        return number
    }

    private mutating func touch(_ number: UInt32) {
        if byUse.last == number { return }
        kinds.remove(number, from: &byUse, .ofUse)
        kinds.insert(number, behind: byUse.last, in: &byUse, .ofUse)
    }

    /// Whether one of some archives has a channel.
    func know(_ name: [UInt8], in archives: [UInt32]) -> Bool {
        archives.contains {
            number(ArchivedKindKey(channel: name, in: $0)) != nil
        }
    }

    /// The number of a kind, which is made if it is new, and has been used last from now on.
    mutating func use(_ key: ArchivedKindKey) -> (number: UInt32, isNew: Bool) {
        let (number, isNew) = keys.insert(key.bytes.span)
        if isNew {
            let kind = Kind(key: key)
            while kinds.count <= Int(number) {  // Bound: growth
                kinds.append(Kind(key: Self.none))
            }
            kinds[Int(number)] = kind
            var own = ofArchives[key.archive] ?? Chain()
            kinds.insert(number, behind: own.last, in: &own, .ofArchive)
            ofArchives[key.archive] = own
            kinds.insert(number, behind: byUse.last, in: &byUse, .ofUse)
        } else {
            touch(number)
        }
        return (number, isNew)
    }

    /// Forgets a kind without rows.
    mutating func remove(_ number: UInt32) {
        let archive = self[number].key.archive
        kinds.remove(number, from: &byUse, .ofUse)
        if var own = ofArchives[archive] {
            kinds.remove(number, from: &own, .ofArchive)
            ofArchives[archive] = own.count == 0 ? nil : own
        }
        keys.remove(at: number)
        kinds[Int(number)] = Kind(key: Self.none)
        if count == 0 { kinds = [] }
    }
}

extension [ArchivedKinds.Kind]: Chained {
    /// The chains that each kind is in.
    enum ChainName { case ofUse, ofArchive }

    subscript(links kind: UInt32, name: ChainName) -> Chain.Links {
        @inline(__always) get {
            name == .ofUse ? self[Int(kind)].ofUse : self[Int(kind)].ofArchive
        }
        @inline(__always) set {
            if name == .ofUse {
                self[Int(kind)].ofUse = newValue
            } else {
                self[Int(kind)].ofArchive = newValue
            }
        }
    }
}

extension ArchivedKindKey {
    /// The kind of a notification in an archive.
    init(_ content: Notification.Content, in archive: UInt32, isOfObject: Bool) {
        self.init(
            archive: archive, name: [UInt8](copying: content.name),
            object: isOfObject ? content.objectText : nil, isOfObject: isOfObject)
    }

    /// The kind of a channel as a whole in an archive.
    init(channel name: [UInt8], in archive: UInt32) {
        self.init(archive: archive, name: name, object: nil, isOfObject: false)
    }

    /// The kind of the channel as a whole.
    var ofName: ArchivedKindKey { ArchivedKindKey(channel: name, in: archive) }

    /// Bytes that no other kind has.
    public var bytes: [UInt8] {
        var key: [UInt8] = []
        key.reserveCapacity(10 + name.count + (object?.count ?? 0))
        key.appendKindKey(of: name.span, object?.span, in: archive, isOfObject: isOfObject)
        return key
    }
}

extension [UInt8] {
    /// Appends the key of a kind: the length of the name divides it from the object.
    fileprivate mutating func appendKindKey(
        of name: Span<UInt8>, _ object: Span<UInt8>?, in archive: UInt32, isOfObject: Bool
    ) {
        let form: UInt64 = isOfObject ? object == nil ? 1 : 2 : 0
        // A name has at most 255 characters, of at most four bytes each.
        let words = UInt64(archive) | UInt64(name.count) << 32 | form << 48
        for shift in stride(from: UInt64(0), to: 56, by: 8) {  // Bound: few
            append(UInt8(truncatingIfNeeded: words >> shift))
        }
        append(name)
        if let object { append(object) }
    }
}
