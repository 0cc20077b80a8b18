// The code of idempotency keys and their answers.

extension KeyedAnswers.Known: Coded {
    init(_ known: KeyedAnswers.Known?, by coder: inout some Coder) throws(CodeError) {
        requestHash = try coder(known?.requestHash)
        form = try coder(known?.form)
        principalByteCount = try coder(known?.principalByteCount)
        answer = try coder(known?.answer)
        waitingFor = try coder(known?.waitingFor)
        expiresAt = try coder(known?.expiresAt)
        position = try coder(known?.position)
        owner = try coder(known?.owner)
    }
}

extension KeyedAnswers.Answer: CodedCases {
    func write(by coder: inout some Coder) throws(CodeError) {
        switch self {
        case .one(let receipt): try coder.write(case: 0, receipt)
        case .many(let receipts, let reports): try coder.write(case: 1, receipts, reports)
        case .ask(let outcome): try coder.write(case: 2, outcome)
        }
    }

    static func read(
        case number: UInt64, by coder: inout some Coder
    ) throws(CodeError) -> KeyedAnswers.Answer {
        switch number {
        case 0: .one(try coder.next())
        case 1: .many(try coder.next(), try coder.next())
        case 2: .ask(try coder.next())
        default: throw .malformed
        }
    }
}

extension KeyedAnswers: Coded {
    init(_ answers: KeyedAnswers?, by coder: inout some Coder) throws(CodeError) {
        keys = try coder(answers?.keys)
        known = try coder(answers?.known)
        order = try coder(answers?.order)
        byteCount = try coder(answers?.byteCount)
        furtherByteCount = try coder(answers?.furtherByteCount)
        owned = try coder(answers?.owned)
    }
}
