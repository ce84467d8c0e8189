import CaptureKit

/// What happens on the machine, as lines.
enum EventPresentation {
    static func text(_ event: DaemonEvent, at time: Clock.Moment) -> String {
        let words =
            switch event {
            case .deviceAdded(let device):
                "\(DevicePresentation.kind(device)) came: \(device.id) \(device.name)"
            case .deviceRemoved(let id): "device gone: \(id)"
            case .sessionAdded(let id): "session \(id) was created"
            case .sessionChanged(let id, let status):
                "session \(id) is \(status.state.rawValue)" + (status.reason.map { ": \($0.message)" } ?? "")
            case .outputFinished(let id, let result):
                "session \(id), output \(result.name) is finished" + (result.error.map { ": \($0.message)" } ?? "")
            case .sessionRemoved(let id): "session \(id) is no longer listed"
            case .useChanged(let use): UsePresentation.sentence(use)
            case .consentChanged(let user, let program, let service, let status):
                "consent of \(user) for \(program) to \(service): \(status?.word ?? "unknown")"
            case .daemonAppeared: "the daemon is here"
            case .daemonVanished: "the daemon is gone"
            }
        return "\(time.clock)  \(Printable.text(words, limit: 1000))"
    }

    static func json(_ event: DaemonEvent, at time: Clock.Moment) -> JSON {
        func add(_ name: String, _ facts: JSON = [:]) -> JSON {
            (["time": .time(seconds: time.seconds), "event": JSON(name)] as JSON).with(facts)
        }
        switch event {
        case .deviceAdded(let device): return add("deviceAdded", DevicePresentation.json(device))
        case .deviceRemoved(let id): return add("deviceRemoved", ["id": JSON(id.rawValue)])
        case .sessionAdded(let id): return add("sessionAdded", ["session": .id(id)])
        case .sessionChanged(let id, let status):
            return add(
                "sessionChanged",
                [
                    "session": .id(id), "state": JSON(status.state.rawValue),
                    "reasonCode": JSON(status.reason?.code.rawValue), "reason": JSON(status.reason?.message),
                ]
            )
        case .outputFinished(let id, let result):
            return add(
                "outputFinished",
                [
                    "session": .id(id), "output": JSON(result.name),
                    "reasonCode": JSON(result.error?.code.rawValue), "reason": JSON(result.error?.message),
                    "statistics": SessionPresentation.json(result.statistics),
                ]
            )
        case .sessionRemoved(let id): return add("sessionRemoved", ["session": .id(id)])
        case .useChanged(let use): return add("useChanged", UsePresentation.json(use))
        case .consentChanged(let user, let program, let service, let status):
            return add(
                "consentChanged",
                [
                    "user": JSON(user), "program": JSON(program), "service": JSON(service),
                    "status": JSON(status?.word),
                ]
            )
        case .daemonAppeared: return add("daemonAppeared")
        case .daemonVanished: return add("daemonVanished")
        }
    }
}
