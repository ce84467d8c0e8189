import CALSA
import CaptureCore
import CaptureSystem
import Glibc
import Synchronization

/// Asks the cards what can be recorded from. Reentrant.
enum CardProbe {
    /// A capture stream, as its card's control interface describes it.
    struct Stream: Hashable, Sendable {
        var address: PCMAddress
        var cardID: String
        var cardName: String
        var cardDriver: String
        var cardLongName: String
        var pcmName: String
        /// udev's name for the card, else its id.
        var stableName: String
        var place: DevicePlace
    }

    /// Held while this process asks a device what it offers. Whoever opens the device then finds it busy.
    static let asking = Mutex(())

    /// The most subdevices to list for a device; each is opened to ask what it offers.
    private static let mostSubdevices = 128

    /// The capture streams of every card that answers.
    static func streams() -> [Stream] {
        _ = calsa_quiet()
        var cards: [Int32] = []
        var next: Int32 = -1
        while unsafe snd_card_next(&next) >= 0, next > cards.last ?? -1 { cards.append(next) }
        let records = cards.reduce(into: [Int32: UdevRecord]()) {
            $0[$1] = UdevRecord(ofNode: "/dev/snd/controlC\($1)")
        }
        let names = lastingNames(records)
        var found: [Stream] = []
        // The name of a card whose rules have not run would change in a moment. udev's event follows.
        for card in cards where records[card]?.isSettled ?? true {
            // A card that went away meanwhile, or may not be opened, has no microphones for this process.
            var opened: OpaquePointer?
            guard unsafe snd_ctl_open(&opened, "hw:\(card)", Int32(SND_CTL_NONBLOCK)) >= 0, let control = unsafe opened
            else { continue }
            defer { unsafe snd_ctl_close(control) }
            found += unsafe streams(of: control, Int(card), names[card])
        }
        return found
    }

    private static func streams(of control: OpaquePointer, _ card: Int, _ lastingName: String?) -> [Stream] {
        var infoMade: OpaquePointer?
        var pcmMade: OpaquePointer?
        guard unsafe snd_ctl_card_info_malloc(&infoMade) >= 0, let info = unsafe infoMade else { return [] }
        defer { unsafe snd_ctl_card_info_free(info) }
        guard unsafe snd_pcm_info_malloc(&pcmMade) >= 0, let pcm = unsafe pcmMade else { return [] }
        defer { unsafe snd_pcm_info_free(pcm) }
        guard unsafe snd_ctl_card_info(control, info) >= 0 else { return [] }
        let cardID = unsafe text(snd_ctl_card_info_get_id(info))
        let model = Stream(
            address: PCMAddress(card: card, device: 0, subdevice: 0),
            cardID: cardID,
            cardName: unsafe text(snd_ctl_card_info_get_name(info)),
            cardDriver: unsafe text(snd_ctl_card_info_get_driver(info)),
            cardLongName: unsafe text(snd_ctl_card_info_get_longname(info)),
            pcmName: "",
            stableName: lastingName ?? cardID,
            place: DevicePlace(at: "/sys/class/sound/card\(card)")
        )
        var found: [Stream] = []
        var device: Int32 = -1
        var last: Int32 = -1
        while unsafe snd_ctl_pcm_next_device(control, &device) >= 0, device > last {
            last = device
            unsafe snd_pcm_info_set_device(pcm, UInt32(device))
            unsafe snd_pcm_info_set_subdevice(pcm, 0)
            unsafe snd_pcm_info_set_stream(pcm, SND_PCM_STREAM_CAPTURE)
            // A device that only plays has no capture side.
            guard unsafe snd_ctl_pcm_info(control, pcm) >= 0 else { continue }
            for subdevice in 0..<min(Int(unsafe snd_pcm_info_get_subdevices_count(pcm)), mostSubdevices) {
                var stream = model
                stream.address.device = Int(device)
                stream.address.subdevice = subdevice
                stream.pcmName = unsafe text(snd_pcm_info_get_name(pcm))
                found.append(stream)
            }
        }
        return found
    }

    /// A stream with the formats it offers; `nil` when it may not be opened or is gone. One in use has those that it offered
    /// before.
    static func describe(_ stream: Stream, before: DeviceDescription?) -> DeviceDescription? {
        var formats: [AudioFormatOption] = []
        do throws(ALSAFailure) {
            formats = try asking.withLock { _ throws(ALSAFailure) in try options(of: PCM(stream.address.hardwareName)) }
        } catch {
            guard error.errno == EBUSY || error.errno == EAGAIN else { return nil }
            formats = before?.audioFormats ?? []
        }
        let number = stream.address.subdevice
        let isNamed = stream.pcmName.isEmpty || stream.cardName.contains(stream.pcmName)
        return DeviceDescription(
            id: stream.address.id(stableName: stream.stableName),
            mediaType: .audio,
            name: stream.cardName + (isNamed ? "" : ": \(stream.pcmName)")
                + (number == 0 ? "" : ", subdevice \(number)"),
            aliases: stream.address.aliases(cardID: stream.cardID),
            driver: stream.cardDriver,
            bus: stream.cardLongName,
            deviceType: stream.place.type,
            position: stream.place.type == .external ? .external : .unspecified,
            audioFormats: formats
        )
    }

    private static func options(of pcm: PCM) throws(ALSAFailure) -> [AudioFormatOption] {
        var made: OpaquePointer?
        guard unsafe snd_pcm_hw_params_malloc(&made) >= 0, let params = unsafe made else { return [] }
        defer { unsafe snd_pcm_hw_params_free(params) }
        unsafe try pcm.check("parameters") { unsafe snd_pcm_hw_params_any($0, params) }
        var (lowest, highest, fewest, most): (UInt32, UInt32, UInt32, UInt32) = (0, 0, 0, 0)
        unsafe try pcm.check("rates") { _ in unsafe snd_pcm_hw_params_get_rate_min(params, &lowest, nil) }
        unsafe try pcm.check("rates") { _ in unsafe snd_pcm_hw_params_get_rate_max(params, &highest, nil) }
        unsafe try pcm.check("channels") { _ in unsafe snd_pcm_hw_params_get_channels_min(params, &fewest) }
        unsafe try pcm.check("channels") { _ in unsafe snd_pcm_hw_params_get_channels_max(params, &most) }
        var names: [String] = []
        for number in 0...SND_PCM_FORMAT_LAST.rawValue {
            let format = snd_pcm_format_t(rawValue: number)
            if unsafe snd_pcm_hw_params_test_format(pcm.handle, params, format) == 0,
                let name = unsafe snd_pcm_format_name(format)
            {
                unsafe names.append(String(cString: name))
            }
        }
        return [
            AudioFormatOption(
                sampleFormats: names,
                rates: Int(lowest)...Int(max(lowest, highest)),
                channels: Int(fewest)...Int(max(fewest, most))
            )
        ]
    }

    /// What udev calls each card for good; none for a card that it has no name for.
    private static func lastingNames(_ records: [Int32: UdevRecord]) -> [Int32: String] {
        let links = UdevRecord.uncontested(records.mapValues(\.links))
        return records.reduce(into: [:]) { names, entry in
            let link = UdevRecord.lasting(links[entry.key] ?? [], hasSerial: entry.value.hasSerial)
            names[entry.key] = link.map { String($0[$0.index(after: $0.lastIndex(of: "/") ?? $0.startIndex)...]) }
        }
    }

    private static func text(_ string: UnsafePointer<CChar>?) -> String {
        unsafe string.map { unsafe String(cString: $0) } ?? ""
    }
}
