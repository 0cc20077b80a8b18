import Testing

@testable import calculator_model1

@Suite("Accumulator, the arithmetic of the example")
struct AccumulatorTests {
    private func display(after keys: String) -> String {
        var accumulator = Accumulator()
        for key in keys { _ = accumulator.press(key) }
        return accumulator.display
    }

    @Test(
        "keys give what the display shows",
        arguments: [
            ("", "0"), ("7*6=", "42"), ("12+30=", "42"), ("9-12=", "-3"), ("1/4=", "0.25"),
            ("007", "7"), ("2+3*4=", "20"), ("5+-2=", "3"), ("7*=", "49"), ("2*3==", "18"),
            ("2+3=4=", "7"), ("5=", "5"), ("=", "0"), ("1/3=", "0.3333333333"), ("12R", "0"),
            ("8*R3+1=", "4"), ("7x", "7"),
        ])
    func keys(keys: String, shown: String) {
        #expect(display(after: keys) == shown)
    }

    @Test("a division by zero is an error until the reset")
    func divisionByZero() {
        #expect(display(after: "8/0=") == "Error")
        #expect(display(after: "8/0=5+1=") == "Error")
        #expect(display(after: "8/0=R5+1=") == "6")
    }

    @Test("as many digits as the limit can be typed, and one more is ignored")
    func digitLimit() {
        let digits = String(repeating: "9", count: Accumulator.digitLimit)
        #expect(display(after: digits) == digits)
        #expect(display(after: digits + "1") == digits)
    }

    @Test("a number that is too large is an error")
    func overflow() {
        let square = String(repeating: "*=", count: 10)
        #expect(display(after: "999999999999" + square) == "Error")
    }
}
