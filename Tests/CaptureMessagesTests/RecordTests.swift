import CaptureBus
import CaptureCore
import CaptureMessages
import Testing

struct RecordTests {
    /// What is sent is read as the same, whatever else stands beside it.
    private func survives<Record: BusRecord & Equatable>(_ record: Record) {
        #expect(Record(record.busValue) == record)
        #expect(Record(.properties(record.properties.merging(["from-the-future": .bool(true)]) { $1 })) == record)
    }

    @Test func `every record is read as it was sent`() {
        var asset = MediaAsset()
        (asset.id, asset.place, asset.binned) = ("a", MediaPlace(latitude: 1, longitude: -2), 5)
        survives(asset)
        var use = LiveUse()
        (use.id, use.phase, use.ended) = (7, .ended, 9)
        survives(use)
        var identity = ProgramIdentity()
        identity.program = "exe:/a"
        survives(identity)
        var file = ProgramFile()
        (file.path, file.inode, file.changed) = ("/a", .max, 3)
        identity.file = file
        survives(identity)
        var session = SessionSummary()
        session.status = SessionStatus(.suspended, CaptureError(.switchedOff, "the camera is off"))
        session.description = SessionDescription(inputs: [], outputs: [], connections: [])
        survives(session)
        var agent = AgentSummary()
        (agent.program, agent.session, agent.isInline) = ("exe:/a", "c2", true)
        survives(agent)
        survives(ProfileSetting(name: "gain", value: .min, fault: "it is gone"))
        survives(ProfileSetting(name: "gain", value: 1))
        var health = DaemonHealth()
        (health.storeFault, health.libraryFaults, health.agents) = ("it is full", ["ann: why"], 2)
        health.profileFault = "it is damaged"
        survives(health)
        survives(DaemonHealth())
        var changes = LibraryChanges()
        (changes.inserted, changes.removed) = ([asset], ["b"])
        survives(changes)
    }

    @Test func `an outcome is a success or a failure, never both`() throws {
        let saved = KeptOutcome(id: "a", result: .success(SavedOutput(asset: "b", album: "Trip")))
        #expect(KeptOutcome(saved.busValue) == saved)
        let failed = KeptOutcome(id: "a", result: .failure(CaptureError(.overQuota, "no room")))
        #expect(KeptOutcome(failed.busValue) == failed)
        #expect(Set(failed.properties.keys) == ["kept", "error", "message"])
    }

    @Test func `without what is required there is no record, and what is of another type is as if it was missing`() {
        #expect(LiveUse(.properties(["state": .string("live")])) == nil)
        #expect(LiveUse(.properties(["id": .uint64(1), "state": .string("elsewhere")])) == nil)
        #expect(MediaAsset(.string("no table")) == nil)
        let odd = HistoryEvent(.properties(["id": .uint64(1), "user": .uint32(7), "times": .string("many")]))
        #expect(odd?.user == "" && odd?.times == 1)
        #expect(
            BusValue.propertyList([["id": .string("a"), "kind": .string("photo")], [:]]).records(of: MediaAsset.self)
                == nil
        )
    }

    @Test func `signatures are those of the declarations, and of the values for other interfaces`() {
        let name = CaptureNames.library
        #expect(CaptureInterfaces.signature(name, "Import", of: []) == "sa{sv}")
        #expect(CaptureInterfaces.signature(name, "Finished", of: []) == "ussa{sv}")
        #expect(CaptureInterfaces.signature(CaptureNames.properties, "Get", of: [.string("a"), .string("b")]) == "ss")
    }
}
