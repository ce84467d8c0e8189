import CaptureCore
import Testing

@Suite struct `A size in bytes` {
    @Test(
        arguments: [
            ("0", 0), ("65536", 65536), ("500M", 500 << 20), ("2g", 2 << 30), ("1.5G", 3 << 29), ("0.5k", 512),
            ("3TiB", 3 << 40), ("16 ", nil), ("", nil), ("M", nil), ("-1", nil), ("1.5", nil), ("5MB", nil),
            ("1..5M", nil), (".M", nil), ("1e3", nil), ("0x10", nil), ("4194304T", nil), ("99999999999999999999", nil),
            ("2.25T", 9 << 38), ("9999999.5T", nil),
        ] as [(String, Int64?)]
    ) func `is read as people write it`(text: String, bytes: Int64?) {
        #expect(ByteSize.parse(text) == bytes)
    }
}
