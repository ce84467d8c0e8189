import ArgumentParser
import CaptureKit

struct ControlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "control",
        abstract: "Show and change a device's settings.",
        discussion: """
            Without names, shows all settings. NAME shows that one; NAME=VALUE changes it. NAME may also be V4L2's \
            number, as in 0x009a090a. The value of a menu is its number or its words; that of a crop is left, top and \
            size, as in crop=160,120,640x480. Asks for consent first, as a recording does.

            --save puts the present values into the device's profile; with names, only those. NAME=VALUE is changed \
            first. After the device is plugged in, or captured starts, the first program to use it finds these values. \
            The table shows them in a column of their own. --forget removes the profile; with names, only those. Both \
            count for every program and take your password.
            """
    )

    @OptionGroup var bus: BusOptions

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The camera, as 'devices' lists it. (default: the first)", valueName: "id"),
        completion: .cameras()
    )
    var camera: String?

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The microphone to use instead.", valueName: "id"),
        completion: .microphones()
    )
    var microphone: String?

    @Flag(help: "Reset every setting to the driver's default.")
    var reset = false

    @Flag(help: "Save the present values in the device's profile.")
    var save = false

    @Flag(help: "Forget the device's profile.")
    var forget = false

    @Flag(help: "Show settings that change, as they do, until Ctrl-C. With names, only those.")
    var watch = false

    @OptionGroup var table: TableOptions

    @Argument(help: ArgumentHelp("Settings to show or change.", valueName: "name[=value]"), completion: .controls)
    var settings: [String] = []

    func validate() throws {
        if camera != nil, microphone != nil { throw ValidationError("give either --camera or --microphone, not both") }
        if watch, reset || save || forget || settings.contains(where: { $0.contains("=") }) {
            throw ValidationError("--watch only shows settings; change them with another 'capturectl control'")
        }
        if [reset, save, forget].count(where: { $0 }) > 1 {
            throw ValidationError("give one of --reset, --save and --forget")
        }
        if forget, settings.contains(where: { $0.contains("=") }) {
            throw ValidationError("--forget takes names of settings, without values")
        }
        if reset, settings.contains(where: { !$0.contains("=") }) {
            throw ValidationError("--reset only goes with changes, as in --reset brightness=10")
        }
    }

    func run() async throws {
        try InputOptions.check(camera, "--camera")
        try InputOptions.check(microphone, "--microphone")
        let daemon = try await bus.connect()
        let device =
            if let id = camera ?? microphone {
                try await CaptureDevice.device(withID: id, on: daemon)
            } else {
                try await CaptureDevice.default(for: .video, on: daemon)
            }
        try check(device)
        // What is denied or restricted is told by the first look at the device.
        _ = try await InlineAgent.during(daemon) { () async throws(CaptureError) in
            try await AuthorizationPanel(on: daemon).requestAccess(to: [AuthorizationService(device.mediaType)])
        }
        if watch { return try await follow(device) }
        if reset { try await device.resetControls() }
        let changes = settings.filter { $0.contains("=") }
        if !changes.isEmpty {
            let controls = try await device.controls()
            // All are understood before the first is changed.
            let values = try changes.map { change throws(CaptureError) in try ControlSetting(change, among: controls) }
            for setting in values { try await device.setControl(setting.name, to: setting.value) }
        }
        let names = settings.map { String($0.prefix { $0 != "=" }) }
        if save || forget { try await changeProfile(of: device, names) }
        if !table.json, save || forget || (reset || !changes.isEmpty) && settings.count == changes.count { return }
        try await show(names, of: device)
    }

    private func show(_ names: [String], of device: CaptureDevice) async throws(CaptureError) {
        let controls = try await device.controls()
        let shown = try controls.isEmpty || names.isEmpty ? controls : ControlSetting.find(names, among: controls)
        let profile = try await device.profile()
        for setting in profile where names.isEmpty || shown.contains(where: { $0.name == setting.name }) {
            if let fault = ControlPresentation.fault(of: setting) { Output.message(fault) }
        }
        table.show(
            shown,
            { ControlPresentation.table($0, profile) },
            { ControlPresentation.json($0, among: profile) }
        )
    }

    /// Saves or forgets settings, or all of them if there are no names.
    private func changeProfile(of device: CaptureDevice, _ names: [String]) async throws(CaptureError) {
        let controls = names.isEmpty ? [] : try await device.controls()
        // A setting that the device does not have any more can be forgotten.
        let known = try names.map { name throws(CaptureError) in
            try save ? ControlSetting.find(name, among: controls).name : controls.control(named: name)?.name ?? name
        }
        let asRoot = ["control", device.mediaType == .video ? "--camera" : "--microphone", device.id.rawValue]
        let words = asRoot + [save ? "--save" : "--forget"] + known
        try await PasswordAgent.during(asRoot: words.map(ShellWord.quoted).joined(separator: " ")) {
            () async throws(CaptureError) in
            if save { try await device.saveProfile(known) } else { try await device.forgetProfile(known) }
        }
    }

    /// Prints each change until Ctrl-C.
    private func follow(_ device: CaptureDevice) async throws {
        let names = try await Set(ControlSetting.find(settings, among: device.controls()).map(\.name))
        let json = table.json
        try await Interrupts.cancelling { () async throws(CaptureError) in
            do {
                for try await control in try await device.controlChanges()
                where names.isEmpty || names.contains(control.name) {
                    let text = ControlPresentation.change(control, at: Clock.now().clock)
                    guard Output.print(json ? ControlPresentation.json(control).line : text) else { return }
                }
            } catch {
                if Task.isCancelled { return }
                throw error as? CaptureError ?? CaptureError(.internalFault, "\(error)")
            }
        }
    }

    private func check(_ device: CaptureDevice) throws(CaptureError) {
        let wanted: MediaType = microphone == nil ? .video : .audio
        guard device.mediaType != wanted else { return }
        let kind = AuthorizationService(device.mediaType).rawValue
        throw CaptureError(.usage, "\(Printable.text(device.id.rawValue)) is a \(kind): give it with --\(kind)")
    }
}
