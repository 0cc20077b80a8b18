internal import BelfryJSON

// The problems of limits that a center has reached, each with the name of its refusal.

extension Problem {
    static func tooManyObservers(limit: Int) -> Problem {
        Problem(
            .tooManyObservers,
            "The client has \(limit) observers, the limit; remove some first.",
            members: [Member("limit", integer: limit)])
    }

    static func causedByTooDeep(limit: Int, post: Int?) -> Problem {
        Problem(
            .loopDetected,
            "More than \(limit) notifications caused each other; look for a loop of programs.",
            members: [Member("limit", integer: limit)]
                + (post.map { [Member("item", integer: $0)] } ?? []))
    }

    /// The problem of an archive for which there is no room.
    public static func archiveFull(limit: Int, count: Int) -> Problem {
        Problem(
            .archiveFull,
            """
            The archives of the center may be \(count) and keep \(limit) bytes in all \
            (--archive-limit); make this one smaller, or remove another.
            """,
            members: [Member("limit", integer: limit)])
    }

    static var setByConfiguration: Problem {
        Problem(
            .setByConfiguration,
            "The configuration file has set this archive; change it there, and send SIGHUP.")
    }

    static func queueFull(limit: Int) -> Problem {
        Problem(
            .queueFull,
            "The queue has \(limit) entries, the limit (--queue-limit); try again later.",
            members: [Member("limit", integer: limit)])
    }

    static var queueBytesFull: Problem {
        Problem(
            .queueFull,
            """
            All queues together, or the entries of this caller, have reached a limit of bytes \
            (--queue-limit, --queue-memory, --principal-share, --address-share); dequeue some.
            """)
    }

    static func timersFull(limit: Int) -> Problem {
        Problem(
            .queueFull,
            "The center has \(limit) timers, the limit (--timer-limit); try again later.",
            members: [Member("limit", integer: limit)])
    }

    static var timerBytesFull: Problem {
        Problem(
            .queueFull,
            """
            All timers together, or those of this caller, have reached a limit of bytes \
            (--timer-limit, --queue-memory, --principal-share, --address-share); dequeue some.
            """)
    }

    static func tooManyFarewells(limit: Int) -> Problem {
        Problem(
            .clientLimitReached,
            "The client has \(limit) posts with onDisconnect, the limit; dequeue one first.",
            members: [
                Member("limit", integer: limit),
                Member("of", string: [UInt8]("onDisconnect".utf8)),
            ])
    }

    static func modeStackFull(limit: Int) -> Problem {
        Problem(
            .modeStackFull,
            "The mode stack has \(limit) leases, the limit (--max-mode-stack); leave one first.",
            members: [Member("limit", integer: limit)])
    }

    static func tooManyAsks(limit: Int) -> Problem {
        Problem(
            .clientLimitReached,
            "The caller has \(limit) open asks, the limit; wait for answers, or withdraw some.",
            members: [
                Member("limit", integer: limit), Member("of", string: [UInt8]("asks".utf8)),
            ])
    }

    static func prefixesFull(limit: Int) -> Problem {
        Problem(
            .overloaded,
            """
            The observers of the center have \(limit) distinct prefixes, the limit \
            (--max-prefixes); use one that another observer has, or remove observers.
            """,
            members: [Member("limit", integer: limit)])
    }

    static func conditionsFull(limit: Int) -> Problem {
        Problem(
            .overloaded,
            """
            The observers of the center have \(limit) distinct conditions, the limit \
            (--max-conditions); use one that another observer has, or remove observers.
            """,
            members: [Member("limit", integer: limit)])
    }

    static func asksFull(limit: Int) -> Problem {
        Problem(
            .overloaded,
            "The center has \(limit) open asks, the limit (--ask-limit); try again later.",
            members: [Member("limit", integer: limit)])
    }

    static var askBytesFull: Problem {
        Problem(
            .overloaded,
            """
            All open asks together, or those of this caller, have reached a limit of bytes \
            (--ask-limit, --queue-memory, --principal-share, --address-share); try again later, or \
            withdraw some.
            """)
    }

    static func valueTooLarge(limit: Int) -> Problem {
        Problem(
            .contentTooLarge,
            "The value of an object may have at most \(limit) bytes; use several objects.",
            members: [Member("limit", integer: limit)])
    }

    static func valueTooDeep(limit: Int) -> Problem {
        .invalid([
            FieldError(
                .pointer(.root), "must not nest deeper than \(limit) levels with its key path")
        ])
    }

    static func valuesFull(limit: Int) -> Problem {
        Problem(
            .valuesFull,
            "The center has \(limit) values, the limit (--value-limit); remove some.",
            members: [Member("limit", integer: limit)])
    }

    static var valueBytesFull: Problem {
        Problem(
            .valuesFull,
            """
            All values together, or those of this caller, have reached a limit of bytes \
            (--value-limit, --queue-memory, --principal-share, --address-share); remove some, or \
            make them smaller.
            """)
    }

    static func tooManyParts(limit: Int) -> Problem {
        .invalid([
            FieldError(
                .parameter("ttl"),
                "may be set on at most \(limit) parts of one value; leases count too")
        ])
    }

    static func tooManyEntries(limit: Int) -> Problem {
        Problem(
            .clientLimitReached,
            "The client has \(limit) values with a lease, the limit; remove some first.",
            members: [
                Member("limit", integer: limit), Member("of", string: [UInt8]("values".utf8)),
            ])
    }
}
