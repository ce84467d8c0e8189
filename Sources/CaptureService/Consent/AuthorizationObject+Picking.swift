import Authorization
import CaptureBus
import CaptureCore
import CaptureMessages
import MediaLibrary

/// What agents see of the library where a person picks from it, and what was picked.
extension AuthorizationObject {
    func browseFor(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try settings.mayAnswer(try await callers.client(call.sender))
        let (assets, next) = try await picking.browse(
            call.arguments.text(0),
            from: call.sender,
            try AssetFetchOptions(busValue: call.arguments.argument(1))
        )
        return [.propertyList(assets), .string(next ?? "")]
    }

    func thumbnailFor(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try settings.mayAnswer(try await callers.client(call.sender))
        let picture = try await picking.thumbnail(
            call.arguments.text(0),
            from: call.sender,
            try call.arguments.text(1),
            try call.arguments.word(2)
        )
        return [.descriptor(picture)]
    }

    func answerPicked(_ call: BusCall) async throws(CaptureError) {
        try settings.mayAnswer(try await callers.client(call.sender))
        let answer = PickedAssets(try call.arguments.texts(1), dropped: try call.arguments.texts(2))
        try await picking.answer(call.arguments.text(0), from: call.sender, answer)
    }
}
