/// What may be allowed beforehand.
extension PolicyRule {
    /// Why a rule that allows may not; `nil` when it may.
    ///
    /// Who could be forged is never allowed without a question, and what is allowed is named: units one by one, or the
    /// instances of one template, and services.
    var refusal: String? {
        guard decision == .allow else { return nil }
        let units = units.map(\.text)
        let programs = programs.map(\.text)
        if !tiers.isSubset(of: [.service]) || programs.contains(where: { !$0.hasPrefix("unit:") }) {
            let others = PolicyRule.forgeable(tiers, programs)
            return "only system units can be allowed beforehand, not \(others)"
        }
        if services.isEmpty { return "a rule that allows must name the services, as in Service=camera" }
        if units.isEmpty, programs.isEmpty {
            return "a rule that allows must name the units, as in Program=unit:doorbell.service"
        }
        let names = units + programs.map { String($0.dropFirst("unit:".count)) }
        if let wide = names.first(where: { !PolicyRule.isOneUnit($0) }) {
            return "'\(KeyFile.shown(wide))' is more than one system unit; a rule that allows names a .service, or the "
                + "instances of one template, as in unit:door@*.service"
        }
        return nil
    }

    private static func forgeable(_ tiers: Set<Tier>, _ programs: [String]) -> String {
        let kinds = tiers.subtracting([.service]).map(\.rawValue).sorted()
        let ids = programs.filter { !$0.hasPrefix("unit:") }.map { KeyFile.shown($0) }
        return (kinds + ids).joined(separator: " or ")
    }

    /// Whether a pattern stands for one service, or for instances of one template.
    private static func isOneUnit(_ pattern: String) -> Bool {
        guard pattern.hasSuffix(".service") else { return false }
        let name = pattern.dropLast(".service".count)
        let fixed = name.firstIndex(of: "@").map { name[..<$0] } ?? name
        return !fixed.isEmpty && !Glob(text: String(fixed)).isOpen
    }
}
