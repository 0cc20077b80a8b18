/// The names that an observer makes observed, and those whose watcher it is.
struct WatchedNames {
    /// Its names, but for those of the reports on names.
    var names: [[UInt8]] = []
    /// The prefix of its names.
    var prefix: [UInt8]?
    /// For each channel of reports on names that it gets: the watched name; nil is all.
    var reports: [[UInt8]?] = []

    /// Makes the names of a filter; nil where it has none and no prefix.
    init?(_ name: [UInt8]?, _ object: [UInt8]?, _ terms: FilterTerms) {
        // A prefix of objects may be one of many watched names.
        let watched = terms.objectPrefix == nil ? object : nil
        prefix = terms.namePrefix
        for name in terms.names { add(name, watched) }  // Bound: terms
        if let name { add(name, watched) }
        if let prefix {
            let channels = Report.names.filter { Report.isOfChannels($0) }
            // Bound: few
            for channel in channels where channel.starts(with: prefix) {
                if prefix.count >= FilterTerms.reservedByteCount { reports.append(watched) }
            }
        }
        if names.isEmpty, reports.isEmpty, prefix == nil { return nil }
    }

    private mutating func add(_ name: [UInt8], _ watched: [UInt8]?) {
        if Report.isOfChannels(name) { reports.append(watched) } else { names.append(name) }
    }
}
