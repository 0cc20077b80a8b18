import BelfryCenter

/// One option of `belfry serve`.
///
/// The flag, the environment variable, the key of the file, the help, `Options.md` and the file of
/// `default-config` are all made of this row. Flags win over the environment, that over the file,
/// and that over the defaults.
struct Setting: Sendable {
    /// A fault in the text of a value.
    struct Fault: Error, Equatable {
        let text: String
    }

    typealias Path<Value> = any WritableKeyPath<Settings, Value> & Sendable
    typealias Read = @Sendable (String, inout Settings) throws(Fault) -> Void

    /// The name of the flag and the key of the file.
    let name: String
    /// How a value is written, such as `HOST:PORT`; nil of a switch, which has none.
    let form: String?
    /// The effect of the option, in a sentence or two.
    let help: String
    /// The values that are taken, if they are a range.
    var range: String?
    /// The behaviour while it is not set, where that is not one value.
    var unset: String?
    /// Whether it may be given several times.
    var isRepeatable = false
    let read: Read
    /// The effective value as JSON.
    let show: @Sendable (Settings) -> JSONText

    /// The name of its environment variable.
    var variable: String {
        "BELFRY_" + String(name.map { $0 == "-" ? "_" : Character($0.uppercased()) })
    }

    /// The default, in words.
    var defaultText: String { unset ?? show(Settings()).words }

    /// The value that these settings give, in words.
    func effectiveText(in settings: Settings) -> String {
        let value = show(settings)
        if case .null = value { return unset ?? value.words }
        return value.words
    }

    /// The option of this name.
    static func named(_ name: String) -> Setting? {
        all.first { $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// The option whose name is nearest to an unknown one.
    static func near(_ name: String) -> Setting? {
        Suggestion.near(name, all.map(\.name)).flatMap(named)
    }
}

/// Options that serve one purpose.
struct SettingGroup: Sendable {
    let title: String
    let settings: [Setting]
}
