import BelfryAccess
import BelfryLoop
import BelfryStore
import BelfryTLS

/// A message from one loop to another: one of each kind for each loop and turn.
enum LoopMessage: Sendable {
    /// Requests for centers that live on the receiver.
    case submissions([Submission])
    /// Frames and answers for connections of the receiver.
    case output(RemoteOutput)
    /// A connection that the first loop's listeners took for the receiver.
    case arrived(Arrival)
    /// The store has committed everything of the receiver up to this ticket.
    case committed(UInt64)
    /// Close all connections within a time, then end.
    case drain
    /// The sender has no more commands for centers; all that it had came before this.
    case settled
    /// The centers of the sender take no more commands.
    case sealed
    /// The store is given up, after all commits that this loop was notified of.
    case released
    /// The sender knows of the release; its last answers came before this.
    case answered
    /// Credentials were verified: their caller, or the reason why they are not valid.
    case verdict(TokenDigest, Verdict)
    /// A backup that a connection of the receiver waits for, or the reason why there is none.
    case backup(Result<StoreCopy, BackupError>, Reply)
    /// The next part of a backup that is sent on a connection of the receiver.
    case backupPart([UInt8], ConnectionID)
    /// Adopt the options that can change without a restart.
    case reload(ServerConfiguration)
    /// Use this certificate for new connections.
    case renew(TLSContext)
    /// Use these certificates for new connections to the engine.
    case renewEngine(TLSContext)
    /// End now.
    case stop
}
