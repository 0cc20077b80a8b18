/// The names of modes that have a meaning in every center.
public enum Mode {
    /// The mode of a center whose mode stack is empty.
    public static let `default` = Array("default".utf8)
    /// The name for all modes of the center's common set (rule Q17).
    public static let common = Array("common".utf8)
}
