public import CaptureCore
import Glibc

/// A system call that failed: which, on what, and the kernel's number.
///
/// EINTR never comes out of here: `check` repeats the call.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What was tried, as in `open /dev/video0`.
    public var action: String
    /// The kernel's number.
    public var errno: Int32

    /// A failure of the given action.
    public init(_ action: String, errno: Int32) {
        self.action = action
        self.errno = errno
    }

    /// As in `open /dev/video0: No such file or directory`.
    public var description: String {
        "\(action): \(SystemError.text(of: errno))"
    }

    /// The system's words for an error number, as strerror(3).
    public static func text(of errno: Int32) -> String {
        unsafe String(cString: strerror(errno))
    }

    /// Makes a call, again while it is interrupted, and turns -1 into an error.
    ///
    /// - Parameters:
    ///   - action: What is tried, for the message; made only when it fails.
    ///   - call: A call that returns -1 and sets errno when it fails.
    @discardableResult
    public static func check<Result: SignedInteger>(
        _ action: @autoclosure () -> String,
        _ call: () -> Result
    ) throws(SystemError) -> Result {
        while true {
            let result = call()
            if result != -1 { return result }
            let code = Glibc.errno
            if code != EINTR { throw SystemError(action(), errno: code) }
        }
    }
}

extension CaptureError {
    /// A failed system call as an error of the given code.
    public init(_ code: Code, _ error: SystemError) {
        self.init(code, error.description, errno: error.errno)
    }

    /// What system calls give, or the failure of one as an error of the given code.
    public static func wrap<Value>(
        _ code: Code,
        _ value: @autoclosure () throws(SystemError) -> Value
    ) throws(CaptureError) -> Value {
        do throws(SystemError) {
            return try value()
        } catch {
            throw CaptureError(code, error)
        }
    }
}
