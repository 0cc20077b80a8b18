extension Effects {
    /// Removes what other brokers that share a log write: deliveries and notices for their connections, and answers to
    /// their commands.
    ///
    /// The effects of a command are the same at all of them. A broker without a log has no use for this.
    ///
    /// - Parameter seat: what stands for the life of this broker in the names of connections and commands.
    public mutating func keepOnly(node seat: UInt32) {
        deliveries.removeAll { $0.connection.node != seat }
        notices.removeAll { $0.connection.node != seat }
        completions.removeAll { $0.command.node != seat }
        if hasAsks { askCompletions.removeAll { $0.command.node != seat } }
    }
}
