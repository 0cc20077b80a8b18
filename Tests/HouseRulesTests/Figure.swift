/// A measure of the house that has a limit (STYLE.md section 3).
enum Measure: String, CaseIterable {
    /// The stored properties of a type.
    case stored
    /// The methods of a type, over all its extensions in one room.
    case methods
    /// The lines of a file.
    case file
    /// The lines of a function or an initializer.
    case function
    /// The files of a room that lie in circles of more than four files.
    case circle
    /// A folder whose files name types of another folder of their room.
    case arrow
    /// The lines of a file that are longer than 100 columns; in Markdown tables are left out.
    case columns
    /// The summaries of a file that begin with a clause or a pronoun.
    case summaries

    /// The largest figure that needs no exception.
    var limit: Int {
        switch self {
        case .stored: 20
        case .methods: 60
        case .file: 400
        case .function: 70
        case .circle, .arrow, .columns, .summaries: 0
        }
    }
}

/// A figure of the house: how much there is of a measure, and where.
struct Figure: Equatable {
    let measure: Measure
    let subject: String
    let amount: Int

    var isOverLimit: Bool { amount > measure.limit }
}
