/// The arithmetic of a four-function calculator: keys in, the text of the display out.
///
/// Each operation is carried out at once, from left to right: `2 + 3 * 4 =` is 20. An operation
/// after an operation takes its place, and `=` again repeats the last one. A division by zero
/// and a number that is too large show `Error` until `R` resets.
struct Accumulator: Sendable {
    /// The most digits that can be typed; more of them are ignored.
    static let digitLimit = 12

    /// The text of the display: the number that is typed, or else the value.
    var display: String {
        switch state {
        case .typing(let digits): digits
        case .showing: Self.text(of: value)
        case .failed: "Error"
        }
    }

    private enum State: Sendable {
        case typing(digits: String)
        case showing
        case failed
    }

    private enum Operation: Character, Sendable {
        case add = "+"
        case subtract = "-"
        case multiply = "*"
        case divide = "/"

        /// The result, or `nil` when there is none that the display could show.
        func result(_ left: Double, _ right: Double) -> Double? {
            let result =
                switch self {
                case .add: left + right
                case .subtract: left - right
                case .multiply: left * right
                case .divide: left / right
                }
            return result.isFinite ? result : nil
        }
    }

    private var state = State.showing
    private var value = 0.0
    private var waiting: Operation?
    private var repeated: (operation: Operation, operand: Double)?

    /// Makes an accumulator that shows 0.
    init() {}

    /// Presses a key (`0` to `9`, `+`, `-`, `*`, `/`, `=`, `R`) and returns the display after it.
    ///
    /// Any other key changes nothing.
    mutating func press(_ key: Character) -> String {
        if key == "R" {
            self = Accumulator()
        } else if case .failed = state {
            return display
        } else if ("0"..."9").contains(key) {
            type(key)
        } else if key == "=" {
            finish()
        } else if let operation = Operation(rawValue: key) {
            chain(operation)
        }
        return display
    }

    private mutating func type(_ digit: Character) {
        switch state {
        case .typing(let digits) where digits == "0":
            state = .typing(digits: String(digit))
        case .typing(let digits) where digits.count < Self.digitLimit:
            state = .typing(digits: digits + String(digit))
        case .typing, .failed:
            break
        case .showing:
            state = .typing(digits: String(digit))
        }
    }

    /// An operation key carries out the one that waits, if there is a second number for it.
    private mutating func chain(_ operation: Operation) {
        if let number = takeTyped() {
            if let waiting {
                apply(waiting, number)
            } else {
                value = number
            }
        }
        repeated = nil
        waiting = operation
    }

    /// `=` without a second number uses the value itself (`7 * =` is 49), and again repeats.
    private mutating func finish() {
        let number = takeTyped()
        if let operation = waiting {
            let operand = number ?? value
            apply(operation, operand)
            repeated = (operation, operand)
        } else if let repeated {
            value = number ?? value
            apply(repeated.operation, repeated.operand)
        } else if let number {
            value = number
        }
        waiting = nil
    }

    private mutating func takeTyped() -> Double? {
        guard case .typing(let digits) = state else { return nil }
        state = .showing
        return Double(digits)
    }

    private mutating func apply(_ operation: Operation, _ operand: Double) {
        if let result = operation.result(value, operand) {
            value = result
        } else {
            state = .failed
        }
    }

    /// The number with at most ten significant digits, and without a fraction when it has none.
    private static func text(of number: Double) -> String {
        guard number != 0 else { return "0" }
        var scale = 1.0
        while abs(number) * scale < 1e9, scale < 1e15 {
            scale *= 10
        }
        let shown = abs(number) < 1e9 ? (number * scale).rounded() / scale : number.rounded()
        let text = String(describing: shown == 0 ? 0 : shown)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
