import CaptureCore

/// What V4L2's header says about its controls, whose numbers never change.
enum V4L2ControlNames {
    /// The name of a control: V4L2's, or its number as text for one that the header does not know.
    static func name(of id: UInt32) -> String { names[id] ?? DeviceControl.text(ofID: id) }

    /// Whether a control is the driver's or the maker's own: none of V4L2's.
    static func isVendors(_ id: UInt32) -> Bool { names[id] == nil }

    /// Whether a control tells the person something that no program may change: that the shutter is closed, or that the
    /// camera is in use.
    static func isIndicator(_ id: UInt32, label: String) -> Bool {
        if indicators.contains(id) { return true }
        let words = DeviceControl.name(of: label).split(separator: "_")
        let isOne = words.contains { ["indicator", "privacy", "shutter"].contains($0) || $0.hasPrefix("led") }
        return isOne && isVendors(id)
    }

    /// The unit of a control's values; `nil` where V4L2 leaves it to the driver.
    static func unit(of id: UInt32) -> String? { units[id] }

    /// V4L2's `PRIVACY` and `FLASH_INDICATOR_INTENSITY`, and the lamp's mode and frequency of Logitech's cameras.
    private static let indicators: Set<UInt32> = [0x9a0910, 0x9c0909, 0xa04_6d05, 0xa04_6d06]

    private static let units: [UInt32: String] = [
        0x98091a: "K", 0x980922: "degrees", 0x9a0902: "100 µs", 0x9a0904: "arcsec", 0x9a0905: "arcsec",
        0x9a0908: "arcsec", 0x9a0909: "arcsec", 0x9a0913: "0.001 EV", 0x9a0917: "0.001 ISO", 0x9a0923: "degrees",
        0x9c0906: "µs", 0x9c0907: "mA", 0x9c0908: "mA", 0x9c0909: "µA", 0x9e0901: "lines", 0x9e0902: "pixels",
        0x9f0901: "Hz", 0x9f0902: "pixels/s",
    ]

    /// V4L2's names in lower case, by number: linux/v4l2-controls.h without tuners, codecs and radio.
    private static let names: [UInt32: String] = [
        0x980900: "brightness", 0x980901: "contrast", 0x980902: "saturation", 0x980903: "hue",
        0x980905: "audio_volume", 0x980906: "audio_balance", 0x980907: "audio_bass", 0x980908: "audio_treble",
        0x980909: "audio_mute", 0x98090a: "audio_loudness", 0x98090b: "black_level", 0x98090c: "auto_white_balance",
        0x98090d: "do_white_balance", 0x98090e: "red_balance", 0x98090f: "blue_balance", 0x980910: "gamma",
        0x980911: "exposure", 0x980912: "autogain", 0x980913: "gain", 0x980914: "hflip", 0x980915: "vflip",
        0x980918: "power_line_frequency", 0x980919: "hue_auto", 0x98091a: "white_balance_temperature",
        0x98091b: "sharpness", 0x98091c: "backlight_compensation", 0x98091d: "chroma_agc", 0x98091e: "color_killer",
        0x98091f: "colorfx", 0x980920: "autobrightness", 0x980921: "band_stop_filter", 0x980922: "rotate",
        0x980923: "bg_color", 0x980924: "chroma_gain", 0x980925: "illuminators_1", 0x980926: "illuminators_2",
        0x980927: "min_buffers_for_capture", 0x980928: "min_buffers_for_output", 0x980929: "alpha_component",
        0x98092a: "colorfx_cbcr", 0x98092b: "colorfx_rgb", 0x9a0901: "exposure_auto", 0x9a0902: "exposure_absolute",
        0x9a0903: "exposure_auto_priority", 0x9a0904: "pan_relative", 0x9a0905: "tilt_relative",
        0x9a0906: "pan_reset", 0x9a0907: "tilt_reset", 0x9a0908: "pan_absolute", 0x9a0909: "tilt_absolute",
        0x9a090a: "focus_absolute", 0x9a090b: "focus_relative", 0x9a090c: "focus_auto", 0x9a090d: "zoom_absolute",
        0x9a090e: "zoom_relative", 0x9a090f: "zoom_continuous", 0x9a0910: "privacy", 0x9a0911: "iris_absolute",
        0x9a0912: "iris_relative", 0x9a0913: "auto_exposure_bias", 0x9a0914: "auto_n_preset_white_balance",
        0x9a0915: "wide_dynamic_range", 0x9a0916: "image_stabilization", 0x9a0917: "iso_sensitivity",
        0x9a0918: "iso_sensitivity_auto", 0x9a0919: "exposure_metering", 0x9a091a: "scene_mode", 0x9a091b: "3a_lock",
        0x9a091c: "auto_focus_start", 0x9a091d: "auto_focus_stop", 0x9a091e: "auto_focus_status",
        0x9a091f: "auto_focus_range", 0x9a0920: "pan_speed", 0x9a0921: "tilt_speed", 0x9a0922: "camera_orientation",
        0x9a0923: "camera_sensor_rotation", 0x9c0901: "flash_led_mode", 0x9c0902: "flash_strobe_source",
        0x9c0903: "flash_strobe", 0x9c0904: "flash_strobe_stop", 0x9c0905: "flash_strobe_status",
        0x9c0906: "flash_timeout", 0x9c0907: "flash_intensity", 0x9c0908: "flash_torch_intensity",
        0x9c0909: "flash_indicator_intensity", 0x9c090a: "flash_fault", 0x9c090b: "flash_charge",
        0x9c090c: "flash_ready", 0x9d0901: "jpeg_chroma_subsampling", 0x9d0902: "jpeg_restart_interval",
        0x9d0903: "jpeg_compression_quality", 0x9d0904: "jpeg_active_marker", 0x9e0901: "vblank", 0x9e0902: "hblank",
        0x9e0903: "analogue_gain", 0x9e0904: "test_pattern_red", 0x9e0905: "test_pattern_greenr",
        0x9e0906: "test_pattern_blue", 0x9e0907: "test_pattern_greenb", 0x9e0908: "unit_cell_size",
        0x9e0909: "notify_gains", 0x9f0901: "link_freq", 0x9f0902: "pixel_rate", 0x9f0903: "test_pattern",
        0x9f0904: "deinterlacing_mode", 0x9f0905: "digital_gain", 0xa00901: "dv_tx_hotplug",
        0xa00902: "dv_tx_rxsense", 0xa00903: "dv_tx_edid_present", 0xa00904: "dv_tx_mode",
        0xa00905: "dv_tx_rgb_range", 0xa00906: "dv_tx_it_content_type", 0xa00964: "dv_rx_power_present",
        0xa00965: "dv_rx_rgb_range", 0xa00966: "dv_rx_it_content_type", 0xa30901: "detect_md_mode",
        0xa30902: "detect_md_global_threshold", 0xa30903: "detect_md_threshold_grid",
        0xa30904: "detect_md_region_grid", 0xa50900: "colorimetry_hdr10_cll_info",
        0xa50901: "colorimetry_hdr10_mastering_display",
    ]
}
