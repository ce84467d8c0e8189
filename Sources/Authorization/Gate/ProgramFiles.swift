public import CaptureCore

/// Starts work on a thread of its own, because it may block for ever: for example, reading a file on a file system
/// whose server does not answer.
///
/// - Throws: If no thread can be created.
public typealias RunsAside = @Sendable (_ work: @escaping @Sendable () -> Void) throws(CaptureError) -> Void

/// Looks at files of programs: which file an id names, and why a program captures.
///
/// A look runs on a thread of its own. Meanwhile the gate takes other calls, so a caller checks the gate's state again
/// afterwards.
struct ProgramFiles: Sendable {
    let runsAside: RunsAside
    let usage: any UsageDescriptions
    let prompter: any Prompter
    let root: String

    /// The file that a program's id names, as it is now; `nil` if the id names none or the file is missing.
    nonisolated(nonsending) func file(of program: String) async throws(CaptureError) -> ExecutableFile? {
        guard case .executable(let path) = try ProgramID(program) else { return nil }
        return try await aside { [root] () throws(CaptureError) in ExecutableFile.inspect(path, below: root) }
    }

    /// Whether one of the answers was given for the file that is there now, or for no file.
    nonisolated(nonsending) func isPresent(_ answers: [StoredAnswer]) async throws(CaptureError) -> Bool {
        try await aside { [root] () throws(CaptureError) in
            answers.contains { answer in
                guard answer.tier == .claimed else { return true }
                guard let file = answer.executable, let present = ExecutableFile.inspect(file.path, below: root) else {
                    return false
                }
                return file.isSameProgram(as: present)
            }
        }
    }

    /// A program's reasons for services, from files that only root or its package can write. If these have none, and the
    /// program is the person's own, the prompter is asked. One that came through a bridge needs none for cameras and
    /// microphones.
    ///
    /// - Parameter session: Its connection; empty for a program that does not run.
    /// - Throws: `missingUsageDescription` if a service has no reason.
    nonisolated(nonsending) func usage(
        of client: ClientIdentity,
        for services: [Service],
        session: String
    ) async throws(CaptureError) -> UsageDescription {
        do throws(CaptureError) {
            return try await filed(client, services)
        } catch  where error.code == .missingUsageDescription && client.tier == .claimed {
            let all = await usages(of: client, for: services, session: session)
            let missing = services.filter { (try? all[$0]?.get()) == nil }
            // Throws one error that names every missing line.
            var usage = missing.isEmpty ? UsageDescription(reasons: [:]) : try await filed(client, missing)
            for one in services.compactMap({ try? all[$0]?.get() }) {
                usage.name = usage.name ?? one.name
                usage.reasons.merge(one.reasons) { $1 }
                usage.bridge = usage.bridge ?? one.bridge
            }
            return usage
        }
    }

    /// The same, separately for each service. The prompter looks only once, because that may take seconds.
    nonisolated(nonsending) func usages(
        of client: ClientIdentity,
        for services: [Service],
        session: String
    ) async -> [Service: Result<UsageDescription, CaptureError>] {
        var found: [Service: Result<UsageDescription, CaptureError>] = [:]
        var missing: [Service] = []
        for service in services {
            do throws(CaptureError) {
                found[service] = .success(try await filed(client, [service]))
            } catch {
                found[service] = .failure(error)
                if error.code == .missingUsageDescription { missing.append(service) }
            }
        }
        guard client.tier == .claimed, !missing.isEmpty else { return found }
        let own = await prompter.reasons(of: client, for: missing, session: session)
        for service in missing {
            if let reason = own.reasons[service] {
                found[service] = .success(UsageDescription(reasons: [service: reason]))
            } else if let bridge = own.bridge, service == .camera || service == .microphone {
                found[service] = .success(UsageDescription(reasons: [:], bridge: bridge))
            }
        }
        return found
    }

    /// What the files that only root or its package can write say about services.
    ///
    /// - Throws: `missingUsageDescription`, naming key and file.
    nonisolated(nonsending) func filed(
        _ client: ClientIdentity,
        _ services: [Service]
    ) async throws(CaptureError) -> UsageDescription {
        try await aside { [usage] () throws(CaptureError) in try usage.description(of: client, for: services) }
    }

    /// A program's name for people, neutralized, in a question about the media library.
    nonisolated(nonsending) func libraryName(of client: ClientIdentity) async -> String {
        let usage = try? await filed(client, [.libraryReadWrite])
        return DisplayText.neutralized(usage?.name ?? client.name, limit: 80)
    }

    /// Whether a program's metadata prevents the offer of more assets. If the look fails, it does not.
    nonisolated(nonsending) func preventsLibraryAlert(_ client: ClientIdentity) async -> Bool {
        let look = { @Sendable [usage] () throws(CaptureError) in usage.preventsLibraryAlert(client) }
        return (try? await aside(look)) ?? false
    }

    private nonisolated(nonsending) func aside<Value: Sendable>(
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
}
