import CaptureKit

/// What the daemon says when it is asked.
struct DaemonChecks {
    let isSystem: Bool
    let machine: Machine

    /// Looks at everything that the daemon can tell.
    func run(_ connect: () async throws(CaptureError) -> CaptureDaemon) async -> [Finding] {
        do throws(CaptureError) {
            let daemon = try await connect()
            let health = try await daemon.health()
            var findings = [Finding.fine("daemon", "captured \(Printable.text(health.text("version"))) answers")]
            findings += judge(health)
            findings += await devices(daemon)
            findings += await consent(daemon)
            return findings
        } catch {
            let remedy =
                isSystem ? "sudo systemctl restart captured; journalctl -u captured -n 20" : "captured --bus session &"
            return [.problem("daemon", Printable.text(error.message, limit: 1000), remedy)]
        }
    }

    /// The daemon's own account of itself.
    func judge(_ health: DaemonHealth) -> [Finding] {
        var findings: [Finding] = []
        let fault = health.text("storeFault")
        let state = Printable.text(health.text("stateDirectory"))
        if fault.isEmpty {
            findings.append(.fine("store", "the store of answers in \(state) is usable"))
        } else {
            findings.append(
                .problem(
                    "store",
                    "the store of answers is not usable, so nothing can start: \(Printable.text(fault, limit: 1000))",
                    isSystem
                        ? "sudo mv \(state) \(state).broken && sudo systemctl restart captured  # every answer is asked anew"
                        : "mv \(state) \(state).broken, then start captured again  # every answer is asked anew"
                )
            )
        }
        let problems = health.list("configurationProblems")
        if problems.isEmpty { findings.append(.fine("configuration", "the configuration is read without a complaint")) }
        for problem in problems {
            let file = problem.split(separator: ":").first.map(String.init) ?? "/etc/captured/captured.conf"
            findings.append(
                .problem(
                    "configuration",
                    Printable.text(problem, limit: 1000),
                    "sudo nano \(Printable.text(file)) && sudo systemctl reload captured"
                )
            )
        }
        findings.append(recorder(Printable.text(health.text("recorder"))))
        if let agents = health.number("agents") {
            findings.append(
                agents > 0
                    ? .fine(
                        "agent",
                        agents == 1 ? "an agent is there to ask people" : "\(agents) agents are there to ask people"
                    )
                    : .advice(
                        "agent",
                        "no agent is there, so programs without a terminal have nobody to ask for consent",
                        "capturectl agent"
                    )
            )
        }
        return findings
    }

    private func recorder(_ origin: String) -> Finding {
        guard let slash = origin.firstIndex(of: "/") else { return .fine("recorder", "recorders come from \(origin)") }
        let path = String(origin[slash...])
        if machine.exists(path) { return .fine("recorder", "recorders come from \(path)") }
        return .problem(
            "recorder",
            "there are no recorders, so no file can be written: \(path) is missing",
            isSystem ? "sudo systemctl enable --now captured-recorder.socket" : "make build"
        )
    }

    private func devices(_ daemon: CaptureDaemon) async -> [Finding] {
        do throws(CaptureError) {
            let devices = try await CaptureDevice.devices(on: daemon)
            let cameras = devices.count { $0.mediaType == .video }
            let real = devices.filter { !$0.id.rawValue.hasPrefix("synthetic:") }
            let nodes = machine.captureNodes
            if real.isEmpty, !nodes.isEmpty {
                return [
                    .problem(
                        "devices",
                        "the kernel has \(Quantities.count(nodes.count, "capture node")), and the daemon lists no device of it",
                        isSystem
                            ? "journalctl -u captured -n 50" : "sudo usermod -aG video,audio $USER  # then log in again"
                    )
                ]
            }
            let microphones = Quantities.count(devices.count - cameras, "microphone")
            return [.fine("devices", "\(Quantities.count(cameras, "camera")) and \(microphones) in the list")]
        } catch {
            return [.problem("devices", Printable.text(error.message, limit: 1000), "capturectl devices")]
        }
    }

    private func consent(_ daemon: CaptureDaemon) async -> [Finding] {
        do throws(CaptureError) {
            let panel = AuthorizationPanel(on: daemon)
            let program = Printable.text(try await panel.whoAmI().program)
            var findings: [Finding] = []
            for service in [AuthorizationService.camera, .microphone] {
                switch try await panel.status(service) {
                case .denied:
                    findings.append(
                        .advice(
                            "consent",
                            "\(program), which is how the daemon sees this command, is denied \(service.title)",
                            "capturectl auth reset '\(program)' \(service.rawValue)"
                        )
                    )
                case .restricted:
                    findings.append(
                        .advice(
                            "consent",
                            "policy forbids \(program) \(service.title)",
                            "capturectl auth status"
                        )
                    )
                default: continue
                }
            }
            return findings.isEmpty ? [.fine("consent", "the daemon sees this command as \(program)")] : findings
        } catch {
            return [.problem("consent", Printable.text(error.message, limit: 1000), "capturectl auth whoami")]
        }
    }
}
