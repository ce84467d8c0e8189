import CaptureKit
import Glibc

/// Turns captured's bridges on and off for the whole machine, and knows which of them `lockdown on` turned on.
///
/// Thread-bound; changing them is for root.
struct Bridges {
    /// What came of a change.
    struct Outcome {
        /// What was done, each in a sentence.
        var done: [String] = []
        /// What could not be done.
        var failures: [CaptureError] = []

        fileprivate mutating func run(_ step: () throws(CaptureError) -> String?) {
            do throws(CaptureError) {
                if let text = try step() { done.append(text) }
            } catch {
                failures.append(error)
            }
        }
    }

    static let libraryName = "/captured/libcaptured-v4l2.so"
    /// What names the plugin to ALSA.
    static let alsaType = "/etc/alsa/conf.d/50-captured.conf"
    static let alsaPlace = "/etc/alsa/conf.d/99-zz-captured-default.conf"
    /// The first words of that file.
    static let alsaMark = "# Has `default`, `sysdefault` and `plughw` capture through captured."
    static let unit = "captured-pipewire.service"
    private static let unitFolders = ["/etc/systemd/user", "/usr/local/lib/systemd/user", "/usr/lib/systemd/user"]

    let machine: Machine
    var tools: any BridgeTools = SystemTools(prefix: Lockdown.prefix)
    /// What captured is installed below.
    var prefix = Lockdown.prefix

    // MARK: How they are

    /// All bridges.
    ///
    /// - Parameter isLocked: Whether the lockdown is on.
    func states(isLocked: Bool) -> [BridgeState] {
        let record = self.record
        return [v4l2(record, isLocked), alsa(record, isLocked), pipeWire(record, isLocked)]
    }

    private func v4l2(_ record: BridgeRecord, _ isLocked: Bool) -> BridgeState {
        let named = preloaded
        let missing = named.first(where: isMissing)
        var state = BridgeState(
            bridge: .v4l2,
            isInstalled: !libraries.isEmpty,
            isOn: named.contains { !isMissing($0) },
            isByLockdown: record.library.map(named.contains) ?? false,
            place: PreloadList.place
        )
        if let missing {
            state.fault =
                "\(PreloadList.place) names \(missing), which is missing: every program prints an error as it starts"
            (state.isHarmful, state.remedy) = (true, Bridges.mending)
        } else {
            judge(&state, isRecorded: record.library != nil, isLocked)
        }
        return state
    }

    private func alsa(_ record: BridgeRecord, _ isLocked: Bool) -> BridgeState {
        let now = hash(of: Bridges.alsaPlace)
        var state = BridgeState(
            bridge: .alsa,
            isInstalled: hasALSA,
            isOn: now != nil,
            isByLockdown: now != nil && now == record.alsa,
            place: Bridges.alsaPlace
        )
        if state.isOn, !state.isInstalled {
            state.fault =
                "\(Bridges.alsaPlace) needs captured-alsa, which is missing: ALSA's default device does not work"
            (state.isHarmful, state.remedy) = (true, isOurs(record) ? Bridges.mending : "sudo rm \(Bridges.alsaPlace)")
        } else if state.isByLockdown, isLocked, now != hash(of: alsaTemplate) {
            (state.fault, state.remedy) = ("\(Bridges.alsaPlace) is from another version of captured", Bridges.mending)
        } else {
            judge(&state, isRecorded: record.alsa != nil, isLocked)
        }
        return state
    }

    private func pipeWire(_ record: BridgeRecord, _ isLocked: Bool) -> BridgeState {
        var state = BridgeState(
            bridge: .pipewire,
            isInstalled: hasPipeWire,
            isOn: isEnabled,
            isByLockdown: record.pipeWire && isEnabled,
            place: Bridges.unit
        )
        judge(&state, isRecorded: record.pipeWire, isLocked)
        return state
    }

    /// What the record says against what is.
    private func judge(_ state: inout BridgeState, isRecorded: Bool, _ isLocked: Bool) {
        guard isRecorded, state.isInstalled else { return }
        if isLocked, !state.isOn {
            (state.fault, state.remedy) = ("the lockdown turned it on, but it is off", Bridges.mending)
        } else if !isLocked, state.isByLockdown {
            (state.fault, state.remedy) = ("the lockdown turned it on, and is off itself", Bridges.mending)
        }
    }

    private static let mending = "sudo capturectl doctor --mend"

    /// What `lockdown on` turned on.
    var record: BridgeRecord { BridgeRecord(machine.text(of: BridgeRecord.place, limit: 1 << 14)) }

    /// The libraries of captured that are in `/etc/ld.so.preload`.
    private var preloaded: [String] {
        let list = (try? SystemFile(machine: machine, path: PreloadList.place).read())?.bytes ?? []
        return PreloadList(list).libraries.filter { $0.hasSuffix(Bridges.libraryName) }
    }

    /// Whether a library that is preloaded is not there; what ld.so(8) puts in for `$LIB` is not known here.
    private func isMissing(_ library: String) -> Bool { !library.contains("$") && !machine.exists(library) }

    /// The library, for each architecture.
    private var libraries: [String] {
        let architectures = machine.names(in: prefix + "/lib").filter { $0.contains("-linux-") }.map { "/lib/\($0)" }
        return (["/lib", "/lib64"] + architectures).map { prefix + $0 + Bridges.libraryName }.filter(machine.exists)
    }

    private var alsaTemplate: String { "\(prefix)/share/alsa/alsa.conf.d/99-zz-captured-default.conf" }

    /// Whether ALSA finds the plugin: where its configuration says, or else beside libasound.
    private var hasALSA: Bool {
        guard machine.exists(alsaTemplate) else { return false }
        let lines = machine.text(of: Bridges.alsaType, limit: 1 << 14).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("pcm_type.captured.lib ") }) else { return false }
        let words = line.split(separator: "\"")
        guard words.count > 1 else { return false }
        if words[1].hasPrefix("/") { return machine.exists(String(words[1])) }
        let folders =
            ["/usr/lib64", "/usr/lib"]
            + machine.names(in: "/usr/lib").filter { $0.contains("-linux-") }.map { "/usr/lib/\($0)" }
        return folders.contains {
            machine.exists($0 + "/libasound.so.2") && machine.exists("\($0)/alsa-lib/\(words[1])")
        }
    }

    /// Whether a file in ALSA's folder is what `lockdown on` put there, or what is installed.
    private func isOurs(_ record: BridgeRecord) -> Bool {
        let now = hash(of: Bridges.alsaPlace)
        return now != nil && (now == record.alsa || now == hash(of: alsaTemplate))
    }

    private var hasPipeWire: Bool {
        machine.exists("\(prefix)/libexec/captured-pipewire")
            && machine.exists("\(prefix)/lib/systemd/user/\(Bridges.unit)")
    }

    private var isEnabled: Bool {
        Bridges.unitFolders.contains { folder in
            machine.names(in: folder).contains { name in
                name.hasSuffix(".wants") && machine.link(at: "\(folder)/\(name)/\(Bridges.unit)") != nil
            }
        }
    }

    private func hash(of path: String) -> String? {
        guard let contents = try? SystemFile(machine: machine, path: path).read(), contents.exists else { return nil }
        return try? FileHash.digits(of: contents.bytes)
    }

    // MARK: Changing them

    /// Turns those on that are installed, one after the other, whatever becomes of the others. Idempotent.
    func turnOn() -> Outcome {
        var outcome = Outcome()
        outcome.run(preload)
        outcome.run(makeDefault)
        outcome.run(enable)
        return outcome
    }

    /// Turns those off that `turnOn` turned on. Idempotent.
    func turnOff() -> Outcome {
        var outcome = Outcome()
        outcome.run(takeOut)
        outcome.run(takeDefault)
        outcome.run(disable)
        return outcome
    }

    /// Takes back what harms, and makes the bridges as the record says.
    ///
    /// - Parameter isLocked: Whether the lockdown is on.
    func mend(isLocked: Bool) -> Outcome {
        let record = self.record
        var outcome = Outcome()
        outcome.run(takeMissing)
        outcome.run(takeOrphan)
        if !isLocked {
            let off = turnOff()
            return Outcome(done: outcome.done + off.done, failures: outcome.failures + off.failures)
        }
        if record.library != nil { outcome.run(preload) }
        if record.alsa != nil { outcome.run(makeDefault) }
        if record.pipeWire { outcome.run(enable) }
        return outcome
    }

    private func preload() throws(CaptureError) -> String? {
        guard !libraries.isEmpty, !preloaded.contains(where: { !isMissing($0) }) else { return nil }
        var reason: CaptureError?
        var loadable: String?
        for candidate in libraries where loadable == nil {
            do throws(CaptureError) {
                try check(candidate)
                loadable = candidate
            } catch { reason = reason ?? error }
        }
        guard let library = loadable else {
            throw reason ?? CaptureError(.internalFault, "there is no library to preload")
        }
        let file = SystemFile(machine: machine, path: PreloadList.place)
        let before = try file.read()
        var list = PreloadList(before.bytes)
        list.add(library)
        var record = record
        (record.library, record.madePreloadList) = (library, !before.exists)
        record.wasOpen = PreloadList(before.bytes).isOpen
        try noting(record) { () throws(CaptureError) in try file.write(list.bytes, over: before) }
        return "V4L2: \(PreloadList.place) now has every program load \(library) as it starts"
    }

    /// It will be in every process, those of root among them: nobody else may write it, and it has to load.
    private func check(_ library: String) throws(CaptureError) {
        guard PreloadList.canName(library) else {
            throw CaptureError(.badData, "\(PreloadList.place) cannot name \(library); install captured elsewhere")
        }
        var path = ""
        for part in library.split(separator: "/") {
            path += "/" + part
            var facts = stat()
            guard unsafe stat(machine.root + path, &facts) == 0 else {
                throw CaptureError(.unreachable, "\(path) is missing")
            }
            let isOthers = facts.st_mode & 0o002 != 0 || facts.st_mode & 0o020 != 0 && facts.st_gid != 0
            guard facts.st_uid == 0 || facts.st_uid == geteuid(), !isOthers else {
                throw CaptureError(
                    .notPermitted,
                    "\(path) can be written by others than root, so it is not put into all programs"
                )
            }
        }
        try tools.tryLoading(machine.root + library)
    }

    private func takeOut() throws(CaptureError) -> String? {
        guard let library = record.library else { return nil }
        let file = SystemFile(machine: machine, path: PreloadList.place)
        let before = try file.read()
        var list = PreloadList(before.bytes)
        let wasThere = list.remove(library, wasOpen: record.wasOpen)
        if wasThere {
            if list.bytes.isEmpty, record.madePreloadList {
                try file.remove()
            } else {
                try file.write(list.bytes, over: before)
            }
        }
        var record = self.record
        (record.library, record.madePreloadList, record.wasOpen) = (nil, false, false)
        try write(record)
        return wasThere ? "V4L2: \(PreloadList.place) no longer names \(library)" : nil
    }

    /// Takes libraries out that are not there, whoever put them in: every program tells of them.
    private func takeMissing() throws(CaptureError) -> String? {
        let missing = preloaded.filter(isMissing)
        if missing.isEmpty { return nil }
        let file = SystemFile(machine: machine, path: PreloadList.place)
        let before = try file.read()
        var list = PreloadList(before.bytes)
        for library in missing { list.remove(library, wasOpen: library == record.library && record.wasOpen) }
        if list.bytes.isEmpty { try file.remove() } else { try file.write(list.bytes, over: before) }
        return "V4L2: \(PreloadList.place) no longer names \(missing.joined(separator: ", ")), which is missing"
    }

    private func makeDefault() throws(CaptureError) -> String? {
        guard hasALSA else { return nil }
        let template = try SystemFile(machine: machine, path: alsaTemplate).read()
        let file = SystemFile(machine: machine, path: Bridges.alsaPlace)
        let before = try file.read()
        let former = record
        let fresh = try FileHash.digits(of: template.bytes)
        // A person's own stays.
        if before.exists {
            let now = try FileHash.digits(of: before.bytes)
            if now == fresh || now != former.alsa { return nil }
        }
        guard String(decoding: template.bytes, as: UTF8.self).hasPrefix(Bridges.alsaMark) else {
            throw CaptureError(.badData, "\(alsaTemplate) is not captured's file; reinstall captured")
        }
        var record = former
        record.alsa = fresh
        try noting(record) { () throws(CaptureError) in try file.write(template.bytes, over: before) }
        return "ALSA: default, sysdefault and plughw capture through captured, by \(Bridges.alsaPlace)"
    }

    private func takeDefault() throws(CaptureError) -> String? {
        guard let hash = record.alsa else { return nil }
        let now = self.hash(of: Bridges.alsaPlace)
        if now == hash { try SystemFile(machine: machine, path: Bridges.alsaPlace).remove() }
        var record = self.record
        record.alsa = nil
        try write(record)
        if now == hash { return "ALSA: \(Bridges.alsaPlace) is removed" }
        return now == nil ? nil : "ALSA: \(Bridges.alsaPlace) stays, because somebody changed it"
    }

    /// Removes the default that leads to a plugin that is not there.
    private func takeOrphan() throws(CaptureError) -> String? {
        guard !hasALSA, isOurs(record) else { return nil }
        try SystemFile(machine: machine, path: Bridges.alsaPlace).remove()
        return "ALSA: \(Bridges.alsaPlace) is removed, because captured-alsa is missing"
    }

    private func enable() throws(CaptureError) -> String? {
        guard hasPipeWire, !isEnabled else { return nil }
        var record = record
        record.pipeWire = true
        try noting(record) { () throws(CaptureError) in try tools.enable(Bridges.unit) }
        return "PipeWire: \(Bridges.unit) runs for everybody"
    }

    /// Changes something that the record has to tell of: the record first, so that nothing is ever there that nobody takes
    /// back. After a failure the record is as before.
    private func noting(_ record: BridgeRecord, _ change: () throws(CaptureError) -> Void) throws(CaptureError) {
        let former = self.record
        try write(record)
        do throws(CaptureError) {
            try change()
        } catch let failure {
            do throws(CaptureError) {
                try write(former)
            } catch {
                let left = "\(BridgeRecord.place) still tells of it: \(error.message)"
                throw CaptureError(failure.code, "\(failure.message); \(left)")
            }
            throw failure
        }
    }

    private func disable() throws(CaptureError) -> String? {
        guard record.pipeWire else { return nil }
        let wasOn = isEnabled
        if wasOn { try tools.disable(Bridges.unit) }
        var record = self.record
        record.pipeWire = false
        try write(record)
        return wasOn ? "PipeWire: \(Bridges.unit) runs no longer" : nil
    }

    private func write(_ record: BridgeRecord) throws(CaptureError) {
        let file = SystemFile(machine: machine, path: BridgeRecord.place)
        if record.isEmpty { try file.remove() } else { try file.write(Array(record.text.utf8)) }
    }
}
