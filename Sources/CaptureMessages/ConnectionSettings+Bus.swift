import CaptureBus
import CaptureCore

extension PropertyReader {
    /// `rotation` u (0), `mirrored` b (false), `channels` au (all), `gain` d (0).
    mutating func connectionSettings() throws(CaptureError) -> ConnectionSettings {
        var settings = ConnectionSettings()
        settings.rotation = try number("rotation", 0...Int(UInt32.max)) ?? 0
        settings.isMirrored = try flag("mirrored") ?? false
        if let value = take("channels") {
            let most = ConnectionSettings.mostChannels
            guard case .array(_, let elements) = value, elements.count <= most else {
                throw fault("channels", "at most \(most) numbers of channels, counted from 0")
            }
            for element in elements {
                guard let number = element.integer, let channel = Int(exactly: number) else {
                    throw fault("channels", "of type 'au'")
                }
                settings.channels.append(channel)
            }
        }
        if let value = take("gain") {
            guard let gain = value.number else { throw wrongType("gain", "a number of decibels", value) }
            settings.gain = gain
        }
        try settings.check()
        return settings
    }
}

extension ConnectionSettings {
    /// What is not as usual, beside the other keys of an output.
    var properties: [String: BusValue] {
        var values: [String: BusValue] = [:]
        if rotation != 0 { values["rotation"] = .uint32(UInt32(clamping: rotation)) }
        if isMirrored { values["mirrored"] = .bool(true) }
        if !channels.isEmpty { values["channels"] = .array("u", channels.map { .uint32(UInt32(clamping: $0)) }) }
        if gain != 0 { values["gain"] = .double(gain) }
        return values
    }
}
