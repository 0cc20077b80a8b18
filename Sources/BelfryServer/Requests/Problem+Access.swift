import BelfryAccess
import BelfryBytes
import BelfryCenter
import BelfryHTTP
import BelfryJSON
import BelfryWire

extension Problem {
    /// The challenge of a refusal (RFC 9110 §11.6.1, RFC 6750 §3).
    static func challenge(_ kind: Problem.Kind) -> HTTPField? {
        switch kind {
        case .credentialsMissing: HTTPField("WWW-Authenticate", #"Bearer realm="belfry""#)
        case .credentialsInvalid:
            HTTPField("WWW-Authenticate", #"Bearer realm="belfry", error="invalid_token""#)
        default: nil
        }
    }

    /// The advice to an operator whose callers are not local.
    static let remedyForStrangers = """
        give callers keys (--keys), name the proxy that is believed (--trust-proxy), or say what \
        everybody may do without credentials (--anonymous-grants)
        """

    /// The problem of a verb that the caller lacks; an absent name or object is all.
    static func lacking(
        _ verb: String, _ caller: Caller, center: [UInt8]? = nil, name: [UInt8]? = nil,
        object: [UInt8]? = nil, place: Int? = nil, isUnderCondition: Bool = false
    ) -> Problem {
        let mayHaveMore = caller.mayAuthenticate || caller.isStranger
        let kind = caller.isAnonymous && mayHaveMore ? Kind.credentialsMissing : .forbidden
        var detail =
            isUnderCondition
            ? """
            This requires the grant \(verb), which the caller has under a condition (where) that \
            this userInfo does not fulfil.
            """ : "This requires the grant \(verb), which the caller does not have."
        if caller.isStranger {
            detail += """
                 Without credentials only programs of the broker's own user on this machine have \
                it, and this request does not come from one of them: \(remedyForStrangers).
                """
        }
        var problem = Problem(kind, detail)
        var members = [Member("verb", string: Array(verb.utf8))]
        if let center { members.append(Member("center", string: center)) }
        if let name { members.append(Member("name", string: name)) }
        if let object { members.append(Member("object", string: object)) }
        problem.members = members
        if let place {
            problem.errors = [
                FieldError(
                    .pointer(.root.appending(index: place)), "requires the grant \(verb)")
            ]
        }
        return problem
    }

    /// The problem of a verb that the caller lacks to post something.
    static func lacking(
        _ verb: String, _ submission: Submission, _ content: BelfryCenter.Notification.Content,
        place: Int?
    ) -> Problem {
        let (name, object) = ([UInt8](copying: content.name), content.objectText)
        let verbs = Verbs.names.first { $0.name == verb }?.verb ?? []
        let conditions = submission.caller.grants.conditions(
            of: verbs, center: submission.center, name: name, object: object)
        return lacking(
            verb, submission.caller, center: submission.center, name: name, object: object,
            place: place, isUnderCondition: !conditions.isEmpty)
    }
}
