extension VideoFormat {
    /// Whether the format is what was asked for, as far as it was said.
    package func fulfils(_ request: VideoFormatRequest) -> Bool {
        (request.pixelFormat == nil || request.pixelFormat == pixelFormat)
            && (request.width == nil || request.width == width) && (request.height == nil || request.height == height)
            && (request.framesPerSecond.map { abs($0 - interval.framesPerSecond) < 0.01 } ?? true)
    }
}

extension AudioFormat {
    /// Whether the format is what was asked for, as far as it was said.
    package func fulfils(_ request: AudioFormatRequest) -> Bool {
        (request.sampleFormat == nil || request.sampleFormat == sampleFormat)
            && (request.sampleRate == nil || request.sampleRate == sampleRate)
            && (request.channels == nil || request.channels == channels)
    }
}
