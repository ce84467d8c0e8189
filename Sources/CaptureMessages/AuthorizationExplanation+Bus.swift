import CaptureBus
package import CaptureCore

extension AuthorizationExplanation: BusRecord {
    /// What `Explain` tells.
    package static let fields: [BusField<AuthorizationExplanation>] = [
        BusField("program", \.program), BusField("tier", \.tier), BusField("service", \.service),
        BusField("status", \.status, isRequired: true), BusField("follows", \.follows), BusField("decides", \.decider),
        BusField("policy", \.policy), BusField("policy-source", \.policySource),
        BusField("policy-fault", \.policyFault), BusField("policy-possible", \.possibleRules),
        BusField("stored", \.stored, none: .string("")), BusField("reason", \.reason),
        BusField("time", \.milliseconds), BusField("lifetime", \.lifetime),
        BusField("ends", \.ends, none: .int64(0)), BusField("start", \.start, isRequired: true),
        BusField("exit-code", \.exitCode, write: { .uint32(UInt32(clamping: $0)) }) {
            $0.integer.map { Int32(clamping: $0) }
        },
        BusField("asks", \.asks), BusField("message", \.message),
    ]
}

extension AuthorizationExplanation.Start: BusFieldValue {}
