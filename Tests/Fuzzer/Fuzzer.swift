import FuzzTargets
import Glibc

// The entry of libFuzzer, which calls it with one input after the other. BELFRY_FUZZ_TARGET names
// the target, so that one program serves all.

private let target: FuzzTarget = {
    // SAFETY: the variable is not changed while its text is copied.
    let name = unsafe getenv("BELFRY_FUZZ_TARGET").map { unsafe String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
        fatalError("BELFRY_FUZZ_TARGET is none of \(FuzzTarget.allCases.map(\.rawValue))")
    }
    return target
}()

/// Reads one input; what is wrong ends the process, so that libFuzzer keeps the input.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    // SAFETY: libFuzzer lends `count` bytes until the call returns.
    let input = unsafe [UInt8](UnsafeBufferPointer(start: start, count: count))
    if let fault = target.fault(in: input) { fatalError("\(target.rawValue): \(fault)") }
    return 0
}

private typealias Arguments = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?

@_silgen_name("LLVMFuzzerRunDriver")
private func runDriver(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<Arguments>,
    _ testOneInput: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// The entry of a program of this name by the package manager, in place of libFuzzer's own.
@_cdecl("belfry_fuzz_main")
public func start(
    _ count: CInt, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    // SAFETY: the arguments are the process's own; the driver may change what stands for them here.
    var (count, arguments) = (count, unsafe arguments)
    // SAFETY: both live until the driver returns.
    return unsafe runDriver(&count, &arguments, testOneInput)
}
