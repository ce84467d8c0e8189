import ArgumentParser
import CaptureKit

struct ControlCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "control",
        abstract: "Show and change a device's settings.",
        discussion: """
            Without names all settings are shown, with NAME that one; NAME=VALUE changes it, where the value of a menu \
            may be its number or its words. Takes a stored yes for that kind of device.
            """
    )

    @OptionGroup var bus: BusOptions

    @Option(help: ArgumentHelp("The camera, as 'devices' lists it. (default: the first)", valueName: "id"))
    var camera: String?

    @Option(help: ArgumentHelp("A microphone instead.", valueName: "id"))
    var microphone: String?

    @Flag(help: "Put every setting back to the driver's own value.")
    var reset = false

    @Flag(help: "Print JSON.")
    var json = false

    @Argument(help: ArgumentHelp("Settings to show or to change.", valueName: "name[=value]"))
    var settings: [String] = []

    func validate() throws {
        if camera != nil, microphone != nil { throw ValidationError("--camera and --microphone exclude each other") }
        if reset, settings.contains(where: { !$0.contains("=") }) {
            throw ValidationError("--reset goes with changes alone, as in --reset brightness=10")
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
        if reset { try await device.resetControls() }
        let changes = settings.filter { $0.contains("=") }
        if !changes.isEmpty {
            let controls = try await device.controls()
            // All are understood before the first is changed.
            let values = try changes.map { change throws(CaptureError) in try ControlSetting(change, among: controls) }
            for setting in values { try await device.setControl(setting.name, to: setting.value) }
        }
        if reset || !changes.isEmpty, settings.count == changes.count, !json { return }
        let names = settings.map { String($0.prefix { $0 != "=" }) }
        let controls = try await device.controls()
        let shown =
            try names.isEmpty
            ? controls
            : names.map { name throws(CaptureError) in
                try ControlSetting.find(name, among: controls)
            }
        if json { return Output.print(JSON.array(shown.map(ControlPresentation.json))) }
        Output.print(ControlPresentation.table(shown))
    }

    private func check(_ device: CaptureDevice) throws(CaptureError) {
        let wanted: MediaType = microphone == nil ? .video : .audio
        guard device.mediaType != wanted else { return }
        let kind = AuthorizationService(device.mediaType).rawValue
        throw CaptureError(.usage, "\(Printable.text(device.id.rawValue)) is a \(kind): give it with --\(kind)")
    }
}
