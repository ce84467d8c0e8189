import CaptureCore
import CaptureMessages

@testable import CaptureBus
@testable import CaptureAgent
@testable import CaptureKit

/// Bodies of messages, as callers and the other side of a call may send them.
enum FuzzBodies {
    /// Every key that a description has.
    static let keys = [
        "aliases", "attached", "audio-codec", "audio-formats", "audio-encoder", "bus", "bytes", "channels",
        "choices", "connections", "copied-bytes", "default", "device", "drift", "driver", "drops", "duration",
        "elapsed", "emulated", "exact", "format", "frame-count", "frames", "frames-per-second", "height", "id",
        "input", "inputs", "interval-range", "intervals", "kind", "label", "latency", "longest", "maximum",
        "media-type", "minimum", "missed-frames", "name", "output", "outputs", "peak", "pixel-format", "preset",
        "published", "quality", "queue-depth", "rates", "sample-format", "sample-formats", "sample-rate", "samples",
        "shortest", "size-range", "sizes", "step", "value", "video-bit-rate", "video-codec", "video-formats",
        "width", "writable", "program", "tier", "services", "reasons", "pid", "lifetimes", "detail", "secondsLeft",
        "inline",
    ]
    private static let texts = [
        "", "camera", "microphone", "video", "audio", "movie", "photo", "buffer", "mkv", "YUYV", "S16", "default",
        "synthetic:camera", "1/30", "always",
    ]

    /// A value of any type, as deep as the bytes make it and messages may be.
    static func value(_ input: inout FuzzInput, depth: Int = 0) -> BusValue {
        let kind = input.byte()
        switch depth > 6 ? kind % 10 : kind % 16 {
        case 0: return .string(input.one(of: texts))
        case 1: return .string(input.text())
        case 2: return .bool(input.byte() & 1 != 0)
        case 3: return .uint32(input.number())
        case 4: return .int64(input.number())
        case 5: return .uint64(input.number())
        case 6: return .double(Double(bitPattern: input.number()))
        case 7: return .int32(input.number())
        case 8: return .objectPath("/" + input.text())
        case 9: return .strings((0..<Int(input.byte() % 4)).map { _ in input.one(of: texts) })
        case 10: return .structure((0..<Int(input.byte() % 4)).map { _ in value(&input, depth: depth + 1) })
        case 11: return .variant(value(&input, depth: depth + 1))
        case 12, 13: return .properties(table(&input, depth))
        case 14: return .propertyList((0..<Int(input.byte() % 4)).map { _ in table(&input, depth) })
        default:
            let pairs = (0..<Int(input.byte() % 4)).map { _ in
                BusValue.structure([.string(input.one(of: texts)), .string(input.one(of: texts))])
            }
            return .array("(ss)", pairs)
        }
    }

    /// A table whose keys are mostly some that are known.
    static func table(_ input: inout FuzzInput, _ depth: Int, keys: [String] = keys) -> [String: BusValue] {
        var table: [String: BusValue] = [:]
        for _ in 0..<input.byte() % 8 {
            let key = input.byte() & 7 == 0 ? input.text() : input.one(of: keys)
            table[key] = value(&input, depth: depth + 1)
        }
        return table
    }

    @Sendable static func body(_ bytes: [UInt8]) {
        var input = FuzzInput(bytes)
        let body = value(&input)
        same(SessionDescription.self, body)
        same(InputDescription.self, body)
        same(OutputDescription.self, body)
        same(DeviceDescription.self, body)
        same(DeviceControl.self, body)
        same(SessionStatistics.self, body)
        same(OutputStatistics.self, body)
        same(AssetFetchOptions.self, body)
        same(AssetFacts.self, body)
        same(AssetChanges.self, body)
        _ = try? body.tickets()
        _ = (body.integer, body.unsigned, body.number, body.texts, body.properties, body.typeSignature)
        _ = try? PromptRequest(bus: [.string("cookie"), body])
        _ = try? ConfirmRequest(bus: [.string("cookie"), body])
        if let types = try? BusType.parse(body.typeSignature) {
            FuzzTarget.hold(types.map(\.signature).joined() == body.typeSignature, "a type is written as it was read")
        }
    }

    /// What is taken is sent on, to be taken as the same.
    private static func same<Value: BusCodable & Hashable>(
        _: Value.Type,
        _ body: BusValue
    ) {
        guard let value = try? Value(busValue: body) else { return }
        FuzzTarget.hold((try? Value(busValue: value.busValue)) == value, "\(Value.self) survives the bus")
    }

    @Sendable static func signature(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        guard let types = try? BusType.parse(text) else { return }
        FuzzTarget.hold(types.map(\.signature).joined() == text, "'\(text)' is written as it was read")
    }
}
