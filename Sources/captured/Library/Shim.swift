import CaptureCore
import MediaLibrary

extension MediaLibrary {
    func whilePermitted<T>(
        _ check: @escaping @Sendable () throws(CaptureError) -> Void,
        _ body: () throws(CaptureError) -> T
    ) throws(CaptureError) -> T {
        try check()
        return try body()
    }
    func beginEdit(_ id: String, program: String, scope: LibraryScope) throws(CaptureError) -> LibraryImport {
        try beginEdit(id, scope: scope)
    }

    func delete(counting ids: [String], scope: LibraryScope) throws(CaptureError) -> Int {
        try delete(ids, scope: scope); return ids.count
    }
}
