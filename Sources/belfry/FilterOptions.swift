import ArgumentParser
import BelfryClient

/// The options that choose notifications by more than one name and one object.
struct FilterOptions: ParsableArguments {
    @Option(
        name: .customLong("name"),
        help: .value("One of several names, in the place of NAME; repeatable.", "NAME"),
        completion: Completing.channels)
    var names: [String] = []

    @Option(
        help: .value("Any name that begins with this, in the place of NAME.", "TEXT"),
        completion: Completing.channels)
    var prefix: String?

    @Option(
        help: .value("Any object that begins with this, in the place of --object.", "TEXT"),
        completion: Completing.objects)
    var objectPrefix: String?

    @OptionGroup var condition: ConditionOption

    /// Checks that there is one choice of names, and one of objects.
    func check(name: String?, object: String?) throws {
        let choices = [name != nil, !names.isEmpty, prefix != nil].count { $0 }
        if choices > 1 { throw ValidationError("Give NAME, --name or --prefix: one of them.") }
        if objectPrefix != nil, object != nil {
            throw ValidationError("Give --object or --object-prefix: one of them.")
        }
    }

    /// Whether something chooses the names.
    func choosesNames(besides name: String?) -> Bool {
        name != nil || !names.isEmpty || prefix != nil
    }

    /// The filter of these options, with the name and the object that have options of their own.
    func filter(name: String?, object: String?) -> NotificationFilter {
        var filter = NotificationFilter(where: condition.value)
        let exact = name.map { [$0] } ?? names
        if let prefix {
            filter.names = .prefix(prefix)
        } else if let only = exact.first {
            filter.names = exact.count == 1 ? .exactly(only) : .oneOf(exact)
        }
        if let objectPrefix {
            filter.objects = .prefix(objectPrefix)
        } else if let object {
            filter.objects = .exactly(object)
        }
        return filter
    }
}

/// The option with a condition on userInfos.
struct ConditionOption: ParsableArguments {
    @Option(
        name: .customLong("where"),
        help: .value(
            #"Only userInfos that fulfil this, such as {"total":{"atLeast":100}}."#, "JSON"),
        transform: ArgumentText.condition)
    var value: NotificationFilter.Condition?
}
