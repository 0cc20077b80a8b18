import BelfryCenter
import BelfryHTTP
import BelfryWire

/// The form of the answer to posts; an idempotency key keeps it for replays.
struct ReceiptForm: OptionSet, Sendable, Equatable {
    let rawValue: UInt8

    /// One object with all receipts, as for an array of posts.
    static let batch = ReceiptForm(rawValue: 1)
    /// One row an observer.
    static let observers = ReceiptForm(rawValue: 2)
    /// No content.
    static let minimal = ReceiptForm(rawValue: 4)
}

extension ReceiptForm {
    /// The form for a reply.
    init(of reply: Reply, isBatch: Bool) {
        self = isBatch ? .batch : []
        guard case .http(let http) = reply.form else { return }
        if http.isMinimal { insert(.minimal) }
        if http.reportsObservers { insert(.observers) }
    }

    /// Appends the receipts of posts in their form, and returns the head of the answer.
    func appendAnswer(
        _ receipts: [Receipt], _ reports: [[ReportRow]], _ reply: Reply, _ sight: Sight,
        _ outbox: inout Outbox
    ) -> Answer {
        var answer = contains(.minimal) ? Answer.empty : .json
        if !contains(.minimal) { append(receipts, reports, sight, to: &outbox.content) }
        guard !contains(.batch), let receipt = receipts.first, !receipt.isPosted else {
            return answer
        }
        if !contains(.minimal) { answer.status = 202 }
        if case .http(let http) = reply.form {
            var location: [UInt8] = []
            receipt.id.appendLocation(prefix: http.details.pathPrefix, to: &location)
            answer.fields.append(HTTPField("Location", location))
        }
        return answer
    }

    /// Appends receipts in this form.
    func append(
        _ receipts: [Receipt], _ reports: [[ReportRow]], _ sight: Sight,
        to content: inout [UInt8]
    ) {
        if !contains(.batch), let receipt = receipts.first {
            Shape.append(
                receipt: receipt, rows: contains(.observers) ? reports.first ?? [] : nil,
                sight: sight, to: &content)
            return
        }
        Shape.append(
            receipts: receipts, rows: contains(.observers) ? reports : nil, sight: sight,
            to: &content)
    }
}

extension HTTPField {
    /// The field that marks an answer as a repetition.
    static var isReplayed: HTTPField { HTTPField("Idempotency-Replayed", "true") }
}

extension Receipt {
    /// Whether it was dispatched; otherwise it waits in the queue, or another entry replaces it.
    var isPosted: Bool {
        if case .posted = state { true } else { false }
    }
}

extension NotificationID {
    /// Appends the URL of the fate of a post, or of an ask.
    func appendLocation(prefix: [UInt8], to location: inout [UInt8]) {
        location.append(contentsOf: prefix)
        location.append(contentsOf: Self.notificationsPath)
        append(to: &location)
    }

    private static let notificationsPath = Array("/notifications/".utf8)
}
