public import CaptureBus
public import CaptureCore

extension [AudioLevel] {
    /// `a(dd)`: of each channel the average and the peak, in decibels.
    public var busValue: BusValue { .array("(dd)", map { .structure([.double($0.average), .double($0.peak)]) }) }

    /// - Throws: `.invalidArgument` for anything else.
    public init(busValue value: BusValue) throws(CaptureError) {
        let fault = CaptureError(.invalidArgument, "levels are not of type 'a(dd)', or out of range")
        guard case .array(_, let elements) = value.unwrapped, elements.count <= AudioLevel.mostChannels else {
            throw fault
        }
        self = []
        for element in elements {
            guard case .structure(let parts) = element, parts.count == 2, let average = parts[0].number,
                let peak = parts[1].number, AudioLevel.range.contains(average), AudioLevel.range.contains(peak)
            else { throw fault }
            append(AudioLevel(average: average, peak: peak))
        }
    }
}
