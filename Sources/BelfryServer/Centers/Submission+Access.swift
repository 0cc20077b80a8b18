import BelfryAccess
import BelfryCenter
import BelfryWire

// What the grants of a caller must allow.

extension Submission {
    /// Checks that the caller may have this observer.
    func checkObserve(_ request: ObserverRequest) throws(Problem) {
        func check(_ verb: Verbs, _ text: String) throws(Problem) {
            let isAllowed = caller.grants.allow(
                verb, center: center, name: request.name, object: request.object)
            if !isAllowed {
                throw Problem.lacking(
                    text, caller, center: center, name: request.name,
                    object: request.object)
            }
        }
        if request.name == nil, request.object == nil { try check(.wildcard, "wildcard") }
        try check(.observe, "observe")
        if request.asksAcknowledge { try check(.acknowledge, "acknowledge") }
        if request.asksForever { try check(.forever, "forever") }
        if request.asksLifetime { try check(.inspect, "inspect") }
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
