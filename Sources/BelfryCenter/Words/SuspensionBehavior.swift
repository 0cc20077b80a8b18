/// The treatment of an observer's notifications while its client is suspended.
///
/// It is Cocoa's NSNotificationSuspensionBehavior.
public enum SuspensionBehavior: UInt8, Sendable, CaseIterable {
    /// Notifications are lost, and counted (rule D5).
    case drop
    /// Only the last of each name and object is held (rule D6).
    case coalesce
    /// All notifications are held, up to a limit (rule D7).
    case hold
    /// All are held, but written at once if the client only asked for suspension (rule D8).
    case deliverImmediately
}
