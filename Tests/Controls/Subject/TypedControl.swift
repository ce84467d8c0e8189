import CaptureKit

/// What was found of one control.
struct Row {
    let name: String
    var read = ""
    var set = ""
    var refused = ""
    /// Who made the changes that were told.
    var event = ""
    var restored = ""

    var cells: [String] { [name, read, set, refused, event, restored] }
    var isRight: Bool { cells.allSatisfy { !$0.isEmpty && !$0.contains("FAILED") } }
}

/// What a camera offers of a control.
struct Offer<Value: Sendable>: Sendable {
    /// As people write it.
    let text: String
    /// Values to set.
    let values: [Value]
    /// Values that must be refused; none if the type has no such values.
    var outside: [Value] = []
}

/// A typed control of `CaptureDevice`, and the control of V4L2's that it stands for.
protocol Walkable: Sendable {
    var name: String { get }
    var control: String { get }
    /// What others set, if not any other value: the value by which a mode lets the other controls be set by hand.
    var byHand: Int64? { get }
    /// Whether the camera has it.
    func isOffered(by camera: CaptureDevice) async throws -> Bool
    /// Reads it, sets it, tries what is out of range, and waits for the event.
    func walk(_ camera: CaptureDevice, _ changes: Changes, _ row: inout Row) async throws
}

struct TypedControl<Value: Hashable & Sendable>: Walkable {
    let name: String
    let control: String
    var byHand: Int64?
    /// `nil` if the camera does not have it.
    let offer: @Sendable (CaptureDevice) async throws -> Offer<Value>?
    let read: @Sendable (CaptureDevice) async throws -> Value?
    let write: @Sendable (CaptureDevice, Value) async throws -> Void

    func isOffered(by camera: CaptureDevice) async throws -> Bool { try await offer(camera) != nil }

    func walk(_ camera: CaptureDevice, _ changes: Changes, _ row: inout Row) async throws {
        guard let offer = try await offer(camera), let before = try await read(camera) else {
            row.read = "FAILED: it cannot be read"
            return
        }
        row.read = "\(before), \(offer.text)"
        guard let target = offer.values.first(where: { $0 != before }) else {
            row.set = "FAILED: there is no other value"
            return
        }
        let mark = changes.count
        try await write(camera, target)
        let now = try await read(camera)
        row.set = now == target ? "\(target)" : "FAILED: \(String(describing: now)) instead of \(target)"
        let raw = try await camera.controls().control(named: control)
        if let raw, await !changes.hasTold(control, raw.value, since: mark) {
            row.event += ", FAILED: no event of its own \(raw.value)"
        } else {
            row.event += ", own"
        }
        try await refuse(offer.outside, camera, raw, &row)
        let after = try await read(camera)
        if after != target { row.refused += ", FAILED: it is \(String(describing: after)) then" }
    }

    /// Tries what the type can say that is out of range, and what the daemon must refuse by itself.
    private func refuse(
        _ outside: [Value],
        _ camera: CaptureDevice,
        _ raw: DeviceControl?,
        _ row: inout Row
    ) async throws {
        var told: [String] = []
        for value in outside {
            told.append(
                try await isRefused { try await write(camera, value) } ? "\(value)" : "FAILED: \(value) is taken"
            )
        }
        for value in raw.map({ [$0.minimum - 1, $0.maximum + 1] }) ?? [] {
            let isRefused = try await isRefused { try await camera.setControl(control, to: value) }
            told.append(isRefused ? "raw \(value)" : "FAILED: raw \(value) is taken")
        }
        row.refused = told.joined(separator: ", ")
    }

    private func isRefused(_ change: () async throws -> Void) async throws -> Bool {
        do {
            try await change()
            return false
        } catch let error as CaptureError where error.code == .invalidArgument {
            return true
        }
    }
}
