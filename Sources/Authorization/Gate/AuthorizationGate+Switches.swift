public import CaptureCore

/// The switch of each service, above all grants.
extension AuthorizationGate {
    /// The switches now.
    public var currentSwitches: Switches { switches }

    /// Switches a service off or on for every program.
    ///
    /// When a service is off, its live grants are withdrawn, nothing is delivered on them any more, and its open
    /// questions are gone before this returns. Answers stay. The switch keeps its state over a restart.
    ///
    /// - Parameters:
    ///   - service: Which one.
    ///   - isOn: The new state.
    ///   - awaitingFiles: Whether to wait until files that end by this are finished.
    ///   - turned: Gets the state of all switches when this one changed, whether or not the change could be stored. The
    ///     gate calls it in the order of the changes, so it must not block.
    /// - Throws: `inputOutput` if the change could not be stored. The service is then off until the daemon ends; it is
    ///   never turned on.
    public func setSwitch(
        _ service: Service,
        isOn: Bool,
        awaitingFiles: Bool = true,
        turned: @Sendable (Switches) -> Void = { _ in }
    ) async throws(CaptureError) {
        var fault: CaptureError?
        do throws(CaptureError) {
            try turn(service, isOn: isOn, turned)
        } catch {
            // It may be off although the change could not be stored.
            fault = error
        }
        await enforce(awaitingFiles: awaitingFiles)
        if let fault { throw fault }
    }

    private func turn(
        _ service: Service,
        isOn: Bool,
        _ turned: @Sendable (Switches) -> Void
    ) throws(CaptureError) {
        let wasOff = switches.isOff(service)
        defer { if switches.isOff(service) != wasOff { turned(switches) } }
        // What cannot be known is off, and is written down so with the first change.
        var off = switches.fault.isEmpty ? switches.off : Set(Service.allCases)
        guard isOn else {
            off.insert(service)
            switches = Switches(off: off)
            withdraw(service)
            do throws(CaptureError) {
                try switchFile?.save(off)
            } catch {
                throw CaptureError(
                    .inputOutput,
                    "\(service.title) is switched off, but only until captured restarts: \(error.message)"
                )
            }
            return
        }
        off.remove(service)
        try switchFile?.save(off)
        switches = Switches(off: off)
    }

    private func withdraw(_ service: Service) {
        let gone = withdraw(by: .switchedOff) { _, grant, _ in grant.service == service ? "it was switched off" : nil }
        for one in gone {
            let words = { (service: Service) in
                "\(one.client.program) loses \(service.title) while it uses it: \(one.reason)"
            }
            report([one.service], for: one.client, .switched, words) { _ in
                (try? statuses([service], for: one.client)[service]) ?? .notDetermined
            }
        }
        guard let refusal = switches.refusal([service]) else { return }
        for (key, prompt) in prompts where prompt.services.contains(service) {
            finish(key, prompt.id, .failed(refusal))
        }
    }
}
