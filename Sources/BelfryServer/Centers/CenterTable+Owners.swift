import BelfryAccess
import BelfryCenter
import BelfryWire

// The owners that the memory of centers counts for (decision 70).

extension CenterTable {
    /// The owner of the things that a submission makes.
    @inline(__always)
    mutating func owner(
        of submission: borrowing Submission, _ outbox: inout Outbox
    ) -> Owner {
        let isUsual = submission.caller === outbox.anonymous.local
        if isUsual, !outbox.shares.countsAddresses { return .none }
        return owner(submission.caller, at: submission.address, &outbox)
    }

    /// The owner of the things that a caller makes.
    mutating func owner(
        _ caller: Caller, at address: NetworkAddress?, _ outbox: inout Outbox
    ) -> Owner {
        let isCounted = outbox.shares.limits.principal != nil && !caller.isAnonymous
        let identity = OwnerTable.Identity(
            principal: isCounted ? .principal(caller.principal) : nil,
            address: outbox.shares.asker(at: address))
        if identity.principal == nil, identity.address == nil { return .none }
        hasOwners = true
        return outbox.shared.askers.owners.owner(identity)
    }

    /// Assigns the restored contents of a center to their principals.
    ///
    /// The key of a principal may be gone or changed since: the memory counts all the same.
    mutating func assignOwners(at position: Int, _ outbox: inout Outbox) {
        if outbox.shares.limits.principal == nil { return }
        hasOwners = true
        let (owners, nobody) = (outbox.shared.askers.owners, outbox.anonymous.local.principal)
        assignOwners(at: position) { principal in
            if principal == nobody { return .none }
            return owners.owner(OwnerTable.Identity(principal: .principal(principal)))
        }
    }
}
