import Testing

@testable import BelfryClient

@Suite("BrokerRefusal")
struct BrokerRefusalTests {
    @Test(
        "a sentence names each field that is wrong, and why",
        arguments: [
            (
                #"{"detail":"The request has fields that are not valid.","errors":[]}"#,
                "The request has fields that are not valid."
            ),
            (
                """
                {"detail":"The request has fields that are not valid.","errors":[
                {"parameter":"every","detail":"must be a number from 0.1 to 31622400"},
                {"pointer":"/lease","detail":"must be a number"},{"header":"Prefer"},{"detail":"too much"}]}
                """,
                """
                The request has fields that are not valid: every must be a number from 0.1 to 31622400; \
                /lease must be a number; too much
                """
            ),
        ])
    func sentence(problem: String, expected: String) {
        let refusal = BrokerRefusal(status: 422, content: Array(problem.utf8))
        #expect(ClientError.refused(refusal).description == expected)
    }
}
