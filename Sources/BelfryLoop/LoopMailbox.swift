public import BelfrySystem
internal import Synchronization

/// A wake-up call for a loop from other threads.
public final class LoopWake: Sendable {
    private let event: EventDescriptor
    private let signalled = Atomic(false)

    /// Creates a wake that is not signalled.
    public init() throws(SystemCallError) {
        event = try EventDescriptor()
    }

    /// Makes the loop that it is attached to hand out `.mail`; any thread may call it.
    public func signal() {
        signalled.store(true, ordering: .releasing)
        event.signal()
    }

    var isSignalled: Bool {
        signalled.load(ordering: .acquiring)
    }

    var rawValue: Int32 {
        event.rawValue
    }

    /// Clears the signal before the mail is taken, so that later mail signals again.
    func clear() {
        signalled.store(false, ordering: .releasing)
        event.clear()
    }
}

/// The door through which other threads reach a loop, of bounded size.
public final class LoopMailbox<Message: Sendable>: Sendable {
    /// How many messages it holds.
    public let messageLimit: Int
    /// The wake to attach to the loop.
    public let wake: LoopWake

    private let queue = Mutex<[Message]>([])

    /// Creates an empty mailbox.
    public init(messageLimit: Int) throws(SystemCallError) {
        self.messageLimit = messageLimit
        wake = try LoopWake()
    }

    /// Puts a message in, from any thread; the first one of an empty mailbox wakes the loop.
    ///
    /// - Returns: Whether there was room.
    public func post(_ message: Message) -> Bool {
        let count = queue.withLock { queue -> Int? in
            guard queue.count < messageLimit else { return nil }
            queue.append(message)
            return queue.count
        }
        if count == 1 { wake.signal() }
        return count != nil
    }

    /// Moves all messages to the end of the batch, in the order in which they were put in.
    public func drain(into batch: inout [Message]) {
        if batch.isEmpty {
            // The two arrays change places, so that both keep their capacity.
            queue.withLock { swap(&$0, &batch) }
        } else {
            queue.withLock { queue in
                batch += queue
                queue.removeAll(keepingCapacity: true)
            }
        }
    }
}
