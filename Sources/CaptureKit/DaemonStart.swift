import CaptureBus
import CaptureCore
import CaptureSystem

/// Starts the daemon's service, and finds out within a second if it does not start.
///
/// The bus reports a service that is missing or masked at once. It does not report one that fails: a call then waits for
/// its time limit. So the service's unit is watched meanwhile.
struct DaemonStart: Sendable {
    /// The unit that the bus starts.
    private static let unit = "captured.service"
    private static let manager = "org.freedesktop.systemd1"
    /// How often to check the unit.
    private static let interval = Duration.milliseconds(100)

    let connection: BusConnection
    /// Whether the daemon is a systemd unit, as on the system bus.
    let isUnit: Bool

    /// Makes sure that the daemon has its name on the bus.
    ///
    /// - Throws: `unreachable` if it does not start.
    func run() async throws(CaptureError) {
        if try await isRunning() { return }
        let (results, feed) = AsyncStream<CaptureError?>.makeStream()
        let asked = Timestamp.now
        let starting = Task {
            // For 25 s, the bus waits for a start that failed, and asks systemd for no other. Then it is asked anew.
            let tries = isUnit ? 1 + Int((25 / (CaptureDaemon.timeout ?? 25)).rounded(.up)) : 1
            for number in 1...tries {
                do throws(CaptureError) {
                    _ = try await connection.askBus(
                        "StartServiceByName",
                        signature: "su",
                        [.string(CaptureNames.service), .uint32(0)],
                        timeout: CaptureDaemon.timeout
                    )
                    feed.yield(nil)
                    return
                } catch {
                    // The bus knows that it gave up; the unit knows why.
                    let state = isUnit ? await state(since: asked) : nil
                    let fault = state?.failure.map(DaemonStart.fault)
                    // What systemd has tried is asked for twice.
                    let isLast = number == tries || number > 1 && state?.wasTried != false
                    guard isLast || fault != nil else { continue }
                    feed.yield(fault ?? CaptureError(.unreachable, error.message, errno: error.errno))
                    return
                }
            }
        }
        let watching = Task {
            if isUnit, let fault = await failure(since: asked) { feed.yield(fault) }
        }
        defer {
            starting.cancel()
            watching.cancel()
        }
        if let fault = await results.first(where: { _ in true }) ?? nil { throw fault }
    }

    private func isRunning() async throws(CaptureError) -> Bool {
        let answer = try await connection.askBus(
            "NameHasOwner",
            signature: "s",
            [.string(CaptureNames.service)],
            timeout: CaptureDaemon.timeout
        )
        return answer.first?.boolean == true
    }

    /// Why the unit does not start; `nil` if it does, or if nobody waits any more.
    private func failure(since asked: Timestamp) async -> CaptureError? {
        // Between two tries a unit is down for a moment, so it has to be seen down twice.
        var wasDown = false
        while true {
            do { try await Task.sleep(for: DaemonStart.interval) } catch { return nil }
            // A busy systemd answers late, and is asked again.
            guard let state = await state(since: asked) else { continue }
            if state.isUp { return nil }
            if let why = state.failure, wasDown { return DaemonStart.fault(why) }
            wasDown = state.failure != nil
        }
    }

    private static func fault(_ why: String) -> CaptureError {
        CaptureError(.unreachable, "the capture daemon does not start: \(unit) \(why)")
    }

    /// What systemd says about the unit; `nil` if it says nothing now.
    private func state(since asked: Timestamp) async -> UnitState? {
        do throws(CaptureError) {
            return UnitState(try await properties("Unit"), try await properties("Service"), since: asked)
        } catch {
            return nil
        }
    }

    private func properties(_ interface: String) async throws(CaptureError) -> [String: BusValue] {
        try await connection.call(
            DaemonStart.manager,
            "/org/freedesktop/systemd1/unit/captured_2eservice",
            CaptureNames.properties,
            "GetAll",
            signature: "s",
            [.string("\(DaemonStart.manager).\(interface)")],
            timeout: 1,
            startsService: false
        ).first?.properties ?? [:]
    }
}

/// What systemd says about a unit that should start.
struct UnitState {
    /// Whether it runs.
    let isUp: Bool
    /// Whether systemd has tried to start it since the bus was asked.
    let wasTried: Bool
    /// Why it does not start, in words that follow its name; `nil` while it still may.
    let failure: String?

    /// - Parameters:
    ///   - unit: The properties of the unit.
    ///   - service: Those of the service.
    ///   - asked: When the bus was asked to start it. For 25 s after a start that failed, the bus does not ask systemd again.
    init?(_ unit: [String: BusValue], _ service: [String: BusValue], since asked: Timestamp) {
        guard let load = unit["LoadState"]?.text, let active = unit["ActiveState"]?.text else {
            return nil
        }
        isUp = ["active", "reloading"].contains(active)
        // systemd notes this time when it begins to start a unit.
        wasTried = unit["ConditionTimestampMonotonic"]?.unsigned ?? 0 >= UInt64(max(asked.nanoseconds, 0)) / 1000
        if load == "masked" {
            failure = "is masked"
        } else if load != "loaded" {
            failure = load == "not-found" ? "is not installed" : "cannot be read (\(load))"
        } else {
            let result = service["Result"]?.text ?? ""
            let why = ["", "success"].contains(result) ? "ended at once" : "failed (\(result))"
            // A unit that was up and crashed is restarted, and may come up.
            let began = service["ExecMainStartTimestampMonotonic"]?.unsigned ?? 0
            let wasUp = (unit["ActiveEnterTimestampMonotonic"]?.unsigned ?? 0) >= began
            let isBetweenTries = unit["SubState"]?.text == "auto-restart" && !wasUp
            let isDown = (active == "failed" || active == "inactive" && wasTried) && !UnitState.hasJob(unit)
            failure = isBetweenTries || isDown ? why : nil
        }
    }

    /// Whether systemd is about to start or stop it.
    private static func hasJob(_ unit: [String: BusValue]) -> Bool {
        guard case .structure(let fields)? = unit["Job"] else { return false }
        return fields.first?.unsigned ?? 0 != 0
    }
}
