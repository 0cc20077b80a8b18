import BelfryCenter
import BelfryHistory
import BelfryJSON
import TestSupport

// Posts and registrations, as the dice have them.

extension MixedWorld {
    var postTerms: PostTerms {
        var terms = PostTerms()
        terms.owner = owner
        if dice.oneIn(2) { terms.wait = 5_000_000_000 }
        terms.reportsObservers = dice.oneIn(2)
        if dice.oneIn(3) {
            terms.details = PostTerms.Details(
                scope: .everything,
                key: IdempotencyKey(
                    principal: [UInt8]("p"), text: [UInt8]("\(dice.below(4))"),
                    requestHash: SecretHash(high: 0, low: 0), form: 0,
                    owner: terms.owner),
                setter: PostTerms.TimerSetter(
                    client: client,
                    principal: TimerRecord.Principal(name: [UInt8]("p"), hasKey: true),
                    byteRoom: 1 << 20))
        }
        return terms
    }

    func post() -> Post {
        var options: PostOptions?
        if dice.oneIn(2) {
            let timer = TimerTerms(
                start: .after(Int64(dice.below(dice.oneIn(4) ? 60_000 : 3_000)) * 1_000_000),
                period: dice.oneIn(3) ? 1_000_000_000 : nil,
                lease: dice.oneIn(3) ? 2_000_000_000 : nil, replaces: dice.oneIn(2),
                isFarewell: dice.oneIn(4))
            options = PostOptions(
                style: [nil, .asap, .idle][dice.below(3)],
                coalescing: dice.oneIn(2) ? [.onName, .onSender] : [],
                keepsLatest: dice.oneIn(2), modes: [dice.oneIn(4) ? name : Mode.default],
                maxDelay: dice.oneIn(4) ? 1_000_000_000 : nil, isImmediate: dice.oneIn(2),
                timeToLive: dice.oneIn(4) ? 2_000_000_000 : nil,
                timer: dice.oneIn(4) ? timer : nil)
        }
        return Post(
            id: newID(),
            content: Notification.Content(
                name: name, object: dice.oneIn(3) ? nil : object,
                userInfo: filters.isUsed
                    ? filters.userInfo(lastNumber, padding: "", &dice)
                    : [UInt8]("{\"n\":\(lastNumber)}")),
            causedBy: dice.oneIn(8) ? posts.first : nil, options: options)
    }

    /// The name of a notification that the broker posts itself, when it is observed.
    private var reportName: [UInt8] {
        let names = ["channel.observed", "channel.unobserved", "client.left", "queue.overflowed"]
        return [UInt8]("belfry." + (dice.pick(names) ?? ""))
    }

    func registration() -> ObserverRegistration {
        lastNumber += 1
        observers.append(lastNumber)
        if observers.count > 16 { observers.removeFirst() }
        var terms = ObserverTerms()
        terms.suspensionBehavior =
            dice.oneIn(2)
            ? .deliverImmediately
            : SuspensionBehavior.allCases[dice.below(SuspensionBehavior.allCases.count)]
        terms.endsWithConnection = dice.oneIn(4)
        if dice.oneIn(4) { terms.holdLimit = dice.number(in: 1...3) }
        var role = ObserverRole.plain
        switch dice.below(4) {
        case 0: terms.acknowledges = dice.oneIn(2)
        case 1:
            var responder = ResponderTerms(
                implements: dice.oneIn(3) ? [name] : [[UInt8]("a"), [UInt8]("b")],
                next: dice.oneIn(3) ? object : nil)
            responder.ifHeld = dice.oneIn(3) ? .replace : .share
            responder.concurrency = dice.number(in: 1...2)
            terms.acknowledges = dice.oneIn(3)
            role = .responder(responder)
        case 2:
            terms.acknowledges = dice.oneIn(2)
            role = .action(target: object)
        default:
            var value = ValueTerms(path: path)
            value.sendsOwn = dice.oneIn(2)
            value.sendsOld = dice.oneIn(2)
            role = .value(value)
        }
        if dice.oneIn(6), case .plain = role { terms.minInterval = 700_000_000 }
        let isFiled = role.responder != nil || role.value != nil
        var observedName = isFiled || dice.oneIn(4) ? nil : dice.oneIn(8) ? reportName : name
        var observedObject = isFiled || dice.oneIn(2) ? object : nil
        if !isFiled, let terms = filterTerms(&observedName, &observedObject) {
            role = .filtered(terms, target: role.target)
        }
        return ObserverRegistration(
            serial: lastNumber, tokenHash: SecretHash(high: lastNumber, low: 1),
            name: observedName, object: observedObject,
            selector: role.responder == nil ? name : [], terms: terms, role: role)
    }

    /// The terms of a finer filter; some have prefixes of all that the broker posts itself.
    private func filterTerms(_ name: inout [UInt8]?, _ object: inout [UInt8]?) -> FilterTerms? {
        guard var filter = filters.filter(&name, &object, &dice) else { return nil }
        if dice.oneIn(6) {
            (name, filter.names) = (nil, [])
            filter.namePrefix = [UInt8](["belfry.", "belfry.c", "belfry.channel."][dice.below(3)])
            filter.grants = []
        }
        return FilterTerms(filter)
    }

    /// The filter of a removal.
    func removal() -> ObserverFilter {
        var filter = ObserverFilter(name: dice.oneIn(2) ? name : nil, object: object)
        if let terms = filters.removal(&dice) {
            if dice.oneIn(2) { (filter.name, filter.object) = (nil, nil) }
            filter.terms = FilterTerms(terms)
        }
        return filter
    }
}
