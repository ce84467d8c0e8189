import CALSA
import CaptureCore
import Glibc

/// A capture stream of alsa-lib, closed when the last reference goes.
///
/// Thread-safe in so far as alsa-lib is: one thread streams, and no other calls meanwhile.
@safe final class PCM: @unchecked Sendable {
    let handle: OpaquePointer
    let name: String

    /// Opens a stream by alsa-lib's name, without waiting for one that is in use.
    ///
    /// - Throws: The negative number of alsa-lib.
    init(_ name: String) throws(ALSAFailure) {
        _ = calsa_quiet()
        var opened: OpaquePointer?
        let code = unsafe snd_pcm_open(&opened, name, SND_PCM_STREAM_CAPTURE, Int32(SND_PCM_NONBLOCK))
        guard code >= 0, let opened = unsafe opened else { throw ALSAFailure("open \(name)", code) }
        unsafe handle = unsafe opened
        self.name = name
    }

    deinit { unsafe snd_pcm_close(handle) }

    /// Has waits last until so many sample frames are unread. Allowed while it streams.
    func setWakeUp(_ frames: snd_pcm_uframes_t) throws(ALSAFailure) {
        var made: OpaquePointer?
        guard unsafe snd_pcm_sw_params_malloc(&made) >= 0, let params = unsafe made else {
            throw ALSAFailure("set up \(name)", -ENOMEM)
        }
        defer { unsafe snd_pcm_sw_params_free(params) }
        unsafe try check("parameters") { unsafe snd_pcm_sw_params_current($0, params) }
        unsafe try check("wake-up") { unsafe snd_pcm_sw_params_set_avail_min($0, params, frames) }
        unsafe try check("parameters") { unsafe snd_pcm_sw_params($0, params) }
    }

    /// Makes a call on the stream and turns a negative answer into an error.
    @discardableResult
    func check(_ action: @autoclosure () -> String, _ call: (OpaquePointer) -> Int32) throws(ALSAFailure) -> Int32 {
        let code = unsafe call(handle)
        if code < 0 { throw ALSAFailure("\(action()) of \(name)", code) }
        return code
    }
}

/// What alsa-lib refused: its negative error number, which is the kernel's or one of its own.
struct ALSAFailure: Error {
    let action: String
    let errno: Int32

    init(_ action: String, _ code: Int32) {
        self.action = action
        errno = code < 0 ? -code : EINVAL
    }

    /// As in `open hw:1,0,0: Device or resource busy`.
    var text: String { unsafe "\(action): \(String(cString: snd_strerror(-errno)))" }
}

extension CaptureError {
    /// alsa-lib's refusal to open or set up a microphone, in words for a person.
    init(_ failure: ALSAFailure, opening name: String, _ address: PCMAddress) {
        switch failure.errno {
        case EBUSY: self = NodeHolders.busy(address.node, name)
        case ENOENT, ENODEV, ENXIO:
            self.init(.noSuchDevice, "\(name) is not there any more", errno: failure.errno)
        case EACCES, EPERM:
            self.init(
                .inputOutput,
                "\(name) cannot be opened: no permission for \(address.node)",
                errno: failure.errno
            )
        default:
            self.init(.inputOutput, "\(name) cannot be opened: \(failure.text)", errno: failure.errno)
        }
    }
}
