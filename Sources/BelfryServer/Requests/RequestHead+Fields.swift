import BelfryBytes
import BelfryHTTP

extension RequestHead {
    /// The value of the first field of a name, which is given in lower case, copied.
    func copy(of name: String) -> [UInt8]? {
        guard let value = field(name) else { return nil }
        return [UInt8](copying: value)
    }

    /// The values of all fields of a name, copied.
    func copies(of name: String) -> [[UInt8]] {
        values(of: name).map { [UInt8](copying: value(in: $0)) }
    }
}
