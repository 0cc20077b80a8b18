import BelfryAccess
import BelfryCenter
import BelfryJSON
import BelfryWire

// Checks of the caller's grants.

extension Submission {
    /// Checks that the caller may have this observer.
    func checkObserve(_ request: ObserverRequest) throws(Problem) {
        func check(_ verb: Verbs, _ text: String) throws(Problem) {
            try self.check(verb, text, request)
        }
        if let responder = request.role.responder {
            return try checkRespond(responder, request)
        }
        if let value = request.role.value {
            return try checkObserve(value, request)
        }
        if request.isOfEverything { try check(.wildcard, "wildcard") }
        let reach = request.reach
        // Each name of a set needs what it would need alone (rule P9).
        for name in reach.names {  // Bound: terms
            if request.watches(name) {
                try checkWatch(name, request)
            } else {
                try self.check(.observe, "observe", name: name, object: reach.object)
            }
        }
        // Bound: terms
        for name in request.reservedNames where !request.watches(name) {
            try self.check(.inspect, "inspect", name: name, object: reach.object)
        }
        if let target = request.role.target {
            // An action may ask only what its observer may ask directly (rule K10).
            try self.check(.ask, "ask", name: request.selector, object: target)
        }
        if request.asksAcknowledge { try check(.acknowledge, "acknowledge") }
        if request.asksForever { try check(.forever, "forever") }
    }

    /// Checks that the caller may watch whether a name is observed: its posters may (rule L12).
    private func checkWatch(_ name: [UInt8]?, _ request: ObserverRequest) throws(Problem) {
        if let watched = request.object,
            caller.grants.allowSome([.post, .inspect], center: center.span, name: watched.span)
        {
            return
        }
        try check(.inspect, "inspect", name: name, object: request.object)
    }

    /// Checks that the caller may observe a value: its name is the key path, or all for the whole.
    private func checkObserve(
        _ value: ValueTerms, _ request: ObserverRequest
    ) throws(Problem) {
        let name = value.path.coveredName
        try check(.read, "read", name: name, object: request.object)
        if request.asksForever {
            try check(.forever, "forever", name: name, object: request.object)
        }
    }

    /// Whether the caller may read a place of a value.
    func mayRead(_ place: ValuePlace) -> Bool {
        caller.grants.allow(
            .read, center: center, name: place.path.coveredName, object: place.object)
    }

    /// Checks that the caller may read a place of a value.
    func checkRead(_ place: ValuePlace) throws(Problem) {
        try check(.read, "read", name: place.path.coveredName, object: place.object)
    }

    /// Checks that the caller may write to a place of a value.
    func checkSet(_ place: ValuePlace) throws(Problem) {
        try check(.set, "set", name: place.path.coveredName, object: place.object)
    }

    /// Checks that the caller may respond: to each selector as a name, and to all names with none.
    private func checkRespond(
        _ responder: ResponderTerms, _ request: ObserverRequest
    ) throws(Problem) {
        for name in responder.coveredNames {  // Bound: selectors
            try check(.respond, "respond", name: name, object: request.object)
            if let next = responder.next { try check(.ask, "ask", name: name, object: next) }
            if request.asksAcknowledge {
                try check(.acknowledge, "acknowledge", name: name, object: request.object)
            }
            if request.asksForever {
                try check(.forever, "forever", name: name, object: request.object)
            }
        }
    }

    /// Checks a verb on all that a filter can match: each name may have another grant (rule P9).
    private func check(
        _ verb: Verbs, _ text: String, _ request: ObserverRequest
    ) throws(Problem) {
        guard request.role.filter != nil else {
            return try check(verb, text, name: request.name, object: request.object)
        }
        let reach = request.reach
        for name in reach.names {  // Bound: terms
            try check(verb, text, name: name, object: reach.object)
        }
    }

    /// The role of an observer, with the conditions of the grants that let it observe (rule W11).
    func role(of request: ObserverRequest) -> ObserverRole {
        let grants = caller.grants
        guard grants.haveConditions, request.role.responder == nil, request.role.value == nil else {
            return request.role
        }
        var terms = request.role.filter ?? FilterTerms()
        let reach = request.reach
        for name in reach.names {  // Bound: terms
            let alternatives = grants.conditions(
                of: .observe, center: center, name: name, object: reach.object)
            guard !alternatives.isEmpty else { continue }
            terms.grants.append(
                GrantCondition(
                    names: terms.names.isEmpty ? [] : [name ?? []], alternatives: alternatives))
        }
        return terms.grants.isEmpty
            ? request.role : .filtered(terms, target: request.role.target)
    }

    /// Checks a verb on a name and an object; nil stands for all of them.
    func check(
        _ verb: Verbs, _ text: String, name: [UInt8]?, object: [UInt8]?
    ) throws(Problem) {
        if caller.grants.allow(verb, center: center, name: name, object: object) { return }
        throw Problem.lacking(
            text, caller, center: center, name: name.map(FilterReach.shown),
            object: object.map(FilterReach.shown))
    }

    /// Checks that the caller may ask this: the selector is the name, the address the object.
    func checkAsk(_ content: Notification.Content) throws(Problem) {
        guard
            caller.grants.allow(
                .ask, center: center.span, name: content.name, object: content.object)
        else { throw Problem.lacking("ask", self, content, place: nil) }
    }

    /// Whether the caller made this ask, or has the verb for it.
    ///
    /// Callers without credentials are one principal; those that are not local have no part of it.
    func owns(_ ask: NotificationCenter.AskFate, orBy verb: Verbs) -> Bool {
        ask.principal == caller.principal && !caller.isStranger
            || caller.grants.allow(
                verb, center: center, name: ask.selector, object: ask.object)
    }

    /// Checks the start of a timer against the clock.
    func checkTimer(
        _ timer: TimerTerms, of request: PostRequest, place: Int?, _ context: inout LoopContext
    ) throws(Problem) {
        guard case .at(let milliseconds) = timer.start,
            milliseconds - context.commandTime.wallMilliseconds > Self.farthestTime
        else { return }
        let detail = "must be at most 366 days ahead"
        if case .http(let http) = reply.form, http.hasTimerInQuery {
            throw .invalidParameter("at", detail)
        }
        var pointer = JSONPointer.root
        if let place { pointer = pointer.appending(index: place) }
        throw .invalid([Problem.FieldError(.pointer(pointer.appending(key: "at")), detail)])
    }

    /// The farthest start of a timer, in milliseconds from now.
    private static let farthestTime: Int64 = 31_622_400_000

    /// Checks that the caller may make this post.
    ///
    /// - Parameter place: its place among several, if it is one of them.
    func checkPost(_ request: PostRequest, place: Int?) throws(Problem) {
        let grants = caller.grants
        let content = request.content
        guard
            grants.allow(
                .post, center: center.span, name: content.name, object: content.object,
                userInfo: content.userInfo)
        else { throw Problem.lacking("post", self, content, place: place) }
        guard let options = request.options else { return }
        if options.asksForever {
            guard
                grants.allow(
                    .forever, center: center.span, name: content.name, object: content.object,
                    userInfo: content.userInfo)
            else { throw Problem.lacking("forever", self, content, place: place) }
        }
        guard options.isImmediate else { return }
        guard
            grants.allow(
                .immediate, center: center.span, name: content.name,
                object: content.object, userInfo: content.userInfo)
        else { throw Problem.lacking("immediate", self, content, place: place) }
    }
}
