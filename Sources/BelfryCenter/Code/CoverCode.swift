// Words of level 4 as bytes.

extension TagKey: Coded {
    init(_ known: TagKey?, by coder: inout some Coder) throws(CodeError) {
        high = try coder(known?.high)
        low = try coder(known?.low)
    }
}

extension Cover: Coded {
    init(_ known: Cover?, by coder: inout some Coder) throws(CodeError) {
        selectors = try coder(known?.selectors)
        principal = try coder(known?.principal)
        keptDepths = try coder(known?.keptDepths)
    }
}
