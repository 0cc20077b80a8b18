import Testing

/// Records an issue unless the condition holds: for loops in which `#expect` takes too long.
func check(_ condition: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    if !condition { Issue.record("the model disagrees", sourceLocation: sourceLocation) }
}
