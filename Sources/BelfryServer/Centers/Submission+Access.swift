import BelfryAccess
import BelfryCenter
import BelfryWire

// What the grants of a caller must allow.

extension Submission {
    /// Checks that the caller may have this observer.
    func checkObserve(_ request: ObserverRequest) throws(Problem) {
        for name in request.coveredNames {
            func check(
                _ verb: Verbs, _ text: String, at object: [UInt8]?
            ) throws(Problem) {
                if caller.grants.allow(verb, center: center, name: name, object: object) { return }
                throw Problem.lacking(text, caller, center: center, name: name, object: object)
            }
            let object = request.object
            if let terms = request.role.responder {
                try check(.respond, "respond", at: object)
                if let next = terms.next { try check(.ask, "ask", at: next) }
            } else {
                if name == nil, object == nil { try check(.wildcard, "wildcard", at: object) }
                try check(.observe, "observe", at: object)
                if request.asksLifetime { try check(.inspect, "inspect", at: object) }
            }
            if request.asksAcknowledge { try check(.acknowledge, "acknowledge", at: object) }
            if request.asksForever { try check(.forever, "forever", at: object) }
        }
    }

    /// Checks that the caller may ask this: the selector is the name, the address the object.
    func checkAsk(_ content: Notification.Content) throws(Problem) {
        guard
            caller.grants.allow(
                .ask, center: center.span, name: content.name, object: content.object)
        else { throw Problem.lacking("ask", self, content, place: nil) }
    }

    /// Whether the caller asked this, or may do so with what others asked.
    func owns(_ ask: NotificationCenter.AskFate, orBy verb: Verbs) -> Bool {
        ask.principal == caller.principal
            || caller.grants.allow(
                verb, center: center, name: ask.selector, object: ask.object)
    }

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
        guard let options = request.options, options.isImmediate else { return }
        guard
            grants.allow(
                .immediate, center: center.span, name: content.name,
                object: content.object)
        else { throw Problem.lacking("immediate", self, content, place: place) }
    }
}
