import CaptureKit

/// Every typed control. Those that an automatic mode disables come before that mode.
let typedControls: [any Walkable] = [
    TypedControl<Double>(name: "lens position", control: "focus_absolute") { camera in
        let modes = try await camera.supportedFocusModes()
        let isThere = modes.contains { if case .locked = $0 { true } else { false } }
        return isThere ? Offer(text: "0 to 1", values: [1, 0], outside: [-0.1, 1.5]) : nil
    } read: { camera in
        guard case .locked(let position) = try await camera.focusMode() else { return nil }
        return position
    } write: { camera, position in
        try await camera.setFocusMode(.locked(lensPosition: position))
    },
    TypedControl<String>(name: "focus mode", control: "focus_auto", byHand: 0) { camera in
        guard try await camera.supportedFocusModes().contains(.continuousAutoFocus) else { return nil }
        return Offer(text: "locked or continuous", values: ["continuous", "locked"])
    } read: { camera in
        try await camera.focusMode() == .continuousAutoFocus ? "continuous" : "locked"
    } write: { camera, mode in
        try await camera.setFocusMode(mode == "locked" ? .locked() : .continuousAutoFocus)
    },
    TypedControl<Duration>(name: "exposure time", control: "exposure_absolute") { camera in
        guard let range = try await camera.supportedExposure().duration else { return nil }
        return Offer(
            text: "\(range.lowerBound) to \(range.upperBound)",
            values: [range.upperBound, range.lowerBound],
            outside: [.zero, range.upperBound + .seconds(1)]
        )
    } read: { camera in
        guard case .custom(let duration, _, _) = try await camera.exposureMode() else { return nil }
        return duration
    } write: { camera, duration in
        try await camera.setExposureMode(.custom(duration: duration))
    },
    TypedControl<Double>(name: "ISO", control: "iso_sensitivity") { camera in
        try await camera.supportedExposure().iso.map(offer)
    } read: { camera in
        guard case .custom(_, let iso, _) = try await camera.exposureMode() else { return nil }
        return iso
    } write: { camera, iso in
        try await camera.setExposureMode(.custom(iso: iso))
    },
    TypedControl<Int64>(name: "gain", control: "gain") { camera in
        guard let range = try await camera.supportedExposure().gain else { return nil }
        return Offer(
            text: "\(range.lowerBound) to \(range.upperBound)",
            values: [range.upperBound, range.lowerBound],
            outside: [range.lowerBound - 1, range.upperBound + 1]
        )
    } read: { camera in
        guard case .custom(_, _, let gain) = try await camera.exposureMode() else { return nil }
        return gain
    } write: { camera, gain in
        try await camera.setExposureMode(.custom(gain: gain))
    },
    TypedControl<String>(name: "exposure mode", control: "exposure_auto", byHand: 1) { camera in
        guard try await camera.supportedExposure().continuousAutoExposure else { return nil }
        return Offer(text: "custom or continuous", values: ["continuous", "custom"])
    } read: { camera in
        try await camera.exposureMode() == .continuousAutoExposure ? "continuous" : "custom"
    } write: { camera, mode in
        try await camera.setExposureMode(mode == "custom" ? .custom() : .continuousAutoExposure)
    },
    TypedControl<Double>(name: "exposure bias", control: "auto_exposure_bias") { camera in
        try await camera.supportedExposure().targetBias.map(offer)
    } read: { camera in
        try await camera.exposureTargetBias()
    } write: { camera, bias in
        try await camera.setExposureTargetBias(bias)
    },
    TypedControl<Double>(name: "colour temperature", control: "white_balance_temperature") { camera in
        try await camera.supportedWhiteBalanceTemperatures().map(offer)
    } read: { camera in
        guard case .locked(let temperature) = try await camera.whiteBalanceMode() else { return nil }
        return temperature
    } write: { camera, temperature in
        try await camera.setWhiteBalanceMode(.locked(temperature: temperature))
    },
    TypedControl<String>(name: "white balance mode", control: "auto_white_balance", byHand: 0) { camera in
        let modes = try await camera.supportedWhiteBalanceModes()
        guard modes.contains(.continuousAutoWhiteBalance) else { return nil }
        return Offer(text: "locked or continuous", values: ["continuous", "locked"])
    } read: { camera in
        try await camera.whiteBalanceMode() == .continuousAutoWhiteBalance ? "continuous" : "locked"
    } write: { camera, mode in
        try await camera.setWhiteBalanceMode(mode == "locked" ? .locked() : .continuousAutoWhiteBalance)
    },
    TypedControl<Double>(name: "zoom factor", control: "zoom_absolute") { camera in
        try await camera.supportedZoomFactors().map(offer)
    } read: { camera in
        try await camera.videoZoomFactor()
    } write: { camera, factor in
        try await camera.setVideoZoomFactor(factor)
    },
    TypedControl<PixelRectangle>(name: "crop", control: "crop") { camera in
        guard let bounds = try await camera.supportedCrop()?.bounds else { return nil }
        let (wide, beside, empty) = (
            PixelRectangle(left: bounds.left, top: bounds.top, width: bounds.width + 1, height: bounds.height),
            PixelRectangle(left: bounds.left - 1, top: bounds.top, width: 64, height: 64),
            PixelRectangle(left: bounds.left, top: bounds.top, width: 0, height: 64)
        )
        return Offer(text: "within \(bounds)", values: [bounds.part(4), bounds], outside: [wide, beside, empty])
    } read: { camera in
        try await camera.crop()
    } write: { camera, rectangle in
        try await camera.setCrop(rectangle)
    },
    TypedControl<TorchMode>(name: "torch", control: "flash_led_mode") { camera in
        try await camera.hasTorch() ? Offer(text: "off or on", values: [.on, .off]) : nil
    } read: { camera in
        try await camera.torchMode()
    } write: { camera, mode in
        try await camera.setTorchMode(mode)
    },
    TypedControl<FlashMode>(name: "flash", control: "flash_led_mode") { camera in
        try await camera.hasFlash() ? Offer(text: "off or on", values: [.on, .off]) : nil
    } read: { camera in
        try await camera.flashMode()
    } write: { camera, mode in
        try await camera.setFlashMode(mode)
    },
    TypedControl<VideoStabilizationMode>(name: "stabilization", control: "image_stabilization") { camera in
        let modes = try await camera.supportedVideoStabilizationModes()
        return modes.contains(.standard) ? Offer(text: "off or standard", values: [.standard, .off]) : nil
    } read: { camera in
        try await camera.videoStabilizationMode()
    } write: { camera, mode in
        try await camera.setVideoStabilizationMode(mode)
    },
    TypedControl<PowerLineFrequency>(name: "power line", control: "power_line_frequency") { camera in
        let offered = try await camera.supportedPowerLineFrequencies()
        if offered.isEmpty { return nil }
        let (values, others) = (
            PowerLineFrequency.allCases, PowerLineFrequency.allCases.filter { !offered.contains($0) }
        )
        return Offer(
            text: values.filter(offered.contains).map { "\($0)" }.joined(separator: " "),
            values: values.filter(offered.contains),
            outside: others
        )
    } read: { camera in
        try await camera.powerLineFrequency()
    } write: { camera, frequency in
        try await camera.setPowerLineFrequency(frequency)
    },
]

/// Its ends, and what lies beyond them.
@Sendable private func offer(_ range: ClosedRange<Double>) -> Offer<Double> {
    Offer(
        text: "\(range.lowerBound) to \(range.upperBound)",
        values: [range.upperBound, range.lowerBound],
        outside: [range.lowerBound - 0.5, range.upperBound + 0.5]
    )
}

extension PixelRectangle {
    /// The middle half of it in both directions, cut by so many pixels at its right, on multiples of 16: drivers take these as
    /// they are.
    func part(_ cut: Int) -> PixelRectangle {
        func even(_ number: Int) -> Int { number / 16 * 16 }
        return PixelRectangle(
            left: left + even(width / 4),
            top: top + even(height / 4),
            width: even(width / 2 - cut),
            height: even(height / 2)
        )
    }
}
