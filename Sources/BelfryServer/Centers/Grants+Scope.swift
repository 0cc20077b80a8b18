import BelfryAccess
import BelfryCenter
import BelfryJSON
import BelfryWire

// The cover of grants as data for commands, which are applied without grants.

extension Grants {
    /// The names and objects that a verb covers in a center, as data for commands.
    func scope(of verb: Verbs = .post, center: [UInt8]) -> PostScope {
        if allowEverywhere(verb) { return .everything }
        let patterns = patterns(of: verb, center: center.span).map { grant in
            PostScope.Pattern(names: Self.texts(grant.names), objects: Self.texts(grant.objects))
        }
        return .some(patterns)
    }

    /// The texts of patterns; an empty list is all texts, and no text.
    private static func texts(_ patterns: [Pattern]) -> [PostScope.Text] {
        if patterns.contains(.any) { return [] }
        return patterns.map { $0.isPrefix ? .prefix($0.bytes) : .exact($0.bytes) }
    }
}

extension Submission {
    /// The part of a way of addresses that the caller may see.
    var sight: Sight { caller.sight(in: center) }

    /// The cover of a registration; nil where it may replace all holders of its address, or none.
    func cover(of request: ObserverRequest) -> Cover? {
        guard let responder = request.role.responder, responder.replacesHolders,
            !caller.grants.allow(.admin, center: center, name: nil, object: request.object),
            !caller.grants.allow(.respond, center: center, name: nil, object: request.object)
        else { return nil }
        var cover = Cover()
        cover.selectors = caller.grants.scope(of: .respond, center: center)
        // Callers without credentials that are not local are one principal, which has no rights.
        if !caller.isStranger { cover.principal = caller.principal }
        return cover
    }

    /// The cover of a write; nil where it may remove every value on its path.
    func cover(of request: ValueRequest) -> Cover? {
        if caller.grants.allow(.set, center: center, name: nil, object: request.object) {
            return nil
        }
        var cover = Cover()
        for depth in 1..<max(1, request.path.keys.count) {  // Bound: keys
            let name = request.path.prefix(depth).coveredName
            if !caller.grants.allow(.set, center: center, name: name, object: request.object) {
                cover.keptDepths.append(depth)
            }
        }
        return cover.keptDepths.isEmpty ? nil : cover
    }
}

extension Caller {
    /// The part of a way of addresses that the caller may see.
    func sight(in center: [UInt8]) -> Sight {
        let grants = grants
        if grants.allowEverywhere(.ask) || grants.allowEverywhere(.inspect) { return .everything }
        return Sight { _, address in
            grants.allowSome([.ask, .inspect], center: center.span, object: address.span)
        }
    }
}

extension Response {
    /// The response as all brokers of a log know it.
    func known(in centers: borrowing CenterTable) -> Response {
        guard !centers.knowsAnswerers, case .result(let json, let canKeep, _) = self else {
            return self
        }
        return .result(json, canKeep: canKeep)
    }
}

extension CenterTable {
    /// Whether all brokers of a log know registrations whose frames follow the answers to a batch.
    var knowsBatches: Bool { log == nil || level >= Shard.levelFive }

    /// Whether all brokers of a log know who has answered an ask, and why.
    var knowsAnswerers: Bool { log == nil || level >= Shard.levelSix }

    /// Checks that all brokers of a log know the words of a level, which are named.
    func check(_ level: UInt64, of words: String) throws(Problem) {
        guard log != nil, self.level < level else { return }
        throw Problem(
            .overloaded,
            """
            A broker of this cluster is older than \(words); use them when all brokers have this \
            version.
            """)
    }

    /// Restricts a command to removals that its cover allows.
    ///
    /// In a log of an earlier level the cover is checked here.
    func action(
        _ action: Command.Action, within cover: Cover?, at position: Int
    ) throws(Problem) -> Command.Action {
        guard let cover else { return action }
        if log == nil || level >= Shard.levelFour { return .within(cover, action) }
        do throws(Refusal) {
            try cover.check(action, in: self[position])
        } catch {
            throw Problem(error)
        }
        return action
    }
}
