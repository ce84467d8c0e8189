import CaptureKit

/// Checks that ask the daemon.
struct DaemonChecks {
    let isSystem: Bool
    let machine: Machine

    /// Looks at everything that the daemon can tell.
    func run(_ connect: () async throws(CaptureError) -> CaptureDaemon) async -> [Finding] {
        do throws(CaptureError) {
            let daemon = try await connect()
            let health = try await daemon.health()
            var findings = [Finding.fine("daemon", "captured \(Printable.text(health.version)) answers")]
            findings += judge(health)
            findings += await devices(daemon)
            findings += await consent(daemon, health)
            return findings
        } catch {
            return [.problem("daemon", Printable.text(error.message, limit: 1000), restart)]
        }
    }

    private var restart: String {
        if isSystem, machine.maskOfDaemon != nil { return machine.unmaskingDaemon }
        return isSystem ? "sudo systemctl restart captured; journalctl -u captured -n 20" : "captured --bus session &"
    }

    /// What mends the store: the daemon's own word, since it knows whether the answers in it can be kept.
    private func storeRemedy(_ health: DaemonHealth) -> String {
        remedy(health, health.storeRemedy, "every question is asked again")
    }

    /// - Parameters:
    ///   - command: The daemon's word; empty if it has none.
    ///   - loss: What follows when the file is put aside.
    private func remedy(_ health: DaemonHealth, _ command: String, _ loss: String) -> String {
        let remedy = Printable.text(command, limit: 1000)
        if remedy.isEmpty {
            let state = Printable.text(health.stateDirectory)
            return "df -h '\(state)'; findmnt -T '\(state)'  # is it full, or mounted read-only?"
        }
        let command = (isSystem ? "sudo " : "") + remedy
        if remedy.hasPrefix("mv ") { return command + "  # \(loss)" }
        if remedy.hasPrefix("make ") { return command + "  # in the newer captured's sources; then start it anew" }
        return command
    }

    /// Why consent could not be looked at, with what mends that.
    func consentFailure(_ error: CaptureError, _ health: DaemonHealth) -> Finding {
        let log = isSystem ? "journalctl -u captured -n 20" : restart
        let remedy =
            switch error.code {
            case .inputOutput: health.storeFault.isEmpty ? log : storeRemedy(health)
            case .unreachable: restart
            // The daemon was not let look at this process: it runs without the capabilities that its unit gives it.
            case .notPermitted where isSystem && error.message.contains("cannot be read"):
                "sudo make install && sudo systemctl daemon-reload && sudo systemctl restart captured"
            // This process is in a place that makes no program of it, such as a job of another's service.
            case .notPermitted: "systemd-run --user --scope capturectl doctor" + (isSystem ? "" : " --bus session")
            default: log
            }
        return .problem("consent", Printable.text(error.message, limit: 1000), remedy)
    }

    /// The daemon's own account of itself.
    func judge(_ health: DaemonHealth) -> [Finding] {
        var findings: [Finding] = []
        let fault = health.storeFault
        if fault.isEmpty {
            let state = Printable.text(health.stateDirectory)
            findings.append(.fine("store", "the store of answers in \(state) works"))
        } else {
            findings.append(
                .problem(
                    "store",
                    "the store of answers cannot be used, so nothing can start: \(Printable.text(fault, limit: 1000))",
                    storeRemedy(health)
                )
            )
        }
        let pastFault = health.historyFault
        if !pastFault.isEmpty {
            findings.append(
                .problem(
                    "history",
                    "no use can be recorded, so nothing can start: \(Printable.text(pastFault, limit: 1000))",
                    remedy(health, health.historyRemedy, "keeps the file, and begins a new history")
                )
            )
        } else if !health.history.isEmpty {
            findings.append(.fine("history", "the history of uses and decisions is kept"))
        }
        for fault in health.libraryFaults {
            findings.append(
                .problem(
                    "library",
                    "the media library of \(Printable.text(fault, limit: 1000))",
                    "see what it says; then: capturectl library check"
                )
            )
        }
        if !health.profileFault.isEmpty {
            findings.append(
                .problem(
                    "profiles",
                    "no device gets its saved settings: \(Printable.text(health.profileFault, limit: 1000))",
                    "capturectl control --save  # keeps the file as profiles.damaged; or repair it, and restart captured"
                )
            )
        }
        let problems = health.configurationProblems
        if problems.isEmpty { findings.append(.fine("configuration", "the configuration has no errors")) }
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
        findings += policy(health)
        findings += switches(health)
        findings.append(recorder(Printable.text(health.recorder)))
        if let agents = health.agents {
            findings.append(
                agents > 0
                    ? .fine(
                        "agent",
                        agents == 1 ? "an agent is running to ask people" : "\(agents) agents are running to ask people"
                    )
                    : .advice(
                        "agent",
                        "no agent is running, so programs without a terminal cannot ask for consent; on a desktop "
                            + "captured-agent.service asks",
                        "capturectl agent"
                    )
            )
        }
        return findings
    }

    /// What is switched off: because somebody wants it, or because the switches cannot be read.
    private func switches(_ health: DaemonHealth) -> [Finding] {
        let services = health.switchedOff.map { Printable.text($0) }
        guard let first = services.first else { return [] }
        let fault = Printable.text(health.switchFault, limit: 1000)
        let remedy = "capturectl switch \(first) on"
        if !fault.isEmpty { return [.problem("switch", "everything is switched off: \(fault)", remedy)] }
        return [.advice("switch", "switched off for every program: \(services.joined(separator: ", "))", remedy)]
    }

    /// The rules of `policy.d`: by what cannot be understood there, everything is refused.
    private func policy(_ health: DaemonHealth) -> [Finding] {
        let reload =
            isSystem
            ? "sudo systemctl reload captured"
            : "busctl --user call org.capturekit.Capture1 /org/capturekit/Capture1 org.capturekit.Capture1.Manager Reload"
        func mend(_ problem: String) -> String {
            let file = Printable.text(problem.split(separator: ":").first.map(String.init) ?? "/etc/captured/policy.d")
            if problem.contains("which is not trusted here") || problem.contains("can be written by others") {
                // Somebody else may have written it: root reads it first.
                return "sudo less '\(file)' && sudo chown root: '\(file)' && sudo chmod go-w '\(file)' && \(reload)"
            }
            return (isSystem ? "sudo " : "") + "nano '\(file)' && \(reload)"
        }
        var findings = health.policyFaults.map { fault in
            let what = Printable.text(fault, limit: 1000)
            return Finding.problem(
                "policy",
                "every start is refused, because the policy cannot be understood: \(what)",
                mend(fault)
            )
        }
        findings += health.policyProblems.map {
            .problem("policy", Printable.text($0, limit: 1000), mend($0))
        }
        if findings.isEmpty, health.policyRules > 0 {
            let rules = Quantities.count(Int(health.policyRules), "rule")
            findings.append(.fine("policy", "\(rules) of policy without errors"))
        }
        return findings
    }

    private func recorder(_ origin: String) -> Finding {
        guard let slash = origin.firstIndex(of: "/") else { return .fine("recorder", "recorders come from \(origin)") }
        let path = String(origin[slash...])
        if machine.exists(path) { return .fine("recorder", "recorders come from \(path)") }
        return .problem(
            "recorder",
            "no recorder can start, so no file can be written: \(path) is missing",
            isSystem ? "sudo systemctl enable --now captured-recorder.socket" : "make build"
        )
    }

    private func devices(_ daemon: CaptureDaemon) async -> [Finding] {
        do throws(CaptureError) {
            let devices = try await CaptureDevice.devices(on: daemon)
            let cameras = devices.count { $0.mediaType == .video }
            let real = devices.filter { !$0.id.rawValue.hasPrefix("synthetic:") }
            let nodes = machine.captureNodes
            if real.isEmpty, !nodes.isEmpty, !isSystem, machine.exists(Lockdown.rule.place) {
                return [
                    .advice(
                        "devices",
                        "the machine is locked down: only the system's captured can open cameras and microphones",
                        "capturectl --bus system devices"
                    )
                ]
            }
            if real.isEmpty, !nodes.isEmpty {
                return [
                    .problem(
                        "devices",
                        "the kernel has \(Quantities.count(nodes.count, "capture node")), but the daemon lists no device",
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

    private func consent(_ daemon: CaptureDaemon, _ health: DaemonHealth) async -> [Finding] {
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
                            "\(program), as which the daemon sees this command, is denied \(service.title)",
                            "capturectl auth reset '\(program)' \(service.rawValue)"
                        )
                    )
                case .restricted:
                    findings.append(
                        .advice(
                            "consent",
                            "policy forbids \(program) \(service.title)",
                            "capturectl auth explain"
                        )
                    )
                default: continue
                }
            }
            return findings.isEmpty ? [.fine("consent", "the daemon sees this command as \(program)")] : findings
        } catch {
            return [consentFailure(error, health)]
        }
    }
}
