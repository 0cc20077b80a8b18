extension Problem {
    /// The kinds of problem; each has a stable slug, a title and an HTTP status.
    public enum Kind: Sendable, Equatable, CaseIterable {
        /// The content is no JSON (RFC 8259).
        case malformedJSON
        /// The request breaks the grammar of its protocol.
        case malformedRequest
        /// Fields are missing, unknown or not valid.
        case invalidFields
        /// The caller showed no credentials, and may not do this without.
        case credentialsMissing
        /// The caller showed credentials that are not good.
        case credentialsInvalid
        /// The caller may not do this.
        case forbidden
        /// The page that asks comes from an origin that is not allowed.
        case foreignOrigin
        /// The request names a host that this listener does not serve.
        case unknownHost
        /// The resource does not exist.
        case notFound
        /// The resource does not know the method.
        case methodNotAllowed
        /// The observer was removed.
        case observerRemoved
        /// The content passes a limit.
        case contentTooLarge
        /// The content is of a type that is not read here.
        case unsupportedMediaType
        /// A chain of notifications that cause each other is too long.
        case loopDetected
        /// The client has as many observers as it may.
        case tooManyObservers
        /// The client, or the principal, has as much of something as it may.
        case clientLimitReached
        /// The caller, or its address, asks for too much in a time.
        case rateLimited
        /// The address has as many connections as it may.
        case tooManyConnections
        /// The broker has no room for this now.
        case overloaded
        /// The queue has no room for this now.
        case queueFull
        /// The store cannot keep the change now.
        case storeUnavailable
        /// The broker has just started, and loads its store.
        case restoring
        /// The broker is about to stop.
        case draining
        /// A `now` post is for modes that are not current.
        case modeNotCurrent
        /// The mode stack is full.
        case modeStackFull
        /// The idempotency key was used for another request.
        case keyReused
        /// The center has something that a client may come back for.
        case centerInUse
        /// The session can no longer be resumed on this connection.
        case resumeTooLate
        /// The address has a holder.
        case alreadyHeld
        /// The chain of `next` would come back to where it starts.
        case responderCircle
        /// The value does not meet the condition of the request.
        case preconditionFailed
        /// The memory for values is full.
        case valuesFull
        /// The ask is over.
        case alreadySettled
        /// No responder for the ask is there.
        case noResponder
        /// The responders have as many open asks as they may.
        case responderBusy
        /// No holder of the address implements the selector.
        case selectorNotImplemented
        /// The responder has refused.
        case responderRefused
        /// The responder went away.
        case responderGone
        /// No answer came in time.
        case noAnswer
        /// The outcome of the request is unknown: it may have happened, or happen later.
        case outcomeUnknown
        /// The observer belongs to no mailbox.
        case noMailbox
        /// No archive keeps the channel.
        case notArchived
        /// The configuration file has set what the request would change.
        case setByConfiguration
        /// There is no room for an archive.
        case archiveFull
        /// Another reader has taken the place of this one.
        case readerReplaced
        /// The broker stores nothing.
        case noStore
        /// Another backup is under way.
        case backupUnderWay
        /// A backup could not be made.
        case backupFailed
        /// The request did not arrive in time.
        case timeout
        /// The resource is served over another protocol.
        case upgradeRequired
        /// The method or the coding is not known.
        case notImplemented
        /// The header section passes a limit.
        case headerTooLarge
        /// Expect names something that the broker does not do.
        case expectationFailed
        /// The request target passes a limit.
        case uriTooLong
        /// The version of HTTP is not served.
        case versionNotSupported

        /// The URI that names the kind.
        public var type: String { "https://belfry.dev/problems/" + slug }

        /// The last part of the URI.
        public var slug: String { row.slug }

        /// A summary that is the same for each occurrence.
        public var title: String { row.title }

        /// The HTTP status code.
        public var status: Int { row.status }

        private var row: (slug: String, title: String, status: Int) {
            switch self {
            case .malformedJSON: ("malformed-json", "Malformed JSON", 400)
            case .malformedRequest: ("malformed-request", "Malformed request", 400)
            case .invalidFields: ("invalid-fields", "Invalid fields", 422)
            case .credentialsMissing: ("credentials-missing", "Credentials missing", 401)
            case .credentialsInvalid: ("credentials-invalid", "Credentials invalid", 401)
            case .forbidden: ("forbidden", "Forbidden", 403)
            case .foreignOrigin: ("foreign-origin", "Origin not allowed", 403)
            case .unknownHost: ("unknown-host", "Unknown host", 421)
            case .notFound: ("not-found", "Not found", 404)
            case .methodNotAllowed: ("method-not-allowed", "Method not allowed", 405)
            case .observerRemoved: ("observer-removed", "Observer removed", 410)
            case .contentTooLarge: ("content-too-large", "Content too large", 413)
            case .unsupportedMediaType: ("unsupported-media-type", "Unsupported media type", 415)
            case .loopDetected: ("loop-detected", "Loop detected", 508)
            case .tooManyObservers: ("too-many-observers", "Too many observers", 429)
            case .clientLimitReached: ("client-limit-reached", "Client limit reached", 429)
            case .rateLimited: ("rate-limited", "Too many requests", 429)
            case .tooManyConnections: ("too-many-connections", "Too many connections", 429)
            case .overloaded: ("overloaded", "Overloaded", 503)
            case .queueFull: ("queue-full", "Queue full", 503)
            case .storeUnavailable: ("store-unavailable", "Store unavailable", 503)
            case .restoring: ("restoring", "Starting", 503)
            case .draining: ("draining", "Shutting down", 503)
            case .modeNotCurrent: ("mode-not-current", "Mode not current", 409)
            case .modeStackFull: ("mode-stack-full", "Mode stack full", 409)
            case .keyReused: ("idempotency-key-reused", "Idempotency key reused", 422)
            case .centerInUse: ("center-in-use", "Center in use", 409)
            case .resumeTooLate: ("resume-too-late", "Too late to resume", 409)
            case .alreadyHeld: ("already-held", "Address already held", 409)
            case .responderCircle: ("responder-circle", "Circular responder chain", 409)
            case .preconditionFailed: ("precondition-failed", "Precondition failed", 412)
            case .valuesFull: ("values-full", "Too many values", 503)
            case .alreadySettled: ("already-settled", "Ask already ended", 409)
            case .noResponder: ("no-responder", "No responder", 503)
            case .responderBusy: ("responder-busy", "Responder busy", 503)
            case .selectorNotImplemented:
                ("selector-not-implemented", "Selector not implemented", 501)
            case .responderRefused: ("responder-refused", "Responder refused", 502)
            case .responderGone: ("responder-gone", "Responder gone", 502)
            case .noAnswer: ("no-answer", "No answer", 504)
            case .outcomeUnknown: ("outcome-unknown", "Outcome unknown", 504)
            case .noMailbox: ("no-mailbox", "No mailbox", 409)
            case .notArchived: ("not-archived", "Not archived", 404)
            case .setByConfiguration:
                ("set-by-configuration", "Set by the configuration", 409)
            case .archiveFull: ("archive-full", "No room for an archive", 503)
            case .readerReplaced: ("reader-replaced", "Reader replaced", 409)
            case .noStore: ("no-store", "No store", 409)
            case .backupUnderWay: ("backup-under-way", "Backup in progress", 409)
            case .backupFailed: ("backup-failed", "Backup failed", 503)
            case .timeout: ("timeout", "Request timeout", 408)
            case .upgradeRequired: ("upgrade-required", "Upgrade required", 426)
            case .notImplemented: ("not-implemented", "Not implemented", 501)
            case .expectationFailed: ("expectation-failed", "Expectation failed", 417)
            case .headerTooLarge: ("header-too-large", "Header section too large", 431)
            case .uriTooLong: ("uri-too-long", "Request target too long", 414)
            case .versionNotSupported:
                ("version-not-supported", "HTTP version not supported", 505)
            }
        }
    }
}
