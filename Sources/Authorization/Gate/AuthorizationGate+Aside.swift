public import CaptureCore

/// Starts work that may block for ever on a thread of its own: a look at a file that may lie on a file system whose server
/// does not answer.
///
/// - Throws: When there is no thread.
public typealias RunsAside = @Sendable (_ work: @escaping @Sendable () -> Void) throws(CaptureError) -> Void

extension AuthorizationGate {
    /// Looks at a program's files while the gate goes on: only the caller waits, however long that takes. Nothing that was
    /// looked at before holds afterwards.
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

    /// The file that an id names, as it lies there now; `nil` for no file, and for an id that names none.
    func file(of program: String) async throws(CaptureError) -> ExecutableFile? {
        guard case .executable(let path) = try ProgramID(program) else { return nil }
        return try await aside { [root] () throws(CaptureError) in ExecutableFile.inspect(path, below: root) }
    }
}
