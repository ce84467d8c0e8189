extension Preset {
    /// Whether a camera with these formats delivers it: a preset that names a size in just that size, the others in the
    /// nearest one.
    public func isOffered(by formats: [VideoFormatOption]) -> Bool {
        switch self {
        case .low, .medium, .high, .photo: return formats.contains { $0.sizes.offers(width: nil, height: nil) }
        case .qvga320x240, .vga640x480, .hd1280x720, .hd1920x1080, .hd4K3840x2160:
            let size = request
            return formats.contains { $0.sizes.offers(width: size.width, height: size.height) }
        }
    }
}

extension FrameSizes {
    /// Whether a size is among them; `nil` is any.
    func offers(width: Int?, height: Int?) -> Bool {
        func offers(_ wanted: Int?, _ range: (least: Int, most: Int, step: Int)) -> Bool {
            guard range.least <= range.most else { return false }
            guard let wanted else { return true }
            return range.least <= wanted && wanted <= range.most && (wanted - range.least) % max(range.step, 1) == 0
        }
        switch self {
        case .discrete(let sizes):
            return sizes.contains { $0.width == width ?? $0.width && $0.height == height ?? $0.height }
        case .stepwise(let range): return offers(width, range.width) && offers(height, range.height)
        }
    }
}
