import CLibAV
import MediaConversion

/// A picture's colours in the words of libavutil.
extension ColorMeaning {
    var range: AVColorRange { isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG }

    var space: AVColorSpace {
        switch matrix {
        case .bt601: AVCOL_SPC_SMPTE170M
        case .bt709: AVCOL_SPC_BT709
        case .bt2020: AVCOL_SPC_BT2020_NCL
        case .bt2020Constant: AVCOL_SPC_BT2020_CL
        case .smpte240: AVCOL_SPC_SMPTE240M
        }
    }

    var primaries: AVColorPrimaries {
        switch colorSpace {
        case 1: AVCOL_PRI_SMPTE170M
        case 2: AVCOL_PRI_SMPTE240M
        // REC709, sRGB and JPEG share theirs.
        case 3, 7, 8: AVCOL_PRI_BT709
        case 5: AVCOL_PRI_BT470M
        case 6: AVCOL_PRI_BT470BG
        case 10: AVCOL_PRI_BT2020
        // V4L2's DCI-P3 has the white of cinemas.
        case 12: AVCOL_PRI_SMPTE431
        default: AVCOL_PRI_UNSPECIFIED
        }
    }

    var transferCharacteristic: AVColorTransferCharacteristic {
        switch (transfer, colorSpace) {
        case (1, _): AVCOL_TRC_BT709
        case (2, _): AVCOL_TRC_IEC61966_2_1
        // 563 / 256, which is 2.199.
        case (3, _): AVCOL_TRC_GAMMA22
        case (4, _), (0, 2): AVCOL_TRC_SMPTE240M
        case (5, _): AVCOL_TRC_LINEAR
        case (6, _), (0, 12): AVCOL_TRC_SMPTE428
        case (7, _): AVCOL_TRC_SMPTE2084
        case (0, 7), (0, 8): AVCOL_TRC_IEC61966_2_1
        case (0, 1), (0, 3), (0, 5), (0, 6), (0, 10): AVCOL_TRC_BT709
        default: AVCOL_TRC_UNSPECIFIED
        }
    }
}
