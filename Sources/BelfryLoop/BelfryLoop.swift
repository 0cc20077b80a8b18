// The room comes with its first type.
