import BelfryAccess
import BelfryCenter

extension LoopContext {
    /// Whether the poster of a farewell may still post it (rules L10 and W12).
    ///
    /// A key has the rights that the file of keys gives it now. A poster without credentials has
    /// those of anonymous callers, of the local ones where these differ: no other could make a
    /// farewell. The rights of a token were checked when the farewell was made.
    func mayGo(_ farewell: NotificationCenter.DueFarewell, center: [UInt8]) -> Bool {
        let grants: [Grants]
        if farewell.principal.hasKey {
            grants =
                configuration.keyring?.grants(
                    ofKeysNamed: farewell.principal.name, at: commandTime.wallMilliseconds) ?? []
        } else if farewell.principal.name == anonymous.local.principal {
            grants = [anonymous.local.grants]
        } else {
            return true
        }
        return grants.contains {
            $0.allow(
                .post, center: center.span, name: farewell.content.name,
                object: farewell.content.object, userInfo: farewell.content.userInfo)
        }
    }
}
