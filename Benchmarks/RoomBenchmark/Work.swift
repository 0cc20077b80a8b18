/// Something that is done many times over, so that a script can count what once costs.
protocol Work {
    /// Does it so many times.
    mutating func run(_ count: Int)
}

/// Keeps the optimizer from leaving out what a work does.
@inline(never)
func use(_ value: Int) {
    precondition(value >= 0, "a work counted backwards")
}
