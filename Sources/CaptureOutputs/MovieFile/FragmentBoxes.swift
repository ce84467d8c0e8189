import MediaExamination

/// What a fragment's samples are when their run does not say.
struct FragmentDefaults {
    var duration: UInt32 = 0
    var size: UInt32 = 0
    var flags: UInt32 = 0

    /// The values of a `tfhd` in the place of those of `trex`.
    func replaced(by head: [UInt8]) -> FragmentDefaults {
        var values = self
        let present = head.number(at: 0, UInt32.self) & 0xffffff
        var at = 8
        if present & 0x1 != 0 { at += 8 }
        if present & 0x2 != 0 { at += 4 }
        if present & 0x8 != 0 {
            values.duration = head.number(at: at, UInt32.self)
            at += 4
        }
        if present & 0x10 != 0 {
            values.size = head.number(at: at, UInt32.self)
            at += 4
        }
        if present & 0x20 != 0 { values.flags = head.number(at: at, UInt32.self) }
        return values
    }

    /// Notes the samples of a `trun`.
    ///
    /// - Parameters:
    ///   - place: Where the fragment's `moof` stands in the file: offsets count from there.
    ///   - time: The decode time of the first sample.
    /// - Returns: The time behind the last.
    func note(_ run: [UInt8], at place: Int64, time: Int64, in table: inout SampleTable) -> Int64 {
        let present = run.number(at: 0, UInt32.self) & 0xffffff
        let count = Int(run.number(at: 4, UInt32.self))
        var at = 8
        var offset: Int64 = 0
        if present & 0x1 != 0 {
            offset = Int64(Int32(bitPattern: run.number(at: at, UInt32.self)))
            at += 4
        }
        var firstFlags: UInt32?
        if present & 0x4 != 0 {
            firstFlags = run.number(at: at, UInt32.self)
            at += 4
        }
        guard count > 0 else { return time }
        table.begin(at: time, offset: place + offset)
        var next = time
        for index in 0..<count {
            var sample = self
            func take(_ bit: UInt32, _ field: inout UInt32) {
                guard present & bit != 0 else { return }
                field = run.number(at: at, UInt32.self)
                at += 4
            }
            var composition: UInt32 = 0
            take(0x100, &sample.duration)
            take(0x200, &sample.size)
            take(0x400, &sample.flags)
            take(0x800, &composition)
            if index == 0, let firstFlags { sample.flags = firstFlags }
            // sample_is_non_sync_sample
            table.add(
                size: sample.size,
                duration: sample.duration,
                offset: composition,
                isKey: sample.flags & 0x10000 == 0
            )
            next += Int64(sample.duration)
        }
        return next
    }
}

/// Which part of a track is shown, and when.
struct EditList {
    /// Units of the movie before the track begins.
    var gap: Int64
    /// Units of the movie that it lasts; 0 for "to the end".
    var length: Int64
    /// The track's own time at which it begins.
    var mediaTime: Int64

    /// `edts` with an `elst` of wide numbers.
    var box: Box {
        var body: [UInt8] = [1, 0, 0, 0]
        body.append(UInt32(gap > 0 ? 2 : 1))
        if gap > 0 {
            body.append(UInt64(gap))
            body.append(UInt64.max)
            body.append(UInt32(0x10000))
        }
        body.append(UInt64(length))
        body.append(UInt64(mediaTime))
        body.append(UInt32(0x10000))
        return Box("edts", [Box("elst", body)])
    }
}

/// The headers that hold times, `mvhd`, `tkhd` and `mdhd`, and their track.
extension Box {
    /// Whether a `trak` is one of pictures (`vide`), or of sound (`soun`).
    func isOf(_ kind: String) -> Bool {
        descendant("mdia", "hdlr")?.body.dropFirst(8).prefix(4).elementsEqual(kind.utf8) ?? false
    }

    /// A `trak` that players show only if they are asked to.
    func disabled() -> Box {
        Box(
            type,
            children.map { child in
                guard child.type == "tkhd", child.body.count > 3 else { return child }
                var header = child
                header.body[3] &= ~1
                return header
            }
        )
    }

    private var isWide: Bool { body.first == 1 }

    /// Units of a second, of `mvhd` and `mdhd`.
    var timescale: UInt32 { body.number(at: isWide ? 20 : 12, UInt32.self) }

    /// The track's number, of `tkhd`.
    var trackID: UInt32 { body.number(at: isWide ? 20 : 12, UInt32.self) }

    /// The header with wide numbers and another length.
    ///
    /// - Parameters:
    ///   - gap: 8 for `tkhd`, whose length stands behind track number and a reserved field; 0 for the others.
    ///   - timescale: Units of a second; `nil` for `tkhd`.
    ///   - duration: In these units.
    func lengthened(gap: Int, timescale: UInt32?, duration: Int64) -> Box {
        let width = isWide ? 8 : 4
        func wide(_ offset: Int) -> UInt64 {
            isWide ? body.number(at: offset, UInt64.self) : UInt64(body.number(at: offset, UInt32.self))
        }
        let middle = timescale == nil ? gap : 4
        let lengthAt = 4 + 2 * width + middle
        guard body.count >= lengthAt + width else { return self }
        var made: [UInt8] = [1] + body[1..<4]
        made.append(wide(4))
        made.append(wide(4 + width))
        if let timescale {
            made.append(timescale)
        } else {
            made += body[(4 + 2 * width)..<lengthAt]
        }
        made.append(UInt64(max(duration, 0)))
        made += body[(lengthAt + width)...]
        return Box(type, made)
    }
}
