/// The places where two values differ, as the paths of their fields; what `isLeftOut` names is not looked at.
///
/// It goes through all stored properties, so it finds also what no digest, no `==` and no code has.
func differences(
    _ left: Any, _ right: Any, at path: String = "", leavingOut isLeftOut: (String) -> Bool
) -> [String] {
    guard !isLeftOut(path) else { return [] }
    let (ours, others) = (Mirror(reflecting: left), Mirror(reflecting: right))
    if ours.displayStyle == .dictionary || ours.displayStyle == .set {
        let texts = [ours, others].map { mirror in
            mirror.children.map { String(describing: $0.value) }.sorted()
        }
        return texts[0] == texts[1] ? [] : ["\(path): \(texts[0]), \(texts[1])"]
    }
    guard ours.children.count == others.children.count else {
        return ["\(path): \(ours.children.count) parts, \(others.children.count) parts"]
    }
    guard !ours.children.isEmpty else {
        let texts = [String(describing: left), String(describing: right)]
        return texts[0] == texts[1] ? [] : ["\(path): \(texts[0]), \(texts[1])"]
    }
    return zip(ours.children, others.children).flatMap { our, other in
        differences(
            our.value, other.value, at: our.label.map { "\(path).\($0)" } ?? path,
            leavingOut: isLeftOut)
    }
}
