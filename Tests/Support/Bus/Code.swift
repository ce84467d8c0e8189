public import CaptureCore

/// The code of the error that something throws; `nil` where it comes to its end, or throws another one.
public func code<Result>(_ body: () async throws -> Result) async -> CaptureError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? CaptureError)?.code
    }
}

/// The same of what waits for nothing.
public func code<Result>(_ body: () throws -> Result) -> CaptureError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? CaptureError)?.code
    }
}
