import CaptureCore

/// What stands between the streams and the output.
struct Passing {
    let pauses: PauseClock
    let gate: ConnectionGate
    /// The format of the sound.
    let format: AudioFormat?
    let sound: SoundPassage?

    /// Silences sound that its connection keeps back, makes it as loud as it is to be, and measures it.
    func prepare(audio buffer: MediaBuffer) {
        if let format { gate.silence(buffer, format) }
        sound?.take(buffer)
    }
}
