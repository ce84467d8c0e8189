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

    @Flag(help: "Show settings that change, as they do, until Ctrl-C. With names, only those.")
    var watch = false

    @OptionGroup var table: TableOptions

    @Argument(help: ArgumentHelp("Settings to show or change.", valueName: "name[=value]"), completion: .controls)
    var settings: [String] = []

    func validate() throws {
        if camera != nil, microphone != nil { throw ValidationError("give either --camera or --microphone, not both") }
        if watch, reset || settings.contains(where: { $0.contains("=") }) {
            throw ValidationError("--watch only shows settings; change them with another 'capturectl control'")
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
        if reset || !changes.isEmpty, settings.count == changes.count, !table.json { return }
        let names = settings.map { String($0.prefix { $0 != "=" }) }
        let controls = try await device.controls()
        let shown = names.isEmpty ? controls : try ControlSetting.find(names, among: controls)
        if table.json { return Output.print(JSON.array(shown.map(ControlPresentation.json))) }
        Output.print(ControlPresentation.table(shown), isWide: table.wide)
    }

    /// Prints each change until Ctrl-C.
    private func follow(_ device: CaptureDevice) async throws {
        let names = try await Set(ControlSetting.find(settings, among: device.controls()).map(\.name))
        let (lines, feed) = AsyncThrowingStream<String?, any Error>.makeStream()
        let interrupts = Interrupts { feed.yield(nil) }
        let changes = try await device.controlChanges()
        let json = table.json
        let listening = Task {
            do {
                for try await control in changes where names.isEmpty || names.contains(control.name) {
                    let text = ControlPresentation.change(control, at: Clock.now().clock)
                    feed.yield(json ? ControlPresentation.json(control).line : text)
                }
                feed.finish()
            } catch {
                feed.finish(throwing: error)
            }
        }
        defer {
            listening.cancel()
            withExtendedLifetime(interrupts) {}
        }
        for try await line in lines {
            guard let line else { return }
            Output.print(line)
        }
    }

    private func check(_ device: CaptureDevice) throws(CaptureError) {
        let wanted: MediaType = microphone == nil ? .video : .audio
        guard device.mediaType != wanted else { return }
        let kind = AuthorizationService(device.mediaType).rawValue
        throw CaptureError(.usage, "\(Printable.text(device.id.rawValue)) is a \(kind): give it with --\(kind)")
    }
}
