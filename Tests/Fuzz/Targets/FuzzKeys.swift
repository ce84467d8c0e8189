import CaptureAgent
import CaptureKit

/// Keys at a prompt: anything can be typed, pasted, or sent by a terminal on its own.
enum FuzzKeys {
    @Sendable static func keys(_ bytes: [UInt8]) {
        type(bytes, [.camera, .microphone])
        type(bytes, [.libraryAdd, .libraryReadWrite])
    }

    private static func type(_ bytes: [UInt8], _ services: [AuthorizationService]) {
        var request = PromptRequest(Question(cookie: "1", program: "exe:/a", tier: "claimed"), services: services)
        request.lifetimes = ["session", "connection"]
        request.limitable = services.filter(\.canBeLimited)
        var dialog = PromptDialog(request)
        // One read from the terminal ends at each zero byte.
        for read in bytes.split(separator: 0, omittingEmptySubsequences: false) {
            let typed = Array(read)
            for step in dialog.take(typed) {
                guard case .done(let answer, _) = step else { continue }
                if case .answered(let answers) = answer {
                    let limited = answers.filter(\.value.isLimited).keys
                    FuzzTarget.hold(limited.allSatisfy(\.canBeLimited), "reading alone is limited")
                    if answers.values.contains(true) {
                        FuzzTarget.hold(
                            bytes.contains { $0 | 0x20 == UInt8(ascii: "y") },
                            "nobody says yes without a y"
                        )
                    }
                }
                return
            }
        }
    }
}
