import CaptureCore
import CaptureDevices
import CaptureSystem

/// Looks for programs that hold capture nodes past the daemon.
///
/// Every process of the machine is looked at, on a thread of its own; whoever asks meanwhile gets the same answer, so that
/// a program that keeps asking costs no more than one thread.
actor HolderSearch {
    private var running: Task<Result<[NodeHolder], CaptureError>, Never>?

    func holders() async throws(CaptureError) -> [NodeHolder] {
        let search = running ?? start()
        let found = await search.value
        if running == search { running = nil }
        return try found.get()
    }

    private func start() -> Task<Result<[NodeHolder], CaptureError>, Never> {
        let search = Task {
            await Result.of { () throws(CaptureError) in
                try await WorkerThread.run("find-holders") { NodeHolders.ofCaptureNodes() }
            }
        }
        running = search
        return search
    }
}
