import BelfryCenter

@testable import BelfryServer

extension Broker {
    /// The holdings of a principal.
    func held(_ principal: String) -> Holdings {
        for node in nodes { node.server.accountForAllKept() }
        let identity = OwnerTable.Identity(principal: .principal(Array(principal.utf8)))
        return shared.askers.owners.holdings(of: shared.askers.owners.owner(identity)).first?
            .holdings
            ?? Holdings()
    }
}
