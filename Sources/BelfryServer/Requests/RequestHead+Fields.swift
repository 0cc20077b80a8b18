import BelfryBytes
import BelfryHTTP

extension RequestHead {
    /// A copy of the value of the first field with a name, which is in lower case.
    func copy(of name: String) -> [UInt8]? {
        guard let value = field(name) else { return nil }
        return [UInt8](copying: value)
    }

    /// Copies of the values of all fields with a name.
    func copies(of name: String) -> [[UInt8]] {
        values(of: name).map { [UInt8](copying: value(in: $0)) }
    }
}
