import Testing

/// Something that happens to a broker, and the metrics that it moves.
struct Movement: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let metrics: [String]
    /// Makes it happen, and gives the pages of before and of after.
    let happen: @Sendable () throws -> (before: MetricsPage, after: MetricsPage)

    /// Something that happens to a broker of its own.
    init(
        _ description: String, moves metrics: [String],
        of broker: @escaping @Sendable () throws -> Broker = { try Broker() },
        by happen: @escaping @Sendable (Broker) throws -> Void
    ) {
        testDescription = description
        self.metrics = metrics
        self.happen = {
            let broker = try broker()
            let before = try MetricsPage(broker)
            try happen(broker)
            return (before, try MetricsPage(broker))
        }
    }

    /// Something that happens to two brokers that share a log, as the first of them tells it.
    ///
    /// - Parameter isNew: whether nothing was told before: the brokers are made by it.
    init(
        _ description: String, ofClusterMoves metrics: [String], isNew: Bool = false,
        by happen: @escaping @Sendable (BrokerCluster) throws -> Void = { _ in }
    ) {
        testDescription = description
        self.metrics = metrics
        self.happen = {
            let cluster = try BrokerCluster(count: 2)
            let before = isNew ? MetricsPage() : try MetricsPage(cluster[0])
            try happen(cluster)
            return (before, try MetricsPage(cluster[0]))
        }
    }

    /// Something that is there from the start.
    init(
        _ description: String, shows metrics: [String],
        in broker: @escaping @Sendable () throws -> Broker
    ) {
        testDescription = description
        self.metrics = metrics
        happen = { (MetricsPage(), try MetricsPage(broker())) }
    }
}
