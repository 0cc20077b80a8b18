import BelfryJSON

// The member `change` of a frame, as JSON text: it is written once for all observers of a place
// with equal terms.

extension DocumentChange {
    /// The text of the change; nil where nothing has changed.
    func text(withOld: Bool) -> [UInt8]? {
        switch self {
        case .none: nil
        case .removed(let old): Self.text("removed", new: nil, old: withOld ? old : nil)
        case .merge(let forth, let back):
            Self.text("merge", new: forth, old: withOld ? back : nil)
        case .set(let new, let old): Self.text("set", new: new, old: withOld ? old : nil)
        }
    }

    /// The text of the present state, which replaces all earlier changes.
    static func initialText(_ value: Document?) -> [UInt8] {
        text(value == nil ? "removed" : "set", isInitial: true, new: value, old: nil)
    }

    private static func text(
        _ kind: String, isInitial: Bool = false, new: Document?, old: Document?
    ) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(48 + (new?.byteCount ?? 0) + (old?.byteCount ?? 0))
        text += #"{"kind":""#.utf8
        text += kind.utf8
        text.append(UInt8(ascii: "\""))
        if isInitial { text += #","initial":true"#.utf8 }
        if let new {
            text += #","new":"#.utf8
            new.append(to: &text)
        }
        if let old {
            text += #","old":"#.utf8
            old.append(to: &text)
        }
        text.append(UInt8(ascii: "}"))
        return text
    }
}
