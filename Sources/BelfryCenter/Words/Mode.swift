/// The names of modes that mean something to every center.
public enum Mode {
    /// The mode of a center whose mode stack is empty.
    public static let `default` = Array("default".utf8)
    /// Stands for all modes of the center's common set (rule Q17).
    public static let common = Array("common".utf8)
}
