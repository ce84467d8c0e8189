import CaptureCore
import CaptureDevices
import Synchronization

/// The profiles of all devices, and whether a device that is there has its values.
///
/// Thread-safe. What writes to a device or to the disk blocks.
final class DeviceProfiles: Sendable {
    private struct State {
        var profiles: [ProfileFile.Profile]
        /// Why the file on disk could not be used; `nil` once it has made way for a new one.
        var fault: String?
        /// Of the devices that were opened since they are there.
        var visits: [DeviceID: Visit] = [:]

        func values(of device: DeviceID) -> [String: Int64] {
            profiles.first { $0.device == device }?.values ?? [:]
        }
    }

    /// A device from its first opening until it leaves.
    private final class Visit: Sendable {
        /// Held while the device gets its values: others who open it wait for that.
        let hasValues = Mutex(false)
        /// Why it did not get some of them, by name.
        let faults = Mutex<[String: String]>([:])
    }

    /// How long the values of a profile may take. A device that is slower goes without the rest.
    private static let patience = Duration.seconds(5)

    private let file: ProfileFile
    private let complain: @Sendable (String) -> Void
    private let saving = Mutex(())
    private let state: Mutex<State>

    /// Reads the profiles. Blocks.
    ///
    /// - Parameter complain: Is told of profiles that are lost or set aside.
    init(
        _ file: ProfileFile,
        complain: @escaping @Sendable (String) -> Void = { Journal.send($0, priority: .warning) }
    ) {
        self.file = file
        self.complain = complain
        let (profiles, fault) = file.load()
        if let fault { Journal.send("no device has a profile: \(fault)", priority: .error) }
        state = Mutex(State(profiles: profiles, fault: fault))
    }

    /// Why no device has a profile; empty if the file could be used.
    var fault: String { state.withLock { $0.fault ?? "" } }

    /// Gives a device the values of its profile, if it is opened for the first time since it is there. Blocks.
    ///
    /// What cannot be written is left out, and the log says so.
    ///
    /// - Parameter settings: Called if there is something to write; the device is opened anyway.
    func apply(to device: DeviceID, _ settings: () throws(CaptureError) -> any DeviceSettings) {
        let (values, visit) = state.withLock { state in
            let visit = state.visits[device] ?? Visit()
            state.visits[device] = visit
            return (state.values(of: device), visit)
        }
        visit.hasValues.withLock { hasValues in
            guard !hasValues, !values.isEmpty else { return }
            do throws(CaptureError) {
                let faults = try settings().apply(values, until: .now + DeviceProfiles.patience)
                hasValues = true
                visit.faults.withLock { $0 = faults }
                for (name, fault) in faults.sorted(by: { $0.key < $1.key }) {
                    let wanted = "\(name)=\(values[name] ?? 0)"
                    Journal.send("\(device) does not get \(wanted) of its profile: \(fault)", priority: .warning)
                }
                Journal.send("\(device) has the values of its profile", priority: .info)
            } catch {
                // Whoever opens it next tries again.
                Journal.send("\(device) does not get the values of its profile: \(error.message)", priority: .warning)
            }
        }
    }

    /// What a profile holds, by name; empty without one.
    func settings(of device: DeviceID) -> [ProfileSetting] {
        let (values, visit) = state.withLock { ($0.values(of: device), $0.visits[device]) }
        let faults = visit?.faults.withLock { $0 } ?? [:]
        return values.sorted { $0.key < $1.key }.map {
            ProfileSetting(name: $0.key, value: $0.value, fault: faults[$0.key])
        }
    }

    /// Saves the values that a device has now. Blocks.
    ///
    /// - Parameters:
    ///   - values: By the controls' names.
    ///   - isWhole: Whether these are all, instead of being added to what there is.
    /// - Throws: `inputOutput`; the profile is then as before.
    func save(_ values: [String: Int64], of device: DeviceID, isWhole: Bool) throws(CaptureError) {
        try change(device) { $0 = isWhole ? values : $0.merging(values) { $1 } }
        let visit = state.withLock { $0.visits[device] }
        // It has these values.
        visit?.hasValues.withLock { $0 = true }
        visit?.faults.withLock { faults in faults = faults.filter { !isWhole && values[$0.key] == nil } }
    }

    /// Forgets settings of a profile. Blocks.
    ///
    /// - Parameter names: Empty for the whole profile.
    /// - Throws: `inputOutput`; the profile is then as before. `invalidArgument` for a name that it does not have.
    func forget(_ names: [String], of device: DeviceID) throws(CaptureError) {
        let known = settings(of: device).map(\.name)
        if let name = names.first(where: { !known.contains($0) }) {
            let all = known.isEmpty ? "has none" : "has \(known.joined(separator: ", "))"
            throw CaptureError(.invalidArgument, "the profile has no setting '\(name)'; it \(all)")
        }
        try change(device) { $0 = names.isEmpty ? [:] : $0.filter { !names.contains($0.key) } }
    }

    private func change(_ device: DeviceID, _ body: (inout [String: Int64]) -> Void) throws(CaptureError) {
        try saving.withLock { _ throws(CaptureError) in
            var profiles = state.withLock { $0.profiles }
            var values = profiles.first { $0.device == device }?.values ?? [:]
            body(&values)
            profiles.removeAll { $0.device == device }
            if !values.isEmpty { profiles.append(ProfileFile.Profile(device: device, values: values)) }
            if !fault.isEmpty {
                if let path = try file.moveAside() {
                    complain("the file of device profiles could not be used, and is now \(path)")
                }
                state.withLock { $0.fault = nil }
            }
            let kept = try file.save(profiles)
            state.withLock { $0.profiles = kept }
            let lost = profiles.dropLast(kept.count).map(\.device.rawValue)
            if !lost.isEmpty {
                complain("the file of device profiles is full: \(lost.joined(separator: ", ")) lost their profiles")
            }
        }
    }

    /// A device left. When it is back, it gets its values again.
    func deviceGone(_ device: DeviceID) {
        state.withLock { $0.visits[device] = nil }
    }
}
