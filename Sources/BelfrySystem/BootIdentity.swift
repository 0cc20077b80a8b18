/// The identity of this start of the machine: written data survives until the next one.
public enum BootIdentity {
    /// The text of the kernel (random(4)), 36 characters; empty where it tells none.
    public static func current() -> [UInt8] {
        do throws(SystemCallError) {
            let path = "/proc/sys/kernel/random/boot_id"
            return Array(try WholeFile.read(path: path, byteLimit: 64).prefix(36))
        } catch {
            // Without one no two starts are known to be the same.
            return []
        }
    }
}
