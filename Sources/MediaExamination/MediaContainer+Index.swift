import CLibAV
import CaptureCore

extension MediaContainer {
    /// Whether what the index names is in the file.
    ///
    /// - Throws: `badData` when it is shorter.
    func checkIndex() throws(CaptureError) {
        for index in unsafe 0..<Int(context.pointee.nb_streams) {
            guard let stream = unsafe context.pointee.streams[index] else { continue }
            for number in unsafe 0..<avformat_index_get_entries_count(stream) {
                guard let entry = unsafe avformat_index_get_entry(stream, number) else { continue }
                // Matroska's has no sizes.
                let (place, count) = unsafe (entry.pointee.pos, Int64(cav_index_size(entry)))
                guard place >= 0, place <= size, count <= size - place else {
                    throw CaptureError(
                        .badData,
                        "the \(name) file is cut off: its index names \(count) bytes at \(place), and it has \(size)"
                    )
                }
            }
        }
    }
}
