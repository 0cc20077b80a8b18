// The code of a log entry: all brokers that share the log read it, also those of another version.

extension Entry {
    /// The version of the code of entries.
    static let codeVersion: UInt64 = 1

    /// The entry as bytes.
    public var code: [UInt8] {
        var writer = CodeWriter(version: Self.codeVersion)
        writer.write(self)
        return writer.bytes
    }

    /// Reads an entry that was written by this version, or by an earlier one.
    ///
    /// - Throws: An unknown version or kind of command: a newer program has written the entry, and
    ///   this one must stop.
    public init(code: [UInt8]) throws(CodeError) {
        var reader = try CodeReader(code, through: Self.codeVersion, seed: HashSeed(0, 0))
        self = try reader.next()
        try reader.finish()
    }
}

extension Entry: Coded {
    init(_ known: Entry?, by coder: inout some Coder) throws(CodeError) {
        node = try coder(known?.node)
        life = try coder(known?.life)
        number = try coder(known?.number)
        appliedIndex = try coder(known?.appliedIndex)
        chain = try coder(known?.chain)
        elapsed = try coder(known?.elapsed)
        wallMilliseconds = try coder(known?.wallMilliseconds)
        // Each name of a center is in an entry once.
        let known = known?.commands
        var names = CenterNames(of: known ?? [])
        names.names = try coder(known.map { _ in names.names })
        let count = try coder.count(known?.count)
        var commands: [Numbered] = []
        commands.reserveCapacity(count)
        // Bound: code
        for place in 0..<count { commands.append(try names.code(known?[place], by: &coder)) }
        self.commands = commands
    }
}

/// The centers that the commands of an entry name.
private struct CenterNames {
    var names: [[UInt8]] = []
    private var places: [[UInt8]: UInt64] = [:]

    init(of commands: [Entry.Numbered]) {
        // Bound: code
        for case let name? in commands.map(\.action.center) where places[name] == nil {
            places[name] = UInt64(names.count)
            names.append(name)
        }
    }

    /// Goes through a command, whose content follows its length.
    ///
    /// Fields of a newer program behind the last known one are skipped.
    func code(
        _ known: Entry.Numbered?, by coder: inout some Coder
    ) throws(CodeError) -> Entry.Numbered {
        let counter: UInt64 = try coder(known?.counter)
        // The place behind the last name means that there is no center.
        let place = try coder.word(
            known.map { $0.action.center.flatMap { places[$0] } ?? UInt64(names.count) })
        let content = try coder.bytes(known?.content)
        if let known { return known }
        var reader = CodeReader(content, seed: coder.seed)
        return Entry.Numbered(
            counter: counter,
            action: try ShardCommand.Action.read(
                center: place < UInt64(names.count) ? names[Int(place)] : nil, by: &reader),
            content: content)
    }
}

/// Each case keeps its number forever, even if removed; ``Command/Action`` has those below 200.
extension ShardCommand.Action {
    /// The bytes of all parts but the center.
    var content: [UInt8] {
        var writer = CodeWriter()
        // A writer throws nothing.
        try? write(by: &writer)
        return writer.bytes
    }

    /// Writes all parts but the center.
    fileprivate func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .tell(_, let action): try action.write(by: &coder)
        case .makeCenter(_, let epoch): try coder.write(case: 200, epoch)
        case .endCenter: try coder.write(case: 201)
        case .nodeUp(let level): try coder.write(case: 202, level)
        case .nodeDown(let name, let life): try coder.write(case: 203, name, life)
        case .level(let level, let key):
            try coder.write(case: 204, level)
            if level >= Shard.levelFour { _ = try TagKey(key, by: &coder) }
        case .useTicket(let hash, let end): try coder.write(case: 205, hash, end)
        case .nothing: try coder.write(case: 206)
        case .configure(let limits, let revision):
            try coder.write(case: 207, limits, revision)
            try limits.writeFilterLimits(by: &coder)
        case .makeTicket(let hash, let principal, let shown, let share):
            try coder.write(case: 208, hash, principal, shown, share)
        }
    }

    fileprivate static func read(
        center: [UInt8]?, by coder: inout some Coder
    ) throws(CodeError) -> ShardCommand.Action {
        let number = try coder.word(nil)
        switch (number, center) {
        case (0..<200, let center?):
            return .tell(center: center, try Command.Action.read(case: number, by: &coder))
        case (200, let center?): return .makeCenter(center, epoch: try coder.next())
        case (201, let center?): return .endCenter(center)
        case (202, _): return .nodeUp(level: try coder.next())
        case (203, _): return .nodeDown(try coder.next(), life: try coder.next())
        case (204, _):
            let level: UInt64 = try coder.next()
            return .level(level, level >= Shard.levelFour ? try coder.next() : .known)
        case (205, _): return .useTicket(try coder.next(), until: try coder.next())
        case (206, _): return .nothing
        case (207, _):
            let (limits, revision): (CenterLimits, UInt64) = (try coder.next(), try coder.next())
            return .configure(try CenterLimits(limits, filtersBehindBy: &coder), revision: revision)
        case (208, _):
            return .makeTicket(
                try coder.next(), principal: try coder.next(), shown: try coder.next(),
                share: try coder.next())
        case (0...201, nil): throw .malformed
        default: throw .unknownKind(number)
        }
    }
}
