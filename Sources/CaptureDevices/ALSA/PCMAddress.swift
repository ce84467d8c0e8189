public import CaptureCore

/// Which of the kernel's capture streams: card, device and subdevice by number.
///
/// A description carries it as its alias `hw:CARD,DEVICE,SUBDEVICE`.
struct PCMAddress: Hashable, Sendable {
    var card: Int
    var device: Int
    var subdevice: Int

    init(card: Int, device: Int, subdevice: Int) {
        self.card = card
        self.device = device
        self.subdevice = subdevice
    }

    /// The address in a description's aliases; `nil` when there is none, as for a device of another kind.
    init?(_ description: DeviceDescription) {
        for alias in description.aliases where alias.hasPrefix("hw:") {
            let parts = alias.dropFirst(3).split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
            if parts.count == 3, let card = parts[0], let device = parts[1], let subdevice = parts[2] {
                self.init(card: card, device: device, subdevice: subdevice)
                return
            }
        }
        return nil
    }

    /// The name by which alsa-lib opens it without any conversion.
    var hardwareName: String { "hw:\(card),\(device),\(subdevice)" }

    /// The name by which alsa-lib opens it with conversion of format, rate and channels.
    var plugName: String { "plughw:\(card),\(device),\(subdevice)" }

    /// The kernel's node.
    var node: String { "/dev/snd/pcmC\(card)D\(device)c" }

    /// The names that people use: by number and by the card's id, the subdevice left out where it is the first.
    func aliases(cardID: String) -> [String] {
        let short = subdevice == 0 ? ["hw:\(card),\(device)", "hw:\(cardID),\(device)"] : []
        return short + [hardwareName, "hw:\(cardID),\(device),\(subdevice)"]
    }

    /// The stable id.
    ///
    /// - Parameter stableName: What stays the same over reboots: udev's name for the card, else the card's id.
    func id(stableName: String) -> DeviceID {
        DeviceID(rawValue: "alsa:\(stableName):\(device)" + (subdevice == 0 ? "" : ":\(subdevice)"))
    }
}

extension DeviceDescription {
    /// Whether it is one of a sound card's further subdevices: one microphone with the first, as people see it, and opened
    /// by who names it.
    public var isSubdevice: Bool { mediaType == .audio && PCMAddress(self).map { $0.subdevice > 0 } ?? false }
}
