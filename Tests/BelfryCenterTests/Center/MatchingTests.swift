import Testing

@testable import BelfryCenter

@Suite("NotificationCenter: matching and posting (rules C)")
struct MatchingTests {
    @Test("C1 (T54): all observers of a post get one notification with its bytes unchanged")
    func sameNotification() {
        var scenario = Scenario()
        let first = scenario.connect()
        let second = scenario.connect()
        scenario.observe("a", by: first)
        scenario.observe("a", by: second)
        scenario.milliseconds = 5_000
        let userInfo = #"{"big":12345678901234567890,"k":1,"k":2,"e":"\ud800"}"#
        let post = scenario.newPost("a", "o", userInfo: userInfo)
        scenario.apply(.post(post, PostTerms()))
        #expect(scenario.effects.notifications.count == 1)
        #expect(scenario.effects.deliveries.map(\.notification) == [0, 0])
        #expect(scenario.effects.deliveries.map(\.connection.number) == [101, 102])
        let notification = scenario.effects.notifications[0]
        #expect(notification.id == post.id)
        #expect(notification.sequence == 1)
        #expect(notification.postedAt == 5_000)
        #expect(notification.content.nameBytes == bytes("a"))
        #expect(notification.content.objectBytes == bytes("o"))
        #expect(notification.content.userInfoBytes == bytes(userInfo))
        #expect(notification.content.byteCount == 2 + userInfo.utf8.count)
    }

    @Test("C1 (T15): a post without userInfo arrives without userInfo")
    func withoutUserInfo() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client)
        scenario.post("a")
        #expect(scenario.effects.notifications[0].content.userInfoBytes == nil)
        #expect(scenario.effects.notifications[0].content.objectBytes == nil)
        scenario.post("a", userInfo: "{}")
        #expect(scenario.effects.notifications[0].content.userInfoBytes == bytes("{}"))
    }

    @Test("C1: a content is the same whether its parts come apart or in one buffer")
    func joinedContent() {
        let apart = Notification.Content(
            name: bytes("ab"), object: bytes("c"), userInfo: bytes("{}"))
        let joined = Notification.Content(
            joined: bytes("abc{}"), nameByteCount: 2, objectByteCount: 1, hasUserInfo: true)
        #expect(apart == joined)
        #expect(joined.hasObject)
        let bare = Notification.Content(
            joined: bytes("abc"), nameByteCount: 3, objectByteCount: nil, hasUserInfo: false)
        #expect(bare == Notification.Content(name: bytes("abc")))
        #expect(bare.userInfoBytes == nil && !bare.hasObject)
    }

    @Test("C2 (T1): an observer of a name gets only posts of that name")
    func nameFilter() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client)
        #expect(scenario.post("a") == [serial])
        #expect(scenario.post("b") == [])
    }

    @Test("C2 (T3): an observer without an object gets posts with any object and with none")
    func anyObject() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client)
        for object in ["o", "p", nil] { #expect(scenario.post("a", object) == [serial]) }
    }

    @Test("C2: with name and object given, both must match")
    func both() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", "o", by: client)
        #expect(scenario.post("a", "o") == [serial])
        #expect(scenario.post("a", "p") == [])
        #expect(scenario.post("b", "o") == [])
    }

    @Test("C2: an observer of an object gets posts of any name with that object")
    func objectFilter() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe(nil, "o", by: client)
        #expect(scenario.post("a", "o") == [serial])
        #expect(scenario.post("b", "o") == [serial])
        #expect(scenario.post("a", "p") == [])
    }

    @Test("C3: a post without an object reaches only observers without one")
    func noObject() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", "o", by: client)
        scenario.observe(nil, "o", by: client)
        let named = scenario.observe("a", by: client)
        let wildcard = scenario.observe(nil, by: client)
        #expect(scenario.post("a") == [named, wildcard])
    }

    @Test("C4 (T4): an observer without name and object gets everything")
    func wildcard() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe(nil, by: client)
        #expect(scenario.post("a", "o") == [serial])
        #expect(scenario.post("b") == [serial])
    }

    @Test("C5 (T6): names are case-sensitive, and explain names the near miss")
    func caseCounts() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("Door", by: client)
        #expect(scenario.post("door") == [])
        let misses = scenario.explain("door").nearMisses
        #expect(misses.map(\.observer.serial) == [serial])
        #expect(misses.map(\.reason) == [.nameDiffersInCase])
    }

    @Test("C6 (T8): canonically equivalent objects and names do not match")
    func unicodeForm() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("u", "caf\u{e9}", by: client)
        let named = scenario.observe("caf\u{e9}", by: client)
        #expect(scenario.post("u", "cafe\u{301}") == [])
        #expect(scenario.post("cafe\u{301}") == [])
        #expect(scenario.post("caf\u{e9}") == [named])
        let misses = scenario.explain("cafe\u{301}").nearMisses
        #expect(misses.map(\.reason) == [.nameDiffersInUnicodeForm])
    }

    @Test("C7: an empty object is not the same as none")
    func emptyObject() {
        var scenario = Scenario()
        let client = scenario.connect()
        let named = scenario.observe("a", by: client)
        let empty = scenario.observe("a", "", by: client)
        #expect(scenario.post("a") == [named])
        #expect(scenario.post("a", "") == [named, empty])
    }

    @Test("C8: registering twice gives two deliveries, each with its selector")
    func twice() {
        var scenario = Scenario()
        let client = scenario.connect()
        let first = scenario.observe("a", by: client, selector: "one")
        let second = scenario.observe("a", by: client, selector: "two")
        let third = scenario.observe("a", by: client, selector: "one")
        #expect(scenario.post("a") == [first, second, third])
        let selectors = scenario.effects.deliveries.map(\.selector)
        #expect(selectors[0] == selectors[2])
        #expect(selectors.map { scenario.center.selector($0) } == ["one", "two", "one"].map(bytes))
    }

    @Test("C9: a client's observers get a post in registration order, whatever their filters")
    func registrationOrder() {
        var scenario = Scenario()
        let client = scenario.connect()
        let filters: [(String?, String?)] = [
            (nil, nil), ("a", "o"), (nil, "o"), ("a", nil), ("a", "o"), (nil, nil), ("a", nil),
            (nil, "o"),
        ]
        let serials = filters.map { scenario.observe($0.0, $0.1, by: client) }
        #expect(scenario.post("a", "o") == serials)
        #expect(scenario.effects.receipts[0].matched == 8)
        scenario.remove(serials[3], by: .client(client))
        scenario.remove(serials[0], by: .client(client))
        #expect(scenario.post("a", "o") == [2, 3, 5, 6, 7, 8])
    }

    @Test("C9 (T16): each of four filters gets its own posts, and removal by filter takes its own")
    func specificDelivery() {
        var scenario = Scenario()
        let client = scenario.connect()
        let ao = scenario.observe("a", "o", by: client)
        let bo = scenario.observe("b", "o", by: client)
        let ap = scenario.observe("a", "p", by: client)
        let bp = scenario.observe("b", "p", by: client)
        #expect(scenario.post("a", "o") == [ao])
        #expect(scenario.post("a", "p") == [ap])
        #expect(scenario.post("b") == [])
        #expect(scenario.remove(name: "a", of: client) == .removed(2))
        #expect(scenario.post("a", "o") == [])
        #expect(scenario.remove(object: "p", of: client) == .removed(1))
        #expect(scenario.post("b", "p") == [])
        #expect(scenario.post("b", "o") == [bo])
        #expect(scenario.center.tombstone(bp) != nil)
    }

    @Test("C9, D16 (T20): one registration gets one delivery, though name and object lead to it")
    func onlyOnce() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", "o", by: client)
        #expect(scenario.post("a", "o") == [serial])
        #expect(scenario.effects.receipts[0].matched == 1)
    }

    @Test("C10 (T40): what is added while a post is handled does not get that one")
    func addedDuring() {
        var scenario = Scenario()
        let client = scenario.connect()
        let first = scenario.observe("a", by: client)
        #expect(scenario.post("a") == [first])
        let registration = scenario.registration("a")
        let outcome = scenario.apply(.addObserver(registration, client: client, since: nil))
        #expect(scenario.effects.deliveries.isEmpty)
        guard case .registered(let rows) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(rows.map(\.since) == [1])
        #expect(scenario.post("a") == [first, registration.serial])
        #expect(scenario.effects.notifications[0].sequence == 2)
    }

    @Test("C11: after the answer to a removal nothing more goes to that observer")
    func removedIsRemoved() {
        var scenario = Scenario()
        let client = scenario.connect()
        let first = scenario.observe("a", by: client)
        let second = scenario.observe("a", by: client)
        #expect(scenario.remove(first, by: .client(client)) == .removed(1))
        #expect(scenario.effects.deliveries.isEmpty && scenario.effects.notices.isEmpty)
        #expect(scenario.post("a") == [second])
    }

    @Test("C12: an inner post simply gets the next sequence number")
    func innerPost() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe(nil, by: client)
        let outer = scenario.newPost("a")
        scenario.apply(.post(outer, PostTerms()))
        scenario.post("b", causedBy: outer.id)
        #expect(scenario.effects.notifications[0].sequence == 2)
        #expect(scenario.effects.notifications[0].causedBy == outer.id)
    }

    @Test("C12 (T51): a chain of causes stops one past its limit, and the center stays healthy")
    func depthLimit() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe(nil, by: client)
        var cause: NotificationID?
        for _ in 1...32 {
            let post = scenario.newPost("a", causedBy: cause)
            #expect(scenario.apply(.post(post, PostTerms())) == .done)
            cause = post.id
        }
        let sequence = scenario.center.sequence
        let tooDeep = scenario.newPost("a", causedBy: cause)
        #expect(
            scenario.apply(.post(tooDeep, PostTerms()))
                == .refused(.causedByTooDeep(limit: 32, post: 0)))
        #expect(scenario.center.sequence == sequence)
        #expect(scenario.effects.deliveries.isEmpty && scenario.effects.receipts.isEmpty)
        #expect(scenario.center.receipt(of: tooDeep.id, at: scenario.time) == nil)
        #expect(scenario.post("b") == [serial])
    }

    @Test("C12: an unknown cause counts as depth 1")
    func unknownCause() {
        var limits = CenterLimits()
        limits.causedByDepthLimit = 2
        var scenario = Scenario(limits: limits)
        let first = scenario.newPost("a", causedBy: NotificationID(high: 9, low: 9))
        #expect(scenario.apply(.post(first, PostTerms())) == .done)
        let second = scenario.newPost("a", causedBy: first.id)
        #expect(
            scenario.apply(.post(second, PostTerms()))
                == .refused(.causedByTooDeep(limit: 2, post: 0)))
    }

    @Test("C12: a chain inside one batch counts, and a refusal refuses the whole batch")
    func chainInBatch() {
        var limits = CenterLimits()
        limits.causedByDepthLimit = 3
        var scenario = Scenario(limits: limits)
        let first = scenario.newPost("a")
        let second = scenario.newPost("a", causedBy: first.id)
        let third = scenario.newPost("a", causedBy: second.id)
        let fourth = scenario.newPost("a", causedBy: third.id)
        #expect(
            scenario.apply(.postBatch([first, second, third, fourth], PostTerms()))
                == .refused(.causedByTooDeep(limit: 3, post: 3)))
        #expect(scenario.center.sequence == 0)
        #expect(scenario.effects.receipts.isEmpty)
        #expect(scenario.apply(.postBatch([first, second, third], PostTerms())) == .done)
        #expect(scenario.effects.receipts.map(\.sequence) == [1, 2, 3])
    }

    @Test("C13 (T49): with observers that do not acknowledge, a post is answered at once")
    func answeredAtOnce() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client)
        let post = scenario.newPost("a")
        scenario.apply(.post(post, PostTerms()))
        #expect(
            scenario.effects.receipts
                == [Receipt(id: post.id, sequence: 1, matched: 1, delivered: 1)])
    }

    @Test("C14: a client that goes away does not change what the others get")
    func isolation() {
        var scenario = Scenario()
        let first = scenario.connect()
        let second = scenario.connect()
        scenario.observe("a", by: first)
        let good = scenario.observe("a", by: second)
        scenario.disconnect(first)
        #expect(scenario.post("a") == [good])
        #expect(scenario.effects.receipts[0].matched == 1)
        #expect(scenario.effects.receipts[0].delivered == 1)
    }

    @Test("C15 (T19): a poster gets its own post when it observes it")
    func ownPost() {
        var scenario = Scenario()
        let client = scenario.connect()
        let serial = scenario.observe("a", by: client)
        #expect(scenario.post("a") == [serial])
        #expect(scenario.effects.deliveries[0].connection.number == 101)
    }

    @Test("C16: the posts of a batch are dispatched in their order, one after the other")
    func batchOrder() {
        var scenario = Scenario()
        let client = scenario.connect()
        let first = scenario.observe(nil, by: client)
        let second = scenario.observe("b", by: client)
        let posts = ["a", "b", "c"].map { scenario.newPost($0) }
        scenario.apply(.postBatch(posts, PostTerms()))
        #expect(scenario.effects.notifications.map(\.sequence) == [1, 2, 3])
        #expect(scenario.effects.deliveries.map(\.notification) == [0, 1, 1, 2])
        #expect(scenario.effects.deliveries.map(\.observer) == [first, first, second, first])
        #expect(scenario.effects.receipts.map(\.id) == posts.map(\.id))
        #expect(scenario.effects.receipts.map(\.matched) == [1, 2, 1])
    }

    @Test("C17 (T17): a post that nobody observes succeeds, matches nothing and is reported")
    func nobody() {
        var scenario = Scenario()
        #expect(scenario.post("a") == [])
        scenario.post("a")
        #expect(scenario.effects.outcome == .done)
        #expect(scenario.effects.receipts.map(\.matched) == [0])
        let report = scenario.center.unmatched(limit: 10) { _, _ in true }
        #expect(
            report.postedNeverObserved == [UnobservedName(name: bytes("a"), postCount: 2)])
    }

    @Test("C17: the broker's own names are not reported as never matched")
    func ownNames() {
        var scenario = Scenario()
        scenario.post("belfry.clientGone")
        scenario.post("belfryish")
        let report = scenario.center.unmatched(limit: 10) { _, _ in true }
        #expect(report.postedNeverObserved.map(\.name) == [bytes("belfryish")])
    }

    @Test("C18: two centers share nothing")
    func independent() {
        var one = Scenario()
        var other = Scenario()
        let client = one.connect()
        let serial = one.observe("a", by: client)
        #expect(other.post("a") == [])
        #expect(one.post("a") == [serial])
        #expect(one.post("a") == [serial])
        #expect(one.center.sequence == 2 && other.center.sequence == 1)
        #expect(other.center.observerCount == 0)
    }

    @Test("C19: the listing counts the deliveries of each observer")
    func counters() {
        var scenario = Scenario()
        let client = scenario.connect()
        scenario.observe("a", by: client)
        scenario.observe(nil, by: client)
        scenario.post("a")
        scenario.milliseconds = 7_000
        scenario.post("b")
        #expect(scenario.rows.map(\.tally.delivered) == [1, 2])
        #expect(scenario.rows.map(\.tally.lastDeliveredAt) == [1_000, 7_000])
    }
}
