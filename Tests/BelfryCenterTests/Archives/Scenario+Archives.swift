@testable import BelfryCenter

// Archives, and observers that begin in the past, for scenarios.
extension Scenario {
    /// Makes an archive of a channel, or of a prefix that ends in a star.
    mutating func archive(_ name: String, _ change: (inout ArchiveTerms) -> Void = { _ in }) {
        var terms = ArchiveTerms()
        terms.isStored = false
        change(&terms)
        apply(.putArchive(Self.archiveName(name), terms))
    }

    mutating func removeArchive(_ name: String) {
        apply(.removeArchive(Self.archiveName(name)))
    }

    private static func archiveName(_ name: String) -> ArchiveName {
        let isPrefix = name.hasSuffix("*")
        return ArchiveName(bytes(isPrefix ? String(name.dropLast()) : name), isPrefix: isPrefix)
    }

    /// Forgets the notifications of a channel.
    mutating func forget(_ name: String) {
        var query = PastQuery()
        query.name = bytes(name)
        apply(.forget(query, above: 0))
    }

    /// The numbers that a page of all that is kept shows.
    func keptNumbers() -> [UInt64] {
        var page = PastPage(of: PastQuery())
        center.read(&page, of: PastQuery(), at: time) { _ in true }
        return page.notifications.map(\.sequence)
    }

    /// Registers an observer at a new client; tells what it gets of the past.
    @discardableResult
    mutating func begin(
        _ name: String?, object: String? = nil, since: UInt64? = nil,
        beginning: PastBeginning? = nil
    ) -> PastTold {
        let client = connect()
        var registration = registration(name, object)
        registration.beginning = beginning
        apply(.addObserver(registration, client: client, since: since))
        return told
    }

    /// The deliveries of the last command, and the gaps `unknown` that it told.
    var told: PastTold {
        PastTold(
            sequences: effects.deliveries.map {
                effects.notifications[Int($0.notification)].sequence
            },
            gaps: effects.notices.compactMap { notice in
                guard case .gap(_, _, let gap) = notice, gap.reason == .unknown else { return nil }
                return gap.firstSequence...gap.lastSequence
            })
    }
}

/// The frames and the gaps of a command.
struct PastTold: Equatable {
    var sequences: [UInt64] = []
    var gaps: [ClosedRange<UInt64>] = []
}

extension CenterLimits {
    /// Limits with a replay ring of so many notifications.
    static func ring(_ count: Int) -> CenterLimits {
        var limits = CenterLimits()
        limits.replayCountLimit = count
        return limits
    }
}
