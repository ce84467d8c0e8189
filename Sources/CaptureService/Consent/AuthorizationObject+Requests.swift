import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine
import CaptureMessages

/// What a program learns of itself and asks for.
extension AuthorizationObject {
    /// What was decided a moment ago, told on the bus thread to whom it was decided for.
    func rememberedStatus(_ sender: String, _ arguments: [BusValue]) -> [BusValue]? {
        guard let service = try? arguments.service(0), let caller = callers.unchanged(sender),
            let status = gate.remembered.status(service, for: caller)
        else { return nil }
        return [.uint32(status.rawValue)]
    }

    func requestRemembered(_ sender: String, _ arguments: [BusValue]) -> [BusValue]? {
        guard let names = try? arguments.texts(0) else { return nil }
        let services = Set(names.compactMap(Service.init(rawValue:)))
        guard services.count == names.count, let caller = callers.unchanged(sender),
            gate.remembered.grants(services, for: caller)
        else { return nil }
        return [.uint32(0)]
    }

    func getStatus(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        if try call.arguments.text(0) == LibraryChoice.serviceName {
            return [.uint32(try await gate.libraryAccess(for: client.identity).withoutLevel.rawValue)]
        }
        let service = try call.arguments.service(0, orLibrary: true)
        return [.uint32(try await gate.status(service, for: client.identity).rawValue)]
    }

    func requestAccess(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        let services = Set(try call.arguments.services(0))
        guard !services.isEmpty else { throw CaptureError(.invalidArgument, "the request names no service") }
        return [.uint32(try await questions.begin(services, for: client))]
    }

    func setUsageDescriptions(_ call: BusCall) async throws(CaptureError) {
        let client = try await callers.client(call.sender)
        var reasons: [Service: String] = [:]
        var bridge: Bridge?
        for (name, reason) in try call.arguments.properties(0) {
            let text = reason.text ?? ""
            guard name == "bridge" else {
                reasons[try Service(named: name)] = text
                continue
            }
            bridge = Bridge(rawValue: text)
            guard bridge != nil else {
                let known = Bridge.allCases.map(\.rawValue).joined(separator: ", ")
                throw CaptureError(
                    .invalidArgument,
                    "there is no bridge '\(DisplayText.neutralized(text, limit: 40))'; there are: \(known)"
                )
            }
        }
        try stated.state(reasons, bridge: bridge, by: client.identity, on: call.sender)
        // Who has left meanwhile is not told of again.
        if await callers.identity(of: call.sender) == nil { stated.clientGone(call.sender) }
    }

    func cancelAccess(_ call: BusCall) async throws(CaptureError) {
        try await questions.requests.cancel(UInt32(clamping: try call.arguments.number(0)), of: call.sender)
    }

    func whoAmI(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let identity = try await callers.client(call.sender).identity
        var shown = ProgramIdentity()
        shown.program = identity.program
        shown.tier = identity.tier.rawValue
        shown.user = Users.name(of: identity.user)
        shown.userID = identity.user
        shown.processID = UInt32(clamping: identity.pid)
        shown.isByPid = identity.parts.isByPid
        shown.name = identity.name
        shown.detail = identity.detail
        shown.unit = identity.parts.unit
        shown.session = identity.parts.session
        shown.sandbox = identity.parts.sandbox
        shown.label = identity.parts.label
        shown.file = identity.executable.map(ProgramFile.init)
        return [shown.busValue]
    }
}

extension ProgramFile {
    init(_ file: ExecutableFile) {
        self.init()
        path = file.path
        device = file.device
        inode = file.inode
        changed = file.changed
        isProtected = file.isProtected
    }
}
