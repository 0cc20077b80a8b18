import BelfryCenter
import BelfryJSON
import BelfryServer
import BelfrySystem
import BelfryWire
import Logging

/// All that `belfry serve` can be told.
struct Settings {
    var server = ServerConfiguration()
    var anonymousGrants: GrantList?
    /// The directory of lasting data, unless everything is in memory.
    var dataDirectory = "belfry-data"
    var isInMemory = false
    /// Whether a setting names the directory.
    var namesDataDirectory = false
    /// The part that the broker takes in a cluster; it takes none without a server of the engine.
    var cluster = ClusterConfiguration()
    var logLevel = Logger.Level.info
    var logFormat: LogFormat?
    /// Bytes of the log that may wait for their reader; past it lines are lost.
    var logByteLimit = 1 << 20
    /// The networks of `trust-proxy` as they were written.
    var trustedProxies: [String] = []
    /// The archives of each center, and their JSON as it was written.
    var archives: [ArchiveRequest] = []
    var archivesText: String?

    init() {
        server.listenAddresses = [.loopback(port: 8080)]
    }

    /// The configuration of the broker.
    var configuration: ServerConfiguration {
        var configuration = server
        configuration.anonymousGrants = anonymousGrants?.grants
        configuration.dataDirectory = isInMemory ? nil : dataDirectory
        if cluster.isWanted {
            configuration.cluster = cluster
            // The log keeps everything.
            if !namesDataDirectory { configuration.dataDirectory = nil }
        }
        configuration.centerLimits.archives = archives.compactMap { archive in
            var terms = archive.terms
            terms.isStored = archive.isStored ?? (configuration.dataDirectory != nil)
            return archive.name.map { ConfiguredArchive($0, terms) }
        }
        return configuration
    }

    /// All effective values by their purposes, for people.
    var text: String {
        let width = Setting.all.map(\.name.count).max() ?? 0
        return Setting.groups.map { group in
            group.title + "\n"
                + group.settings.map { setting in
                    let blanks = String(repeating: " ", count: width - setting.name.count)
                    return "  \(setting.name)\(blanks)  \(setting.effectiveText(in: self))"
                }.joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    /// All effective values as one JSON object, which is a configuration file again.
    var json: [UInt8] {
        var bytes: [UInt8] = []
        var writer = JSONWriter()
        writer.beginObject(into: &bytes)
        for setting in Setting.all {
            writer.key(setting.name, into: &bytes)
            setting.show(self).append(to: &bytes, with: &writer)
        }
        writer.endObject(into: &bytes)
        return bytes
    }
}
