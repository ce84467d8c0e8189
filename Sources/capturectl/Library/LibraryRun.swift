import CaptureAgent
import CaptureKit

/// Runs what a command does with the media library, asking on its own terminal for what was never decided and having it
/// confirmed there what it deletes.
enum LibraryRun {
    /// Runs `body` with the library.
    static func during<Result: Sendable>(
        _ bus: BusOptions,
        pictures: PictureOptions.Choice = .auto,
        _ body: (MediaLibrary) async throws(CaptureError) -> Result
    ) async throws(CaptureError) -> Result {
        let daemon = try await bus.connect()
        return try await InlineAgent.during(daemon, pictures: pictures) { () async throws(CaptureError) in
            try await body(MediaLibrary(on: daemon))
        }
    }

    /// Runs `body` with the library as far as it may be read, asking first where that was never decided.
    ///
    /// - Throws: `denied` when the person says no to that; who was refused before finds nothing.
    static func reading<Result: Sendable>(
        _ bus: BusOptions,
        _ body: (MediaLibrary) async throws(CaptureError) -> Result
    ) async throws(CaptureError) -> Result {
        try await during(bus) { library throws(CaptureError) in
            let isOpen = try await library.authorizationStatus(for: .readWrite) == .notDetermined
            if isOpen { try await confirmAllowed(library) }
            return try await body(library)
        }
    }

    /// Runs `body` with a library that may be read and changed.
    ///
    /// - Throws: `denied` or `restricted` where it may not: what is looked for would just not be found.
    static func changing<Result: Sendable>(
        _ bus: BusOptions,
        _ body: (MediaLibrary) async throws(CaptureError) -> Result
    ) async throws(CaptureError) -> Result {
        try await during(bus) { library throws(CaptureError) in
            try await confirmAllowed(library)
            return try await body(library)
        }
    }

    /// Makes sure that this program may read and change, asking where that was never decided.
    ///
    /// - Parameter what: What cannot be done otherwise, at the beginning of the message.
    /// - Throws: `denied` or `restricted`.
    static func confirmAllowed(_ library: MediaLibrary, _ what: String = "") async throws(CaptureError) {
        let status = try await library.requestAuthorization(for: .readWrite)
        guard let why = LibraryPresentation.refusal(status) else { return }
        throw CaptureError(status == .restricted ? .restricted : .denied, what + why)
    }

    /// Says on standard error why little or nothing is shown, where that is not for lack of assets.
    static func tellStatus(of library: MediaLibrary) async throws(CaptureError) {
        tell(try await library.authorizationStatus(for: .readWrite))
    }

    /// Says on standard error what a status keeps from being shown.
    static func tell(_ status: AuthorizationStatus) {
        if let why = LibraryPresentation.refusal(status) { return Output.message("nothing is shown: " + why) }
        if status == .limited {
            Output.note("only chosen assets and the program's own are shown; 'capturectl auth' changes that")
        }
    }
}
