import CaptureCore

/// A media format in a ring's header.
extension RingLayout {
    /// The bytes a slot needs, after checking every number of the format.
    ///
    /// - Throws: An error of `code`, naming the field.
    static func checkedSlotSize(of format: MediaFormat, _ code: CaptureError.Code) throws(CaptureError) -> Int {
        func check(_ field: String, _ value: Int, _ range: ClosedRange<Int>) throws(CaptureError) {
            guard range.contains(value) else {
                throw CaptureError(code, "a ring's \(field) cannot be \(value)")
            }
        }
        switch format {
        case .video(let video):
            try check("width", video.width, 1...65536)
            try check("height", video.height, 1...65536)
            try check("plane count", video.planes.count, 1...Video.mostPlanes)
            for (index, plane) in video.planes.enumerated() {
                try check("plane \(index) offset", plane.offset, 0...mostBytes)
                try check("plane \(index) stride", plane.stride, 0...Int(Int32.max))
                try check("plane \(index) size", plane.size, 1...Int(UInt32.max))
            }
        case .audio(let audio):
            try check("sample rate", audio.sampleRate, 1...10_000_000)
            try check("number of channels", audio.channels, 1...1024)
            try check("period", audio.periodFrames, 1...1_000_000)
        case .metadata(let metadata):
            try check("capacity", metadata.capacity, 1...MetadataFormat.mostBytes)
        }
        return format.slotSize
    }
}

extension MediaFormat {
    /// Writes the format into a new ring's header.
    func write(to memory: RingMemory) {
        switch self {
        case .video(let video):
            typealias Field = RingLayout.Video
            memory.storeRelaxed32(RingLayout.Header.kind, 1)
            memory.storeRelaxed32(Field.pixelFormat, video.pixelFormat.rawValue)
            memory.storeRelaxed32(Field.width, UInt32(video.width))
            memory.storeRelaxed32(Field.height, UInt32(video.height))
            memory.storeRelaxed32(Field.intervalNumerator, video.interval.numerator)
            memory.storeRelaxed32(Field.intervalDenominator, video.interval.denominator)
            memory.storeRelaxed32(Field.colorSpace, video.color.colorSpace)
            memory.storeRelaxed32(Field.transfer, video.color.transfer)
            memory.storeRelaxed32(Field.encoding, video.color.encoding)
            memory.storeRelaxed32(Field.quantization, video.color.quantization)
            memory.storeRelaxed32(Field.fields, video.fields.rawValue)
            memory.storeRelaxed32(Field.planeCount, UInt32(video.planes.count))
            for (index, plane) in video.planes.enumerated() {
                let place = Field.plane(index)
                memory.storeRelaxed64(place.offset, UInt64(plane.offset))
                memory.storeRelaxed64(place.stride, UInt64(plane.stride))
                memory.storeRelaxed64(place.size, UInt64(plane.size))
            }
        case .audio(let audio):
            typealias Field = RingLayout.Audio
            memory.storeRelaxed32(RingLayout.Header.kind, 2)
            memory.storeRelaxed32(Field.sampleFormat, audio.sampleFormat.code)
            memory.storeRelaxed32(Field.sampleRate, UInt32(audio.sampleRate))
            memory.storeRelaxed32(Field.channels, UInt32(audio.channels))
            memory.storeRelaxed32(Field.periodFrames, UInt32(audio.periodFrames))
        case .metadata(let metadata):
            typealias Field = RingLayout.Metadata
            memory.storeRelaxed32(RingLayout.Header.kind, 3)
            memory.storeRelaxed32(Field.code, metadata.code.rawValue)
            memory.storeRelaxed32(Field.capacity, UInt32(metadata.capacity))
        }
    }

    /// The format that a ring's header claims, checked to fit its slots.
    ///
    /// - Throws: `CaptureError.Code.badData`, naming the field.
    init(reading memory: RingMemory, slotStride: Int) throws(CaptureError) {
        switch memory.loadRelaxed32(RingLayout.Header.kind) {
        case 1: self = .video(try MediaFormat.video(in: memory))
        case 2: self = .audio(try MediaFormat.audio(in: memory))
        case 3:
            typealias Field = RingLayout.Metadata
            self = .metadata(
                MetadataFormat(
                    code: PixelFormat(rawValue: memory.loadRelaxed32(Field.code)),
                    capacity: Int(memory.loadRelaxed32(Field.capacity))
                )
            )
        case let kind: throw RingLayout.bad("kind", kind)
        }
        let size = try RingLayout.checkedSlotSize(of: self, .badData)
        guard size <= slotStride else { throw RingLayout.bad("slot stride", slotStride) }
    }

    private static func video(in memory: RingMemory) throws(CaptureError) -> VideoFormat {
        typealias Field = RingLayout.Video
        let count = memory.loadRelaxed32(Field.planeCount)
        guard (1...UInt32(Field.mostPlanes)).contains(count) else { throw RingLayout.bad("plane count", count) }
        func bytes(_ offset: Int, _ name: String) throws(CaptureError) -> Int {
            let raw = memory.loadRelaxed64(offset)
            guard let value = Int(exactly: raw), value <= RingLayout.mostBytes else { throw RingLayout.bad(name, raw) }
            return value
        }
        var planes: [PlaneLayout] = []
        for index in 0..<Int(count) {
            let place = Field.plane(index)
            planes.append(
                PlaneLayout(
                    offset: try bytes(place.offset, "plane \(index) offset"),
                    stride: try bytes(place.stride, "plane \(index) stride"),
                    size: try bytes(place.size, "plane \(index) size")
                )
            )
        }
        let denominator = memory.loadRelaxed32(Field.intervalDenominator)
        guard denominator > 0 else { throw RingLayout.bad("interval denominator", denominator) }
        let order = memory.loadRelaxed32(Field.fields)
        guard let fields = FieldOrder(rawValue: order) else { throw RingLayout.bad("fields", order) }
        return VideoFormat(
            pixelFormat: PixelFormat(rawValue: memory.loadRelaxed32(Field.pixelFormat)),
            width: Int(memory.loadRelaxed32(Field.width)),
            height: Int(memory.loadRelaxed32(Field.height)),
            interval: FrameInterval(memory.loadRelaxed32(Field.intervalNumerator), denominator),
            planes: planes,
            color: ColorDescription(
                colorSpace: memory.loadRelaxed32(Field.colorSpace),
                transfer: memory.loadRelaxed32(Field.transfer),
                encoding: memory.loadRelaxed32(Field.encoding),
                quantization: memory.loadRelaxed32(Field.quantization)
            ),
            fields: fields
        )
    }

    private static func audio(in memory: RingMemory) throws(CaptureError) -> AudioFormat {
        typealias Field = RingLayout.Audio
        let code = memory.loadRelaxed32(Field.sampleFormat)
        guard let sampleFormat = SampleFormat(code: code) else { throw RingLayout.bad("sample format", code) }
        return AudioFormat(
            sampleFormat: sampleFormat,
            sampleRate: Int(memory.loadRelaxed32(Field.sampleRate)),
            channels: Int(memory.loadRelaxed32(Field.channels)),
            periodFrames: Int(memory.loadRelaxed32(Field.periodFrames))
        )
    }
}
