import CaptureBus
package import CaptureCore

extension SavedOutput: BusRecord {
    /// What `OutputSaved` tells, and of a recording that was kept `SaveKept`.
    package static let fields: [BusField<SavedOutput>] = [
        BusField("id", \.asset), BusField("album", \.album), BusField("remark", \.remark),
    ]

    /// One of which nothing is known.
    package init() { self.init(asset: nil) }
}

extension KeptRecording: BusRecord {
    /// What `ListKept` tells.
    package static let fields: [BusField<KeptRecording>] = [
        BusField("id", \.id, isRequired: true), BusField("program", \.program), BusField("started", \.started),
        BusField("size", \.size), BusField("name", \.name), BusField("device", \.device), BusField("album", \.album),
        BusField("reason", \.reason),
    ]
}

extension KeptOutcome: BusRecord {
    /// What `SaveKept` brings for each.
    package static let fields: [BusField<KeptOutcome>] = [
        BusField("kept", \.id), BusField("error", \.code), BusField("message", \.sentence), BusField(among: \.saved),
    ]

    /// The code of the error, if there is one.
    private var code: String? {
        get { error?.code.rawValue }
        set { if let newValue { result = .failure(CaptureError(.init(rawValue: newValue), "")) } }
    }

    private var sentence: String? {
        get { error?.message }
        set { if let error, let newValue { result = .failure(CaptureError(error.code, newValue)) } }
    }

    /// What came of it, unless it failed.
    private var saved: SavedOutput? {
        get { try? result.get() }
        set { if error == nil, let newValue { result = .success(newValue) } }
    }

    private var error: CaptureError? {
        if case .failure(let error) = result { error } else { nil }
    }
}
