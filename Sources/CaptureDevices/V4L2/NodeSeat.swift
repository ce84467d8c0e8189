/// Where a video node hangs, which tells which camera's metadata it has.
struct NodeSeat: Hashable, Sendable {
    /// As the driver says it.
    var bus: String
    /// The device that sysfs has it at, such as an interface of a USB device.
    var parent: String
    /// Which of the nodes of that device it is: sysfs' `index`.
    var index: Int

    /// The camera that a metadata node belongs to. Of several at one device, as with a depth camera, it is the
    /// last that was registered before it.
    ///
    /// - Returns: Its place in the list; `nil` for a node that hangs at no camera's device.
    func owner(among cameras: [NodeSeat]) -> Int? {
        cameras.indices
            .filter { cameras[$0].bus == bus && cameras[$0].parent == parent && cameras[$0].index < index }
            .max { cameras[$0].index < cameras[$1].index }
    }
}
