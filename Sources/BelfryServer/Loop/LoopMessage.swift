import BelfryAccess
import BelfryLoop
import BelfryStore
import BelfryTLS

/// What loops tell each other: one entry of each kind for each loop and turn.
enum LoopMessage: Sendable {
    /// Requests for centers that live on the receiver.
    case submissions([Submission])
    /// Frames and answers for connections of the receiver.
    case output(RemoteOutput)
    /// A connection that the first loop's listeners took for the receiver.
    case arrived(Arrival)
    /// The store has everything of the receiver up to this ticket.
    case committed(UInt64)
    /// Close all connections within a time, then end.
    case drain
    /// The sender has nothing more for centers; what it had came before this.
    case settled
    /// The centers of the sender take nothing more.
    case sealed
    /// The store is given up, after all commits that this loop was told of.
    case released
    /// The sender knows that; its last answers came before this.
    case answered
    /// Credentials were verified: whose they are, or why they are not good.
    case verdict(TokenDigest, Verdict)
    /// A backup that a connection of the receiver waits for, or why there is none.
    case backup(Result<StoreCopy, BackupError>, Reply)
    /// The next part of a backup that is sent on a connection of the receiver.
    case backupPart([UInt8], ConnectionID)
    /// Take what can be changed without a restart.
    case reload(ServerConfiguration)
    /// Use this certificate for new connections.
    case renew(TLSContext)
    /// Use these certificates for new connections to the engine.
    case renewEngine(TLSContext)
    /// End now.
    case stop
}
