import BelfryCenter

/// The last commands of a world, and the frames that they brought, for the report of a violation.
struct PresentTold {
    private enum Line {
        case command(Command.Action)
        case frame(Delivery, Notification, isLost: Bool)
    }

    private var lines: [Line] = []

    mutating func note(_ action: Command.Action) { note(.command(action)) }

    mutating func note(_ delivery: Delivery, _ notification: Notification, isLost: Bool) {
        note(.frame(delivery, notification, isLost: isLost))
    }

    private mutating func note(_ line: Line) {
        lines.append(line)
        if lines.count > 400 { lines.removeFirst(200) }
    }

    /// The last of them, as text.
    var last: ArraySlice<String> {
        lines.suffix(60).map { line in
            switch line {
            case .command(let action): Show.action(action)
            case .frame(let delivery, let notification, let isLost):
                """
                    o\(delivery.observer) #\(notification.sequence) \
                \(notification.content.nameBytes.shown) \
                \(notification.content.userInfoBytes?.shown ?? "")\
                \(delivery.isRedelivered ? " redelivered" : "")\(isLost ? " LOST" : "")
                """
            }
        }[...]
    }
}
