public import CaptureBus
import CaptureCore
import CaptureSystem
import Synchronization

/// The doors of a fake daemon. It holds the clients' descriptors itself and puts them in the places of their tickets.
final class FakeDoors: Sendable {
    private struct State {
        var last: UInt32 = 0
        var passed: [String: Descriptor] = [:]
    }

    private let state = Mutex(State())

    /// Makes a door.
    ///
    /// - Returns: The answer of `OpenDoor`.
    func open() throws(CaptureError) -> [BusValue] {
        do throws(SystemError) {
            let (theirs, ours) = try PacketSocket.pair()
            let number = state.withLock { state in
                state.last += 1
                return state.last
            }
            try WorkerThread.detached(name: "fake-door") { [weak self] in
                var place = 0
                while let message = try? ours.receive(), let file = message.files.first {
                    place += 1
                    let ticket = "\(number).\(place)"
                    self?.state.withLock { $0.passed[ticket] = file }
                    guard (try? ours.send("\(place)")) != nil else { return }
                }
            }
            return [.descriptor(theirs.file), .uint32(number)]
        } catch {
            throw CaptureError(.internalFault, error)
        }
    }

    /// A call with its tickets replaced by their descriptors. Each ticket is good once.
    func passing(_ call: BusCall) -> BusCall {
        var call = call
        switch call.member {
        case "Import": call.arguments[0] = file(call.arguments[0])
        case "Edit": call.arguments[1] = file(call.arguments[1])
        case "AddOutput": call.arguments[2] = file(call.arguments[2])
        case "CreateSession", "Configure":
            guard case .dictionary(_, let entries) = call.arguments[1] else { break }
            call.arguments[1] = .dictionary("sh", entries.map { BusEntry($0.key, file($0.value)) })
        default: break
        }
        return call
    }

    private func file(_ ticket: BusValue) -> BusValue {
        guard let text = ticket.text, let file = state.withLock({ $0.passed.removeValue(forKey: text) }) else {
            return ticket
        }
        return .descriptor(file)
    }
}

extension BusValue {
    /// The names in a table of descriptors or tickets.
    public var outputNames: [String] {
        guard case .dictionary(_, let entries) = self else { return [] }
        return entries.compactMap(\.key.text).sorted()
    }
}
