import BelfryAccess
import BelfryCenter
import BelfryJSON
import BelfryWire

// What the grants of a caller must allow.

extension Submission {
    /// Checks that the caller may have this observer.
    func checkObserve(_ request: ObserverRequest) throws(Problem) {
        func check(_ verb: Verbs, _ text: String) throws(Problem) {
            try self.check(verb, text, name: request.name, object: request.object)
        }
        if let responder = request.role.responder {
            return try checkRespond(responder, request)
        }
        if let value = request.role.value {
            return try checkObserve(value, request)
        }
        if request.watchesChannels {
            try checkWatch(request)
        } else {
            if request.name == nil, request.object == nil { try check(.wildcard, "wildcard") }
            try check(.observe, "observe")
            if request.asksLifetime { try check(.inspect, "inspect") }
        }
        if let target = request.role.target {
            // Nobody gains by it what he could not do by hand (rule K10).
            try self.check(.ask, "ask", name: request.selector, object: target)
        }
        if request.asksAcknowledge { try check(.acknowledge, "acknowledge") }
        if request.asksForever { try check(.forever, "forever") }
    }

    /// Checks that the caller may watch whether a name, or any, is observed: whoever may post it may know (rule L12).
    private func checkWatch(_ request: ObserverRequest) throws(Problem) {
        if let watched = request.object,
            caller.grants.allowSome([.post, .inspect], center: center.span, name: watched.span)
        {
            return
        }
        try check(.inspect, "inspect", name: request.name, object: request.object)
    }

    /// Checks that the caller may observe a value: the key path is the name, the whole needs all names.
    private func checkObserve(
        _ value: ValueTerms, _ request: ObserverRequest
    ) throws(Problem) {
        let name = value.path.coveredName
        try check(.read, "read", name: name, object: request.object)
        if request.asksForever {
            try check(.forever, "forever", name: name, object: request.object)
        }
    }

    /// Whether the caller may read what is at a place of a value.
    func mayRead(_ place: ValuePlace) -> Bool {
        caller.grants.allow(
            .read, center: center, name: place.path.coveredName, object: place.object)
    }

    /// Checks that the caller may read what is at a place of a value.
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

    private func check(
        _ verb: Verbs, _ text: String, name: [UInt8]?, object: [UInt8]?
    ) throws(Problem) {
        if caller.grants.allow(verb, center: center, name: name, object: object) { return }
        throw Problem.lacking(text, caller, center: center, name: name, object: object)
    }

    /// Checks that the caller may ask this: the selector is the name, the address the object.
    func checkAsk(_ content: Notification.Content) throws(Problem) {
        guard
            caller.grants.allow(
                .ask, center: center.span, name: content.name, object: content.object)
        else { throw Problem.lacking("ask", self, content, place: nil) }
    }

    /// Whether the caller asked this, or may do so with what others asked.
    ///
    /// Callers without credentials are one principal, of which those that are not local have no
    /// part.
    func owns(_ ask: NotificationCenter.AskFate, orBy verb: Verbs) -> Bool {
        ask.principal == caller.principal && !caller.isStranger
            || caller.grants.allow(
                verb, center: center, name: ask.selector, object: ask.object)
    }

    /// Checks what a timer says against the clock.
    func checkTimer(
        _ timer: TimerTerms, of request: PostRequest, place: Int?, _ outbox: inout Outbox
    ) throws(Problem) {
        guard case .at(let milliseconds) = timer.start,
            milliseconds - outbox.commandTime.wallMilliseconds > Self.farthestTime
        else { return }
        let detail = "must be at most 366 days ahead"
        if case .http(let http) = reply.form, http.hasTimerInQuery {
            throw .invalidParameter("at", detail)
        }
        var pointer = JSONPointer.root
        if let place { pointer = pointer.appending(index: place) }
        throw .invalid([Problem.FieldError(.pointer(pointer.appending(key: "at")), detail)])
    }

    /// How far ahead a timer may be due, in milliseconds.
    private static let farthestTime: Int64 = 31_622_400_000

    /// Checks that the caller may make this post.
    ///
    /// - Parameter place: its place among several, if it is one of them.
    func checkPost(_ request: PostRequest, place: Int?) throws(Problem) {
        let grants = caller.grants
        let content = request.content
        guard
            grants.allow(
                .post, center: center.span, name: content.name, object: content.object)
        else { throw Problem.lacking("post", self, content, place: place) }
        guard let options = request.options else { return }
        if options.asksForever {
            guard
                grants.allow(
                    .forever, center: center.span, name: content.name, object: content.object)
            else { throw Problem.lacking("forever", self, content, place: place) }
        }
        guard options.isImmediate else { return }
        guard
            grants.allow(
                .immediate, center: center.span, name: content.name,
                object: content.object)
        else { throw Problem.lacking("immediate", self, content, place: place) }
    }
}
