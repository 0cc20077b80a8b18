import BelfryJSON

// The code of filter terms: words of level 5.

extension FilterTerms: Coded {
    init(_ known: FilterTerms?, by coder: inout some Coder) throws(CodeError) {
        self.init()
        names = try coder(known?.names)
        namePrefix = try coder(known?.namePrefix)
        objectPrefix = try coder(known?.objectPrefix)
        condition = try coder(known?.condition)
        grants = try coder(known?.grants)
    }
}

extension FilterTerms {
    /// The terms as bytes, which only equal terms have.
    var code: [UInt8] {
        var writer = CodeWriter()
        writer.write(self)
        return writer.bytes
    }
}

extension Command.Action {
    /// Reads a registration of a batch of calls; no log of a level below 5 has one.
    static func registrationInBatch(
        by coder: inout some Coder
    ) throws(CodeError) -> Self {
        var registration: ObserverRegistration = try coder.next()
        registration.followsAnswers = true
        return .addObserver(registration, client: try coder.next(), since: try coder.next())
    }

    /// Reads a removal by filter terms, which brokers know from level 5 on.
    static func removal(by coder: inout some Coder) throws(CodeError) -> Self {
        let client: UInt64 = try coder.next()
        var filter: ObserverFilter = try coder.next()
        // They are written without a sign that they are there.
        let terms: FilterTerms = try coder.next()
        filter.terms = terms
        return .removeObservers(client: client, filter)
    }
}

extension CenterLimits {
    private var filterLimits: [UInt64] { [UInt64(prefixLimit), UInt64(conditionLimit)] }

    /// Goes through limits of a state, which has those of filters from version 4 on.
    init(ofState known: CenterLimits?, by coder: inout some Coder) throws(CodeError) {
        self = try coder(known)
        guard coder.version >= 4 else { return }
        let numbers: [UInt64] = try coder(known?.filterLimits)
        guard setFilterLimits(numbers) else { throw .malformed }
    }

    /// Writes the limits of filters behind a command, unless they are the usual ones.
    ///
    /// Brokers before level 5 skip them.
    func writeFilterLimits(by coder: inout some Coder) throws(CodeError) {
        guard filterLimits != CenterLimits().filterLimits else { return }
        _ = try [UInt64](filterLimits, by: &coder)
    }

    /// Adds the limits of filters that may follow a command.
    init(_ limits: CenterLimits, filtersBehindBy coder: inout some Coder) throws(CodeError) {
        self = limits
        guard !coder.isAtEnd, let numbers = try? [UInt64](nil, by: &coder) else { return }
        // Others are fields of a newer program.
        _ = setFilterLimits(numbers)
    }

    private mutating func setFilterLimits(_ numbers: [UInt64]) -> Bool {
        guard numbers.count == 2, numbers.allSatisfy({ $0 <= UInt64(Int.max) }) else {
            return false
        }
        (prefixLimit, conditionLimit) = (Int(numbers[0]), Int(numbers[1]))
        return true
    }
}

extension GrantCondition: Coded {
    init(_ known: GrantCondition?, by coder: inout some Coder) throws(CodeError) {
        self.init(
            names: try coder(known?.names), alternatives: try coder(known?.alternatives))
    }
}

extension JSONCondition: Coded {
    init(_ known: JSONCondition?, by coder: inout some Coder) throws(CodeError) {
        let text: [UInt8] = try coder(known?.text)
        guard let condition = try? known ?? JSONCondition(text.span) else { throw .malformed }
        self = condition
    }
}
