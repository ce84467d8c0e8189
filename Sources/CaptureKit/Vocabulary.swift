// A client needs one import: the vocabulary of devices, formats, sessions and errors comes along, of the Linux
// primitives the one that the API shows, an open descriptor, and what a ring's reader hands out.
@_exported public import CaptureCore
@_exported public import enum CaptureBus.BusKind
@_exported public import struct CaptureRing.RingBuffer
@_exported public import class CaptureSystem.Descriptor
