/// `Documentation/Metrics.md`, made of the rows that `/metrics` is made of.
public enum MetricsDocument {
    /// The page.
    public static var page: String {
        """
        # Metrics

        `GET /metrics` answers with these in the text format of Prometheus, in this order, summed \
        over all loops. No label comes
        from users, and every label is there from the start with 0. [Operating.md](Operating.md), \
        section 6, has the alerts.

        The tables are made of the rows that the broker writes `/metrics` from; a test holds them \
        equal.

        """
            + MetricGroup.all.map { group in
                "\n## \(group.title)\n\n" + (group.note.isEmpty ? "" : group.note + "\n\n")
                    + "| metric | kind | meaning |\n| --- | --- | --- |\n"
                    + group.metrics.map(row).joined()
            }.joined()
    }

    private static func row(_ metric: Metric) -> String {
        let label = metric.label.map { "{\($0)}" } ?? ""
        var meaning = [metric.help]
        if !metric.note.isEmpty { meaning.append(metric.note) }
        if !metric.words.isEmpty {
            meaning.append(
                "The label is one of " + metric.words.map { "`\($0)`" }.joined(separator: ", ")
                    + ".")
        }
        let text = meaning.joined(separator: " ")
        return "| `\(metric.name)\(label)` | \(metric.kind.rawValue) | \(text) |\n"
    }
}
