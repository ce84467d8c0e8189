public import CaptureCore
import Glibc

extension Timestamp {
    /// The time now on CLOCK_MONOTONIC. No allocation; no system call where the vDSO serves.
    public static var now: Timestamp {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Timestamp(seconds: time.tv_sec, nanoseconds: time.tv_nsec)
    }
}
