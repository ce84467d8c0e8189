import CLibAV
package import CaptureCore

/// What libavcodec and libavformat say, in this program's words.
package enum LibAV {
    /// Turns a negative result into an error.
    ///
    /// - Parameters:
    ///   - action: What was tried, as in `open the encoder libx264`.
    ///   - result: What the library returned.
    @discardableResult
    package static func check(_ action: @autoclosure () -> String, _ result: Int32) throws(CaptureError) -> Int32 {
        if result >= 0 { return result }
        throw CaptureError(.internalFault, "could not \(action()): \(text(of: result))")
    }

    /// The object that the library was asked for, unless it has no memory to give.
    package static func made<Object>(_ object: Object?) throws(CaptureError) -> Object {
        guard let object else { throw CaptureError(.internalFault, "the media libraries ran out of memory") }
        return object
    }

    /// The library's words for an error.
    package static func text(of code: Int32) -> String {
        var characters = [CChar](repeating: 0, count: 128)
        unsafe av_strerror(code, &characters, characters.count)
        return unsafe characters.withUnsafeBufferPointer { characters in
            unsafe String(
                decoding: characters.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) },
                as: UTF8.self
            )
        }
    }

    /// Has the libraries write their errors, and nothing else, to standard error. For a process of our own alone, before
    /// they are loaded: a program that converts may use them, too.
    package static func logErrorsOnly() { cav_log_errors_only() }

    /// Loads the libraries.
    ///
    /// Needed before any other call of theirs in a program, whose process a failure must not end, and before the sandbox
    /// closes, by what makes its first call after that.
    package static func load() throws(CaptureError) {
        guard let why = unsafe cav_load() else { return }
        throw CaptureError(.internalFault, unsafe "libav cannot be loaded: \(String(cString: why))")
    }
}
