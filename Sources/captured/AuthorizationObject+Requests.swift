import Authorization
import CaptureBus
import CaptureCore
import CaptureEngine

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
        return [.uint32(try await gate.status(call.arguments.service(0), for: client.identity).rawValue)]
    }

    func requestAccess(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let client = try await callers.client(call.sender)
        var services: Set<Service> = []
        for name in try call.arguments.texts(0) { services.insert(try Service(named: name)) }
        guard !services.isEmpty else { throw CaptureError(.invalidArgument, "access to no service was requested") }
        return [.uint32(try await requests.begin(services, for: client))]
    }

    func cancelAccess(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        try await requests.cancel(UInt32(clamping: try call.arguments.number(0)), of: call.sender)
        return []
    }

    func whoAmI(_ call: BusCall) async throws(CaptureError) -> [BusValue] {
        let identity = try await callers.client(call.sender).identity
        var facts: [String: BusValue] = [
            "program": .string(identity.program),
            "tier": .string(identity.tier.rawValue),
            "user": .string(Users.name(of: identity.user)),
            "uid": .uint32(identity.user),
            "pid": .uint32(UInt32(clamping: identity.pid)),
            "byPid": .bool(identity.parts.isByPid),
            "name": .string(identity.name),
            "detail": .string(identity.detail),
            "unit": .string(identity.parts.unit),
            "session": .string(identity.parts.session),
            "sandbox": .string(identity.parts.sandbox),
            "label": .string(identity.parts.label),
        ]
        facts.merge(AuthorizationObject.describe(identity.executable)) { $1 }
        return [.properties(facts)]
    }

    static func describe(_ file: ExecutableFile?) -> [String: BusValue] {
        guard let file else { return [:] }
        var facts: [String: BusValue] = [
            "executable": .string(file.path), "device": .uint64(file.device), "inode": .uint64(file.inode),
            "isProtected": .bool(file.isProtected),
        ]
        facts["changed"] = file.changed.map { .int64($0) }
        return facts
    }
}
