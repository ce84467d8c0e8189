public import CaptureCore

/// Starts work on a thread of its own, because it may block for ever: for example, reading a file on a file system
/// whose server does not answer.
///
/// - Throws: If no thread can be created.
public typealias RunsAside = @Sendable (_ work: @escaping @Sendable () -> Void) throws(CaptureError) -> Void

extension AuthorizationGate {
    /// Looks at a program's files while the gate takes other calls; only the caller waits. Check the gate's state again
    /// afterwards: it may have changed.
    func aside<Value: Sendable>(
        _ look: @escaping @Sendable () throws(CaptureError) -> Value
    ) async throws(CaptureError) -> Value {
        let result: Result<Value, CaptureError> = await withCheckedContinuation { continuation in
            do throws(CaptureError) {
                try runsAside { continuation.resume(returning: Result { () throws(CaptureError) in try look() }) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }

    /// The file that a program's id names, as it is now; `nil` if the id names none or the file is missing.
    func file(of program: String) async throws(CaptureError) -> ExecutableFile? {
        guard case .executable(let path) = try ProgramID(program) else { return nil }
        return try await aside { [root] () throws(CaptureError) in ExecutableFile.inspect(path, below: root) }
    }
}
