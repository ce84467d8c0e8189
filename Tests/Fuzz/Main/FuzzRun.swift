import Glibc

/// What libFuzzer, which has a `main` of its own, is to run: the target that `FUZZ_TARGET` names.
private let target = unsafe getenv("FUZZ_TARGET").flatMap { name in
    FuzzTarget.all.first { unsafe $0.name == String(cString: name) }
}

/// Called by libFuzzer before anything else: without a target, the names of all are printed and that is it.
@c(LLVMFuzzerInitialize)
public func initialize(
    _: UnsafeMutablePointer<CInt>?,
    _: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?>?
) -> CInt {
    guard target == nil else { return 0 }
    print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
    unsafe exit(getenv("FUZZ_TARGET") == nil ? 0 : 64)
}

/// Called by libFuzzer with each input; what traps or reads where it must not is a finding.
@c(LLVMFuzzerTestOneInput)
public func take(_ bytes: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
    target?.run(unsafe Array(UnsafeBufferPointer(start: bytes, count: size)))
    return 0
}
