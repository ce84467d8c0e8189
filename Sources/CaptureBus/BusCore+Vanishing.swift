import CaptureCore

/// Watches for names that lose their owners. All watches share one match, because the bus allows 512 matches a
/// connection and two users alone can have as many connections.
struct Vanishing {
    /// The shared match.
    enum Watch {
        case none
        /// The match is being added; these callers wait for it.
        case beginning([(Result<UInt64, CaptureError>) -> Void])
        case standing(UInt64)
    }

    var watch = Watch.none
    /// Handlers to call, by name and number.
    var handlers: [String: [UInt64: () -> Void]] = [:]
}

extension BusCore {
    /// Calls `handler` whenever a name loses its owner. `completion` gets a number once the bus has added the match.
    func watchVanishing(
        _ name: String,
        _ handler: @escaping () -> Void,
        _ completion: @escaping (Result<UInt64, CaptureError>) -> Void
    ) {
        let token = token()
        vanishing.handlers[name, default: [:]][token] = handler
        let done: (Result<UInt64, CaptureError>) -> Void = { [unowned self] result in
            if case .failure = result { forgetVanishing(name, token) }
            completion(result.map { _ in token })
        }
        switch vanishing.watch {
        case .standing(let match): done(.success(match))
        case .beginning(let others): vanishing.watch = .beginning(others + [done])
        case .none:
            vanishing.watch = .beginning([done])
            beginWatch()
        }
    }

    /// Ends a `watchVanishing`. Removes the match with the last one.
    func forgetVanishing(_ name: String, _ token: UInt64) {
        vanishing.handlers[name]?[token] = nil
        if vanishing.handlers[name]?.isEmpty == true { vanishing.handlers[name] = nil }
        guard vanishing.handlers.isEmpty, case .standing(let match) = vanishing.watch else { return }
        vanishing.watch = .none
        unsubscribe(match)
    }

    private func beginWatch() {
        let match = Match(self, .ownerChanges(to: "")) { [unowned self] signal in
            guard let name = signal.arguments.first?.text else { return }
            for handler in vanishing.handlers[name]?.sorted(by: { $0.key < $1.key }) ?? [] { handler.value() }
        }
        install(match) { [unowned self] result in
            guard case .beginning(let waiting) = vanishing.watch else { return }
            switch result {
            case .success(let token): vanishing.watch = .standing(token)
            case .failure: vanishing.watch = .none
            }
            for completion in waiting { completion(result) }
            // By now every handler may be gone.
            if vanishing.handlers.isEmpty, case .standing(let token) = vanishing.watch {
                vanishing.watch = .none
                unsubscribe(token)
            }
        }
    }
}
