import CLinux
import CSystemd
import CaptureCore
import CaptureSystem

/// A signal that arrived.
public struct BusSignal: Sendable {
    /// The unique name of whom it came from; the bus vouches for it.
    public let sender: String
    /// The object that sent it.
    public let path: String
    /// The interface that declares it.
    public let interface: String
    /// The signal.
    public let member: String
    /// What it carries; of whatever types the sender chose.
    public let arguments: [BusValue]
}

/// Which signals to hear of; what is `nil` is any.
public struct BusMatch: Hashable, Sendable {
    /// A unique name, or a well-known one: then signals of others are not let through.
    public var sender: String?
    /// The object.
    public var path: String?
    /// The object and all below it; stands in the place of `path`.
    public var pathNamespace: String?
    /// The interface.
    public var interface: String?
    /// The signal.
    public var member: String?
    /// The first argument, a string.
    public var firstArgument: String?
    /// The new owner in a `NameOwnerChanged`, its third argument.
    var newOwner: String?

    /// A match of the given parts.
    public init(
        sender: String? = nil,
        path: String? = nil,
        pathNamespace: String? = nil,
        interface: String? = nil,
        member: String? = nil,
        firstArgument: String? = nil
    ) {
        self.sender = sender
        self.path = path
        self.pathNamespace = pathNamespace
        self.interface = interface
        self.member = member
        self.firstArgument = firstArgument
    }

    /// Changes of who owns a name, or of every name that changes to the owner `newOwner`.
    static func ownerChanges(of name: String? = nil, to newOwner: String? = nil) -> BusMatch {
        var match = BusMatch(
            sender: CaptureNames.bus,
            path: CaptureNames.busPath,
            interface: CaptureNames.bus,
            member: "NameOwnerChanged",
            firstArgument: name
        )
        match.newOwner = newOwner
        return match
    }

    /// The match as the bus takes it.
    ///
    /// - Throws: `.internalFault` for a value with a quote or NUL, which could change what is matched.
    var rule: String {
        get throws(CaptureError) {
            var parts = ["type='signal'"]
            let values = [
                ("sender", sender), ("path", path), ("path_namespace", pathNamespace), ("interface", interface),
                ("member", member), ("arg0", firstArgument),
                ("arg2", newOwner),
            ]
            for (key, value) in values {
                guard let value else { continue }
                guard !value.utf8.contains(where: { [0, UInt8(ascii: "'"), UInt8(ascii: "\\")].contains($0) }) else {
                    throw CaptureError(.internalFault, "'\(value)' cannot be matched")
                }
                parts.append("\(key)='\(value)'")
            }
            return parts.joined(separator: ",")
        }
    }
}

/// A match that is installed, or about to be.
@safe final class Match {
    unowned let core: BusCore
    let token: UInt64
    let match: BusMatch
    let handler: (BusSignal) -> Void
    /// Follows the owner of a well-known name.
    var ownerWatch: UInt64?
    /// The owner of the well-known name whose signals are wanted; "" if nobody owns it, `nil` if any sender will do.
    /// The bus has its own name, but other programs can send to this connection under it.
    var owner: String?
    private var slot: OpaquePointer?
    private var completion: ((Result<UInt64, CaptureError>) -> Void)?

    init(_ core: BusCore, _ match: BusMatch, _ handler: @escaping (BusSignal) -> Void) {
        self.core = core
        token = core.token()
        self.match = match
        self.handler = handler
        owner = match.sender == CaptureNames.bus ? CaptureNames.bus : nil
    }

    /// Gives the match to the bus; `completion` is called once, when the bus has it or refuses it.
    func install(_ completion: @escaping (Result<UInt64, CaptureError>) -> Void) throws(CaptureError) {
        let bus = unsafe try core.connected()
        let code = unsafe sd_bus_add_match_async(
            bus,
            &slot,
            try match.rule,
            { message, userdata, _ in
                guard let message = unsafe message, let userdata = unsafe userdata else { return 0 }
                let match = unsafe Unmanaged<Match>.fromOpaque(userdata).takeUnretainedValue()
                unsafe match.core.received(message, for: match)
                return 0
            },
            { message, userdata, _ in
                guard let message = unsafe message, let userdata = unsafe userdata else { return 0 }
                let match = unsafe Unmanaged<Match>.fromOpaque(userdata).takeUnretainedValue()
                if let error = unsafe BusErrors.error(in: message, destination: CaptureNames.bus, path: "") {
                    match.core.unsubscribe(match.token)
                    match.installed(.failure(error))
                } else {
                    match.installed(.success(match.token))
                }
                return 0
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
        if code < 0 { throw BusErrors.failure(code, "subscribe to signals", as: .unreachable) }
        self.completion = completion
    }

    deinit {
        unsafe sd_bus_slot_unref(slot)
    }

    /// Tells who subscribed, once.
    func installed(_ result: Result<UInt64, CaptureError>) {
        let completion = completion
        self.completion = nil
        completion?(result)
    }
}

extension BusCore {
    /// Subscribes to signals; `completion` is given the subscription's number once the bus has it.
    ///
    /// Anyone may send a signal to this connection alone, and sd-bus, which knows senders by their unique names, takes
    /// it for one of a well-known name. So the owner of such a name is followed, and others' signals are left out.
    func subscribe(
        _ wanted: BusMatch,
        _ handler: @escaping (BusSignal) -> Void,
        _ completion: @escaping (Result<UInt64, CaptureError>) -> Void
    ) {
        let match = Match(self, wanted, handler)
        guard let name = wanted.sender, !name.hasPrefix(":"), name != CaptureNames.bus else {
            return install(match, completion)
        }
        let watch = Match(self, .ownerChanges(of: name)) { [weak match] signal in
            if signal.arguments.count == 3 { match?.owner = signal.arguments[2].text ?? "" }
        }
        match.owner = ""
        match.ownerWatch = watch.token
        // The bus takes these in order: changes of the owner are told from before it is named, and signals come after.
        var fault: CaptureError?
        install(watch) { result in
            if case .failure(let error) = result { fault = error }
        }
        ask("GetNameOwner", of: name) { answer in
            switch answer {
            case .success(let values): match.owner = values.first?.text ?? ""
            case .failure(let error) where error.code == .unreachable: break
            case .failure(let error): fault = error
            }
        }
        install(match) { [unowned self] result in
            guard let fault else { return completion(result) }
            unsubscribe(match.token)
            completion(.failure(fault))
        }
    }

    /// Asks the bus, about a name if given. Answers and `NameOwnerChanged` come in the order in which they happened.
    func ask(
        _ member: String,
        of name: String? = nil,
        timeout: Double? = nil,
        _ completion: @escaping (Result<[BusValue], CaptureError>) -> Void
    ) {
        let question = OutgoingCall(
            destination: CaptureNames.bus,
            path: CaptureNames.busPath,
            interface: CaptureNames.bus,
            member: member,
            types: name == nil ? [] : [.basic(UInt8(ascii: "s"))],
            arguments: name.map { [.string($0)] } ?? [],
            timeout: timeout
        )
        call(question, completion)
    }

    func install(_ match: Match, _ completion: @escaping (Result<UInt64, CaptureError>) -> Void) {
        matches[match.token] = match
        do throws(CaptureError) {
            try match.install(completion)
        } catch {
            unsubscribe(match.token)
            completion(.failure(error))
        }
    }

    /// Ends a subscription.
    func unsubscribe(_ token: UInt64) {
        if let watch = matches.removeValue(forKey: token)?.ownerWatch { matches[watch] = nil }
    }

    /// A signal that cannot be read is not one of ours: nobody can answer for it, and it is dropped.
    fileprivate func received(_ message: OpaquePointer, for match: Match) {
        let sender = unsafe text(sd_bus_message_get_sender(message)) ?? ""
        if let owner = match.owner, owner != sender { return }
        guard let arguments = unsafe try? MessageReader.values(of: message, .answer) else { return }
        let signal = BusSignal(
            sender: sender,
            path: unsafe text(sd_bus_message_get_path(message)) ?? "",
            interface: unsafe text(sd_bus_message_get_interface(message)) ?? "",
            member: unsafe text(sd_bus_message_get_member(message)) ?? "",
            arguments: arguments
        )
        match.handler(signal)
    }
}
