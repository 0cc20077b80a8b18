internal import CBelfrySystem

/// The resources that this process takes, as the system reports them.
public struct ProcessFigures: Equatable, Sendable {
    /// Memory that is resident, in bytes.
    public let residentByteCount: Int
    /// Descriptors that are open.
    public let openDescriptorCount: Int
    /// Processor time of all threads, in the program and in the kernel.
    public let processorTime: Duration

    /// Reads `/proc/self`; it takes longer the more descriptors are open, so no loop calls it.
    public static func current() throws(SystemCallError) -> ProcessFigures {
        let figures = belfry_process_figures()
        _ = try checked(figures.status, "/proc/self")
        return ProcessFigures(
            residentByteCount: Int(figures.resident_bytes),
            openDescriptorCount: Int(figures.open_descriptors),
            processorTime: .microseconds(figures.processor_microseconds))
    }
}
