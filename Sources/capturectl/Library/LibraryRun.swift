import CaptureKit

/// Runs what a command does with the media library, asking on its own terminal for what was never decided and having it
/// confirmed there what it deletes.
enum LibraryRun {
    /// Runs `body` with the library.
    static func during<Result: Sendable>(
        _ bus: BusOptions,
        pictures: TerminalPictures? = PictureOptions.shown(.auto),
        _ body: (MediaLibrary) async throws(CaptureError) -> Result
    ) async throws(CaptureError) -> Result {
        let daemon = try await bus.connect()
        return try await InlineAgent.during(daemon, pictures: pictures) { () async throws(CaptureError) in
            try await body(MediaLibrary(on: daemon))
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
            let status = try await library.requestAuthorization(for: .readWrite)
            if let why = LibraryPresentation.refusal(status) {
                throw CaptureError(status == .restricted ? .restricted : .denied, why)
            }
            return try await body(library)
        }
    }

    /// Says on standard error why little or nothing is shown, where that is not for lack of assets.
    static func tellStatus(of library: MediaLibrary) async throws(CaptureError) {
        tell(try await library.authorizationStatus(for: .readWrite))
    }

    /// Says on standard error what a status keeps from being shown.
    static func tell(_ status: AuthorizationStatus) {
        if let why = LibraryPresentation.refusal(status) { return Output.message("nothing is shown: " + why) }
        if status == .limited {
            Output.note("shown is what was chosen for this program and what it made; 'capturectl auth' changes that")
        }
    }
}
