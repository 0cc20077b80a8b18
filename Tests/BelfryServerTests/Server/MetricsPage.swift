import Testing

@testable import BelfryServer

/// The page of `/metrics`.
struct MetricsPage {
    /// The number of each sample, by the name with its labels.
    private var numbers: [Substring: Substring] = [:]
    private var types: Set<Substring> = []

    /// A page with nothing on it.
    init() {}

    init(_ broker: Broker) throws {
        for line in try broker.get("/metrics").text.split(separator: "\n") {
            let words = line.split(separator: " ")
            if line.hasPrefix("# TYPE ") {
                #expect(types.insert(words[2]).inserted, "\(words[2]) stands twice")
            } else if !line.hasPrefix("#") {
                numbers[words[0]] = words[1]
            }
        }
    }

    subscript(name: String) -> Double? { numbers[name[...]].flatMap { Double($0) } }

    /// The samples of a metric, by the text behind its name.
    func samples(_ metric: String) -> [Substring: Substring] {
        numbers.filter {
            $0.key.hasPrefix(metric)
                && [nil, "{", "_"].contains($0.key.dropFirst(metric.count).first)
        }
    }

    /// The samples of a metric that are not 0, by label.
    func troubles(_ name: String) -> [String: Double] {
        var troubles: [String: Double] = [:]
        for (sample, number) in numbers where sample.hasPrefix(name + "{") && number != "0" {
            troubles[String(sample.split(separator: "\"")[1])] = Double(number)
        }
        return troubles
    }

    func has(_ metric: Substring) -> Bool { types.contains(metric) }
}
