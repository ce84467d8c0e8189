package import CaptureCore
package import CaptureRing

/// From a raw format to a picture: a reader takes the frame out of the ring, steps make of it what is wanted. Thread-bound.
@safe
package final class RawConverter: BufferConverter {
    /// What comes out.
    package let layout: PictureLayout
    /// What its numbers mean.
    package let color: ColorMeaning
    private let planes: [ColorPlane]
    private let reader: any PictureReader
    private let steps: [any PictureStep]
    /// What each step reads.
    private let between: [UnsafeMutableRawBufferPointer]
    private var sources: [UnsafePointer<UInt8>] = unsafe []

    /// A converter to pictures of `layout`, which is as large as the format or smaller by a row or a column.
    ///
    /// - Throws: `invalidArgument` where the driver's planes are no whole frame; `noSuchFormat` for distances.
    package init(_ format: VideoFormat, _ structure: PixelStructure, to layout: PictureLayout) throws(CaptureError) {
        guard structure.model != .depth else {
            throw CaptureError(
                .noSuchFormat,
                "the camera delivers distances (\(format.pixelFormat)), which are no picture; take a photo as png or tiff, or "
                    + "the frames as they are"
            )
        }
        guard let planes = structure.planes(of: format),
            planes.allSatisfy({ $0.row > 0 && $0.stride <= PictureLayout.mostStride })
        else {
            throw CaptureError(
                .invalidArgument,
                "the driver's planes do not hold a frame of \(format); record it with: capturectl frames --format raw"
            )
        }
        self.layout = layout
        self.planes = planes
        let given = ColorMeaning(format.color, structure.model)
        let recolors = given.needsRecoloring
        if !recolors, let direct = VectorReader(structure, planes, layout, format.color) {
            reader = direct
            steps = []
            color = structure.model == .rgb ? given.mixed : given
            unsafe between = unsafe []
            return
        }
        reader = RawConverter.reader(structure, planes, layout, format.color)
        (steps, color) = try RawConverter.steps(from: reader.layout, given, to: layout, recolors: recolors)
        unsafe between = RawConverter.scratch([reader.layout] + steps.dropLast().map(\.layout), steps.count)
    }

    /// The reader that keeps what the format holds.
    private static func reader(
        _ structure: PixelStructure,
        _ planes: [ColorPlane],
        _ layout: PictureLayout,
        _ color: ColorDescription
    ) -> any PictureReader {
        if let vector = VectorReader(structure, planes, layout.with(structure.samples), color) { return vector }
        if case .bayer = structure.model { return BayerReader(structure, planes[0], layout, color) }
        if structure.isMIPI { return BayerReader(structure, planes[0], layout, color) }
        return ComponentReader(structure, planes, layout, color)
    }

    private static func steps(
        from held: PictureLayout,
        _ given: ColorMeaning,
        to layout: PictureLayout,
        recolors: Bool
    ) throws(CaptureError) -> ([any PictureStep], ColorMeaning) {
        var steps: [any PictureStep] = []
        var (here, color) = (held, held.samples == .rgb ? given.asRGB : given)
        func scale(to samples: PictureLayout.Samples, _ next: ColorMeaning) throws(CaptureError) {
            steps.append(try PictureScaler(here, color, to: layout.with(samples), next))
            (here, color) = (layout.with(samples), next)
        }
        if (recolors || layout.samples == .rgb) && here.samples != .rgb {
            if color.matrix == .bt2020Constant {
                if here.samples != .yuv444 { try scale(to: .yuv444, color) }
                steps.append(ConstantLuminance(here, color))
                (here, color) = (here.with(.rgb), color.asRGB)
            } else {
                try scale(to: .rgb, color.asRGB)
            }
        }
        if recolors {
            steps.append(Recolorer(here, color))
            (color.colorSpace, color.transfer) = (ColorMeaning.Space.srgb, 0)
        }
        if here.samples != layout.samples { try scale(to: layout.samples, here.samples == .rgb ? color.mixed : color) }
        return (steps, color)
    }

    private static func scratch(_ layouts: [PictureLayout], _ count: Int) -> [UnsafeMutableRawBufferPointer] {
        unsafe layouts.prefix(count).map { layout in
            // libswscale reads and writes up to a vector behind a row.
            UnsafeMutableRawBufferPointer.allocate(byteCount: layout.size + 64, alignment: 64)
        }
    }

    deinit {
        unsafe between.forEach { unsafe $0.deallocate() }
    }

    package var capacity: Int { layout.size }

    package func convert(_ buffer: RingBuffer, into memory: UnsafeMutableRawBufferPointer) -> Int? {
        unsafe sources.removeAll(keepingCapacity: true)
        for plane in planes {
            let bytes = unsafe buffer.plane(plane.memory)
            // A driver that gives less than a frame gives a broken one.
            guard bytes.count >= plane.end, let base = bytes.baseAddress else { return nil }
            unsafe sources.append((base + plane.offset).assumingMemoryBound(to: UInt8.self))
        }
        guard let target = unsafe PicturePlanes(layout, in: memory),
            var here = unsafe steps.isEmpty ? target : PicturePlanes(reader.layout, in: between[0])
        else { return nil }
        unsafe reader.read(sources, into: here)
        for (index, step) in steps.enumerated() {
            guard
                let next = unsafe index + 1 == steps.count ? target : PicturePlanes(step.layout, in: between[index + 1])
            else { return nil }
            step.run(here, next)
            here = next
        }
        return layout.size
    }
}
