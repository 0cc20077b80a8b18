extension Effects {
    /// Removes the output of other brokers that share a log.
    ///
    /// It consists of deliveries and notices for their connections, and of answers to their
    /// commands.
    ///
    /// The effects of a command are the same at all brokers. A broker without a log needs none of
    /// this.
    ///
    /// - Parameter seat: the life of this broker, as in the names of its connections and commands.
    public mutating func keepOnly(node seat: UInt32) {
        deliveries.removeAll { $0.connection.node != seat }
        notices.removeAll { $0.connection.node != seat }
        completions.removeAll { $0.command.node != seat }
        if hasAsks { askCompletions.removeAll { $0.command.node != seat } }
    }
}
