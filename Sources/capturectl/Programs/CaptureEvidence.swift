import CaptureKit

/// By what a program is known to capture.
enum CaptureEvidence {
    /// Functions of a library that nothing but capturing calls, or capturing above all.
    struct Rule {
        /// The beginning of the library's name.
        let library: String
        let uses: [Bridge]
        /// Names of functions; with `*`, their beginning. Without any, whoever needs the library captures.
        let functions: [String]
    }

    private static func rule(_ library: String, _ uses: [Bridge], _ functions: String) -> Rule {
        Rule(library: library, uses: uses, functions: functions.split(separator: " ").map(String.init))
    }

    static let rules: [Rule] = [
        rule("libv4l2.so", [.v4l2], "v4l2_open v4l2_fd_open v4l2_ioctl"),
        rule("libv4l1.so", [.v4l2], "v4l1_open v4l1_ioctl"),
        rule("libasound.so", [.alsa], "snd_pcm_readi snd_pcm_readn snd_pcm_mmap_readi snd_pcm_mmap_readn"),
        rule("libpulse.so", [.pulse], "pa_stream_connect_record pa_stream_peek"),
        rule("libpulse-simple.so", [.pulse], "pa_simple_read"),
        rule("libpipewire-0.3.so", [.pipewire], "pw_stream_connect"),
        rule("libavdevice.so", [.v4l2, .alsa, .pulse], "avdevice_register_all"),
        rule("libportaudio.so", [.alsa], "Pa_OpenStream Pa_OpenDefaultStream"),
        rule("libopenal.so", [.pulse], "alcCaptureOpenDevice"),
        rule("libSDL2-2.0.so", [.pulse], "SDL_DequeueAudio"),
        rule("libSDL3.so", [.pipewire], "SDL_OpenCamera"),
        rule("libopencv_videoio.so", [.v4l2], "_ZN2cv12VideoCapture*"),
        rule("libsox.so", [.alsa], "sox_open_read"),
        rule("libcheese.so", [.v4l2], "cheese_camera_new"),
        rule("libQt5Multimedia.so", [.v4l2], "_ZN7QCameraC*"),
        rule("libQt5Multimedia.so", [.pulse], "_ZN11QAudioInputC* _ZN14QAudioRecorderC*"),
        rule("libQt6Multimedia.so", [.v4l2], "_ZN7QCameraC*"),
        rule("libQt6Multimedia.so", [.pulse], "_ZN12QAudioSourceC* _ZN11QAudioInputC*"),
    ]

    /// Libraries that capture for those who ask them to: needing one says nothing. What is in `rules` is among them.
    private static let servants = [
        "libSDL", "libgst", "libQt", "libpulse", "libjack", "libcanberra", "libvlc", "libmpv", "libwebkit",
        "libjavascriptcore",
        "libphonon", "libao.so", "libout123", "libpcaudio", "libespeak", "libflite", "libwine", "libopencv",
        "libcamera",
        "libspa", "libfluidsynth", "libmpg123", "libaudio.so", "libcheese", "libc.so", "libm.so", "libX", "libgtk",
        "libglib",
    ]

    /// Whether what a library does is not held against those who need it.
    static func isServant(_ library: String) -> Bool {
        servants.contains { library.hasPrefix($0) } || rules.contains { library.hasPrefix($0.library) }
    }

    /// The path of a capture node as programs have it that open one themselves.
    static let node = BytePattern("/dev/video")

    /// Names of GStreamer's elements that capture.
    static let elements: [(pattern: BytePattern, uses: Bridge)] = [
        (BytePattern("v4l2src"), .v4l2), (BytePattern("alsasrc"), .alsa), (BytePattern("pulsesrc"), .pulse),
        (BytePattern("autoaudiosrc"), .pulse), (BytePattern("pipewiresrc"), .pipewire),
        (BytePattern("autovideosrc"), .v4l2),
    ]

    /// What a script in Python or a shell says when it captures.
    static let words: [(pattern: BytePattern, uses: Bridge)] = [
        (BytePattern("/dev/video"), .v4l2), (BytePattern("import cv2"), .v4l2), (BytePattern("v4l2src"), .v4l2),
        (BytePattern("import pyaudio"), .alsa), (BytePattern("import sounddevice"), .alsa),
        (BytePattern("import alsaaudio"), .alsa),
        (BytePattern("pulsesrc"), .pulse), (BytePattern("pipewiresrc"), .pipewire),
    ]

    /// Programs that load what captures while they run, or are started by a script.
    static let known: [String: [Bridge]] = {
        let names: [(String, [Bridge])] = [
            (
                "firefox firefox-esr chromium chromium-browser google-chrome google-chrome-stable brave-browser",
                [.v4l2, .pulse]
            ),
            (
                "vivaldi vivaldi-stable opera microsoft-edge microsoft-edge-stable epiphany epiphany-browser",
                [.v4l2, .pulse]
            ),
            (
                "zoom teams teams-for-linux skypeforlinux discord slack signal-desktop telegram-desktop webex",
                [.v4l2, .pulse]
            ),
            ("obs vlc cvlc kamoso snapshot webcamoid", [.v4l2, .pulse]),
            ("gst-launch-1.0 gst-device-monitor-1.0", [.v4l2, .alsa, .pulse, .pipewire]),
            ("motion ustreamer mjpg_streamer fswebcam guvcview qv4l2", [.v4l2]), ("rec jackd", [.alsa]),
            ("audacity ardour", [.alsa]), ("gnome-sound-recorder pavucontrol", [.pulse]),
        ]
        return Dictionary(
            names.flatMap { names, uses in names.split(separator: " ").map { (String($0), uses) } },
            uniquingKeysWith: { first, _ in first }
        )
    }()

    /// Programs that capture for others.
    static let servers: Set<String> = [
        "pipewire", "pipewire-pulse", "pipewire-media-session", "wireplumber", "pulseaudio", "pipewire-aes67",
        "pipewire-avb",
    ]
}
