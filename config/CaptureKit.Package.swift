// swift-tools-version: 6.2
import PackageDescription

// What is installed as share/captured/CaptureKit: the sources of CaptureKit, for programs that depend on it by this
// path. Warnings are no errors here, since a later compiler may have more of them.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .strictMemorySafety(),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")

let package = Package(
    name: "CaptureKit",
    products: [.library(name: "CaptureKit", targets: ["CaptureKit"])],
    dependencies: [.package(url: "https://github.com/apple/swift-log", from: "1.16.2")],
    targets: [
        .target(name: "CLinux"),
        .target(name: "CBus", dependencies: ["CSystemd"]),
        .target(name: "CLibAV"),
        .systemLibrary(name: "CSystemd", pkgConfig: "libsystemd", providers: [.apt(["libsystemd-dev"])]),
        .systemLibrary(name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CYUV", providers: [.apt(["libyuv-dev"])]),
        module("CaptureCore"),
        module("CaptureSystem", ["CaptureCore", "CLinux", logging]),
        module("CaptureRing", ["CaptureCore", "CaptureSystem", "CLinux"]),
        module("CaptureBus", ["CaptureCore", "CaptureSystem", "CBus", "CSystemd", logging]),
        module("CaptureMessages", ["CaptureCore", "CaptureSystem", "CaptureBus"]),
        module("MediaConversion", ["CaptureCore", "CaptureRing", "CLibAV", "CTurboJPEG", "CYUV"]),
        module(
            "CaptureKit",
            ["CaptureCore", "CaptureSystem", "CaptureBus", "CaptureMessages", "CaptureRing", "MediaConversion"]
        ),
    ]
)
