import BelfryCenter
import BelfryHistory

/// The rules K1 to K9 of observers with a target, of responders, and of the actions between them.
///
/// It searches lists and keeps no index: it is right by being plain. Responders have room for all
/// asks, and there are no asks.
struct ActionModel {
    struct Client {
        var connection: UInt64?
        var isAsked = false
        var isSlow = false
        /// Up to this number it may be written although it has asked for suspension.
        var immediateThrough: UInt64 = 0

        /// Whether anything may be written to it at all.
        var isWritable: Bool { connection != nil && !isSlow }
    }

    /// An observer with a target.
    struct Row {
        let serial: UInt64
        let client: UInt64
        let name: [UInt8]?
        let object: [UInt8]?
        let filter: HistoryFilter?
        let target: [UInt8]
        let selector: [UInt8]
        let acknowledges: Bool
        let endsWithConnection: Bool
    }

    struct Responder {
        let serial: UInt64
        let client: UInt64
        let address: [UInt8]
        let terms: ResponderTerms
        let behavior: SuspensionBehavior
        let holdLimit: Int
        let endsWithConnection: Bool
        /// When it got an action last, among all turns of this life.
        var lastTurn = 0
    }

    /// An action that a responder holds or owes.
    struct Action {
        let id: NotificationID
        let name: [UInt8]
        let object: [UInt8]?
        let row: UInt64
        let selector: [UInt8]
        let acknowledges: Bool
        var sequence: UInt64
        var path: [[UInt8]]
        var shown: Set<UInt64> = []
        var responder: UInt64
        var isOwed = false
        var isRedelivered = false
        /// Whether it is of an earlier life, so that its responder may have had it.
        var isRestored = false
        /// Whether its post counts it as held.
        var countsAsHeld = false
    }

    /// A frame as its client gets it.
    struct Frame: Equatable {
        let connection: UInt64
        let responder: UInt64
        let row: UInt64
        let sequence: UInt64
        let id: NotificationID
        let selector: [UInt8]
        let target: [UInt8]
        let name: [UInt8]
        let object: [UInt8]?
        let isRequest: Bool
        let isRedelivered: Bool
    }

    /// The part of a post's receipt about actions.
    struct Account: Equatable {
        var matched: UInt32 = 0
        var delivered: UInt32 = 0
        var held: UInt32 = 0
        var dropped: UInt32 = 0
        var acknowledged: UInt32 = 0
        var refused: UInt32 = 0
        var pending: UInt32 = 0
    }

    /// A post that waits for answers.
    struct Wait {
        let command: UInt64
        let endsAt: Int64
        var rows: Set<UInt64>
    }

    enum End {
        case now(Int)
        case later(Int)
        case nobody(AskFailure)
    }

    var clients: [UInt64: Client] = [:]
    var rows: [Row] = []
    /// In the order of registration.
    var responders: [Responder] = []
    /// The actions in a client's order: by number, then by the registration of their rows.
    var actions: [Action] = []
    /// The posts of this life.
    var accounts: [NotificationID: Account] = [:]
    var waits: [NotificationID: Wait] = [:]
    var turnCount = 0
    /// The frames that the present command must write, and the commands that it must answer.
    var frames: [Frame] = []
    var completed: Set<UInt64> = []

    // MARK: Walking

    /// Walks from the last address of a path to the taker (rules R2, R4 to R6, R9 and R15).
    func walk(
        _ path: [[UInt8]], _ selector: [UInt8], passing shown: Set<UInt64>, handedOnBy last: UInt64
    ) -> (path: [[UInt8]], end: End) {
        var path = path
        var sawSuspended = false
        while let address = path.last {
            let holders = responders.indices.filter { responders[$0].address == address }
            var best: (now: Int?, later: Int?)
            for place in holders where responders[place].terms.implements.contains(selector) {
                let responder = responders[place]
                let turn = responder.lastTurn
                let isNew = !shown.contains(responder.serial)
                let client = clients[responder.client] ?? Client()
                let isImmediate = responder.behavior == .deliverImmediately
                if client.isWritable, !client.isAsked || isImmediate {
                    if isNew, best.now.map({ turn < responders[$0].lastTurn }) ?? true {
                        best.now = place
                    }
                } else if isNew, isImmediate || responder.behavior == .hold {
                    if best.later.map({ turn < responders[$0].lastTurn }) ?? true {
                        best.later = place
                    }
                } else if responder.serial != last {
                    sawSuspended = true
                }
            }
            if let now = best.now { return (path, .now(now)) }
            if let later = best.later { return (path, .later(later)) }
            guard let oldest = holders.first, let next = responders[oldest].terms.next,
                !path.contains(next)
            else { break }
            path.append(next)
        }
        let isHeld = responders.contains { $0.address == path[0] }
        let reason: AskFailure =
            !isHeld || sawSuspended ? .noResponder : .selectorNotImplemented
        return (path, .nobody(reason))
    }

    /// Gives an action to the end of its walk, and returns the row of its outcome.
    mutating func act(_ action: Action) -> ReportRow {
        var action = action
        let (path, end) = walk(
            action.path, action.selector, passing: action.shown, handedOnBy: action.responder)
        action.path = path
        let outcome: ReportRow.Outcome
        var responder: UInt64?
        switch end {
        case .nobody(let reason):
            accounts[action.id]?.dropped += 1
            outcome = .unhandled(reason)
        case .later(let place):
            responder = responders[place].serial
            action.responder = responders[place].serial
            if responders[place].behavior == .deliverImmediately {
                clients[responders[place].client]?.immediateThrough = action.sequence
            }
            accounts[action.id]?.held += 1
            action.countsAsHeld = true
            actions.append(action)
            keepLimit(of: responders[place])
            outcome = .held
        case .now(let place):
            turnCount += 1
            responders[place].lastTurn = turnCount
            responder = responders[place].serial
            action.responder = responders[place].serial
            let client = responders[place].client
            // Held deliveries come first (rule D8).
            if clients[client]?.isAsked == true { flush(client, through: action.sequence) }
            accounts[action.id]?.delivered += 1
            show(&action)
            if action.acknowledges { actions.append(action) }
            outcome = action.acknowledges ? .pending : .delivered
        }
        return ReportRow(
            observer: action.row, outcome: outcome,
            route: ActionRoute(path: path, responder: responder))
    }

    /// Writes an action to its responder, which owes the answer if there is to be one.
    private mutating func show(_ action: inout Action) {
        let responder = responders.first { $0.serial == action.responder }
        let connection = responder.flatMap { clients[$0.client]?.connection } ?? 0
        frames.append(
            Frame(
                connection: connection, responder: action.responder, row: action.row,
                sequence: action.sequence, id: action.id, selector: action.selector,
                target: action.path.last ?? [], name: action.name, object: action.object,
                isRequest: action.acknowledges, isRedelivered: action.isRedelivered))
        guard action.acknowledges else { return }
        action.isOwed = true
        action.shown.insert(action.responder)
        accounts[action.id]?.pending += 1
    }

    /// Writes what a client is held, in its order, as far as it may have it.
    mutating func flush(_ client: UInt64, through limit: UInt64 = 0) {
        guard let state = clients[client], state.isWritable else { return }
        let last = state.isAsked ? max(limit, state.immediateThrough) : .max
        let own = Set(responders.filter { $0.client == client }.map(\.serial))
        for action in actions where own.contains(action.responder) && !action.isOwed {
            guard action.sequence <= last,
                let place = actions.firstIndex(where: {
                    $0.sequence == action.sequence && $0.row == action.row
                })
            else { continue }
            var shown = action
            if shown.countsAsHeld {
                accounts[shown.id]?.held -= 1
                accounts[shown.id]?.delivered += 1
                shown.countsAsHeld = false
            }
            show(&shown)
            if shown.acknowledges { actions[place] = shown } else { actions.remove(at: place) }
        }
        clients[client]?.immediateThrough = 0
    }

    /// The oldest that a responder holds past its limit are lost (rule D7).
    private mutating func keepLimit(of responder: Responder) {
        let held = actions.indices.filter {
            actions[$0].responder == responder.serial && !actions[$0].isOwed
        }
        let lost = held.prefix(max(0, held.count - responder.holdLimit))
        for place in lost.reversed() { drop(actions.remove(at: place)) }
    }

    private mutating func drop(_ action: Action) {
        guard action.countsAsHeld else { return }
        accounts[action.id]?.held -= 1
        accounts[action.id]?.dropped += 1
    }

    // MARK: Answers

    /// A responder answers what it owes; an answer to something else changes nothing.
    mutating func answer(
        _ responder: UInt64, _ sequence: UInt64, row: UInt64, _ response: Response,
        next: UInt64
    ) {
        guard
            let place = actions.firstIndex(where: {
                $0.responder == responder && $0.sequence == sequence && $0.row == row && $0.isOwed
            })
        else { return }
        var action = actions.remove(at: place)
        accounts[action.id]?.pending -= 1
        switch response {
        case .result, .oversized: accounts[action.id]?.acknowledged += 1
        case .refusal: accounts[action.id]?.refused += 1
        case .passed:
            // It does not count as delivered until another responder has it.
            accounts[action.id]?.delivered -= 1
            action.isOwed = false
            // Another responder gets it for the first time.
            action.isRedelivered = action.isRestored
            action.sequence = next
            if case .pending = act(action).outcome { return }
        }
        resolve(action)
    }

    /// Stops waiting for an answer to this action.
    private mutating func resolve(_ action: Action) {
        guard var wait = waits[action.id], wait.rows.remove(action.row) != nil else { return }
        waits[action.id] = wait
        guard wait.rows.isEmpty else { return }
        completed.insert(wait.command)
        waits[action.id] = nil
    }

    /// Those that have waited for long enough.
    mutating func passTime(to now: Int64) {
        for (id, wait) in waits where wait.endsAt <= now {
            completed.insert(wait.command)
            waits[id] = nil
        }
    }

    // MARK: Coming and going

    /// Removes an observer, with what it holds.
    mutating func remove(_ serial: UInt64) {
        rows.removeAll { $0.serial == serial }
        responders.removeAll { $0.serial == serial }
        let gone = actions.filter { $0.responder == serial }
        actions.removeAll { $0.responder == serial }
        for action in gone {
            if action.isOwed {
                accounts[action.id]?.pending -= 1
                resolve(action)
            } else {
                drop(action)
            }
        }
    }

    /// The connection of a client ends: what it owed is held again, and comes again.
    mutating func endConnection(of client: UInt64) {
        let own = Set(responders.filter { $0.client == client }.map(\.serial))
        for place in actions.indices where own.contains(actions[place].responder) {
            guard actions[place].isOwed else { continue }
            actions[place].isOwed = false
            actions[place].isRedelivered = true
            accounts[actions[place].id]?.pending -= 1
            resolve(actions[place])
        }
        sort()
        let ended =
            rows.filter { $0.client == client && $0.endsWithConnection }.map(\.serial)
            + responders.filter { $0.client == client && $0.endsWithConnection }.map(\.serial)
        for serial in ended { remove(serial) }
        clients[client]?.connection = nil
        clients[client]?.isSlow = false
    }

    /// Whether anything of a client outlives its connection.
    func isLasting(_ client: UInt64) -> Bool {
        rows.contains { $0.client == client && !$0.endsWithConnection }
            || responders.contains { $0.client == client && !$0.endsWithConnection }
    }

    /// The next life begins with this: all are away, and what was sent and not answered is held.
    mutating func restart() {
        accounts = [:]
        waits = [:]
        turnCount = 0
        for client in clients.keys { endConnection(of: client) }
        for client in clients.keys where !isLasting(client) { clients[client] = nil }
        for place in responders.indices { responders[place].lastTurn = 0 }
        for place in actions.indices {
            actions[place].isRedelivered = true
            actions[place].isRestored = true
            actions[place].countsAsHeld = false
        }
    }

    private mutating func sort() {
        actions.sort { ($0.sequence, $0.row) < ($1.sequence, $1.row) }
    }
}
