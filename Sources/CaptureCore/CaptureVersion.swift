/// The version of all programs of one build.
public enum CaptureVersion {
    /// As in `1.0.0`.
    public static let text = "1.0.0"
}
