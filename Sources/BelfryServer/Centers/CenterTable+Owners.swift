import BelfryAccess
import BelfryCenter
import BelfryWire

// The owners that the memory of centers counts for (decision 70).

extension CenterTable {
    /// The owner of the things that a submission makes.
    @inline(__always)
    mutating func owner(
        of submission: borrowing Submission, _ context: inout LoopContext
    ) -> Owner {
        let isUsual = submission.caller === context.anonymous.local
        if isUsual, !context.shares.countsAddresses { return .none }
        return owner(submission.caller, at: submission.address, &context)
    }

    /// The owner of the things that a caller makes.
    mutating func owner(
        _ caller: Caller, at address: NetworkAddress?, _ context: inout LoopContext
    ) -> Owner {
        let isCounted = context.shares.limits.principal != nil && !caller.isAnonymous
        let identity = OwnerTable.Identity(
            principal: isCounted ? .principal(caller.principal) : nil,
            address: context.shares.asker(at: address))
        if identity.principal == nil, identity.address == nil { return .none }
        hasOwners = true
        return context.shared.askers.owners.owner(identity)
    }

    /// Assigns the restored contents of a center to their principals.
    ///
    /// The key of a principal may be gone or changed since: the memory counts all the same.
    mutating func assignOwners(at position: Int, _ context: inout LoopContext) {
        if context.shares.limits.principal == nil { return }
        hasOwners = true
        let (owners, nobody) = (context.shared.askers.owners, context.anonymous.local.principal)
        assignOwners(at: position) { principal in
            if principal == nobody { return .none }
            return owners.owner(OwnerTable.Identity(principal: .principal(principal)))
        }
    }
}
