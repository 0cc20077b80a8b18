// The code of asks, their answers and their ends.

extension Command.Action {
    /// Reads an ask with words of level 6; no log of a lower level has one.
    static func askWithOptions(by coder: inout some Coder) throws(CodeError) -> Self {
        let ask: Ask = try coder.next()
        let terms: AskTerms = try coder.next()
        return .ask(Ask(ask, options: try coder.next()), terms)
    }
}

extension Ask: Coded {
    /// The ask with options, which its code does not have.
    fileprivate init(_ ask: Ask, options: AskOptions) {
        self.init(
            id: ask.id, content: ask.content, causedBy: ask.causedBy, fallback: ask.fallback,
            isOnce: ask.isOnce, lifetime: ask.lifetime, wait: ask.wait, options: options)
    }

    init(_ known: Ask?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        content = try coder(known?.content)
        causedBy = try coder(known?.causedBy)
        fallback = try coder(known?.fallback)
        isOnce = try coder(known?.isOnce)
        lifetime = try coder(known?.lifetime)
        wait = try coder(known?.wait)
        options = known?.options ?? AskOptions()
    }
}

extension AskTerms: Coded {
    init(_ known: AskTerms?, by coder: inout some Coder) throws(CodeError) {
        client = try coder(known?.client)
        principal = try coder(known?.principal)
        canStore = try coder(known?.canStore)
        owner = try coder(known?.owner)
        byteRoom = try coder(known?.byteRoom)
        key = try coder(known?.key)
    }
}

extension AskOutcome: Coded {
    init(_ known: AskOutcome?, by coder: inout some Coder) throws(CodeError) {
        id = try coder(known?.id)
        state = try coder(known?.state)
        path = try coder(known?.path)
    }
}

extension AskOutcome.State: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .open(let time): try coder.write(case: 0, time)
        case .answered(let answer):
            guard coder.version >= 5 else {
                return try coder.write(case: 1, answer.content, answer.observer)
            }
            try coder.write(case: 5, answer)
        case .fallback(let answer, let failure): try coder.write(case: 2, answer, failure)
        case .failed(let failure): try coder.write(case: 3, failure)
        case .withdrawn: try coder.write(case: 4)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> AskOutcome.State {
        switch number {
        case 0: .open(until: try coder.next())
        case 1: .answered(AskAnswer(try coder.next(), observer: try coder.next()))
        case 2: .fallback(try coder.next(), try coder.next())
        case 3: .failed(try coder.next())
        case 4: .withdrawn
        case 5: .answered(try coder.next())
        default: throw .malformed
        }
    }
}

extension AskAnswer: Coded {
    init(_ known: AskAnswer?, by coder: inout some Coder) throws(CodeError) {
        self.init(
            try coder(known?.content), observer: try coder(known?.observer),
            principal: try coder(known?.principal), reason: try coder(known?.reason))
    }
}

extension AskOptions: Coded {
    init(_ known: AskOptions?, by coder: inout some Coder) throws(CodeError) {
        self.init()
        present = try coder(known?.present)
        waitsForAnybody = try coder(known?.waitsForAnybody)
    }
}

extension AskFailure: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .noResponder: try coder.write(case: 0)
        case .responderBusy: try coder.write(case: 1)
        case .selectorNotImplemented: try coder.write(case: 2)
        case .responderRefused(let error): try coder.write(case: 3, error)
        case .responderGone: try coder.write(case: 4)
        case .noAnswer: try coder.write(case: 5)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> AskFailure {
        switch number {
        case 0: .noResponder
        case 1: .responderBusy
        case 2: .selectorNotImplemented
        case 3: .responderRefused(error: try coder.next())
        case 4: .responderGone
        case 5: .noAnswer
        default: throw .malformed
        }
    }
}
