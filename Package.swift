// swift-tools-version: 6.2
import PackageDescription

// Every target is compiled in language mode 6 with warnings as errors and strict memory safety; imports are internal
// and existentials explicit, so that what a module shows of its neighbours is always a decision.
let settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .strictMemorySafety(),
    .treatAllWarnings(as: .error),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}

func tests(_ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []) -> Target {
    .testTarget(
        name: name + "Tests",
        dependencies: [.target(name: name), "TestWidth"] + dependencies,
        exclude: exclude,
        swiftSettings: settings
    )
}

/// A system library: a module map and a shim header, found by pkg-config, installed by the named Debian package.
func system(_ name: String, _ pkgConfig: String?, _ debianPackage: String) -> Target {
    .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([debianPackage])])
}

/// For long-running programs: CDispatchMonitor wraps some functions of libdispatch. `--undefined` makes the linker load
/// the object file with them from the static library, which nothing else refers to at that point.
let restingDispatch: LinkerSetting = .unsafeFlags(
    [
        "--wrap=dispatch_source_set_timer", "--wrap=_dispatch_workq_worker_register",
        "--wrap=_dispatch_workq_worker_unregister", "--undefined=_dispatch_workq_worker_register",
    ].flatMap { ["-Xlinker", $0] }
)

let grdb: Target.Dependency = .product(name: "GRDB", package: "GRDB.swift")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let argumentParser: Target.Dependency = .product(name: "ArgumentParser", package: "swift-argument-parser")

let package = Package(
    name: "captured",
    products: [
        .library(name: "CaptureKit", targets: ["CaptureKit"]),
        .executable(name: "captured", targets: ["captured"]),
        .executable(name: "captured-recorder", targets: ["captured-recorder"]),
        .executable(name: "captured-door", targets: ["captured-door"]),
        .executable(name: "captured-picker", targets: ["captured-picker"]),
        .executable(name: "capturectl", targets: ["capturectl"]),
    ],
    dependencies: [
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        // C: shims and system libraries
        .target(name: "CLinux"),
        .target(name: "CBus", dependencies: ["CSystemd"]),
        .target(name: "CDispatchPriority"),
        .target(name: "CDispatchMonitor"),
        .target(name: "CNoICU"),
        .target(name: "CLibAV"),
        .target(name: "CTIFF"),
        system("CSystemd", "libsystemd", "libsystemd-dev"),
        system("CUdev", "libudev", "libudev-dev"),
        system("CALSA", "alsa", "libasound2-dev"),
        system("CLibV4L", "libv4lconvert", "libv4l-dev"),
        system("CTurboJPEG", "libturbojpeg", "libturbojpeg0-dev"),
        system("CExif", "libexif", "libexif-dev"),
        system("CYUV", nil, "libyuv-dev"),
        system("CCrypto", "libcrypto", "libssl-dev"),
        system("CGTK", "gtk+-3.0", "libgtk-3-dev"),

        // The house: arrows point one way
        module("CaptureCore"),
        module("CaptureSystem", ["CaptureCore", "CLinux", logging]),
        module("CaptureRing", ["CaptureCore", "CaptureSystem", "CLinux"]),
        module("ProgramIdentity", ["CaptureCore"]),
        module("Authorization", ["CaptureCore", "ProgramIdentity", grdb, logging]),
        module(
            "CaptureDevices",
            ["CaptureCore", "CaptureSystem", "Authorization", "CLinux", "CUdev", "CALSA", logging]
        ),
        module("MediaConversion", ["CaptureCore", "CaptureRing", "CLibAV", "CTurboJPEG", "CYUV"]),
        module(
            "MediaExamination",
            ["CaptureCore", "CaptureSystem", "MediaConversion", "CLinux", "CLibAV", "CTurboJPEG"]
        ),
        module(
            "CaptureOutputs",
            [
                "CaptureCore", "CaptureSystem", "CaptureRing", "MediaConversion", "MediaExamination", "CLinux",
                "CLibAV",
                "CLibV4L", "CTurboJPEG", "CExif", "CTIFF",
            ]
        ),
        module("MediaLibrary", ["CaptureCore", "CCrypto", grdb]),
        module("CaptureEngine", ["CaptureCore", "Authorization", logging]),
        module("CaptureBus", ["CaptureCore", "CaptureSystem", "CBus", "CSystemd", logging]),
        module("CaptureMessages", ["CaptureCore", "CaptureSystem", "CaptureBus"]),
        module(
            "CaptureKit",
            ["CaptureCore", "CaptureSystem", "CaptureBus", "CaptureMessages", "CaptureRing", "MediaConversion"]
        ),
        module(
            "CaptureService",
            [
                "CaptureCore", "CaptureSystem", "CaptureDevices", "CaptureRing", "Authorization", "CaptureEngine",
                "MediaLibrary", "CaptureBus", "CaptureMessages", "CLinux", "CSystemd", logging,
            ]
        ),
        module(
            "CaptureAgent",
            ["CaptureCore", "CaptureSystem", "CaptureBus", "CaptureMessages", "CaptureKit", "CLinux"]
        ),
        module("PickerMessages", ["CaptureCore"]),

        // The programs
        .executableTarget(
            name: "captured",
            dependencies: [
                "CaptureService", "CaptureCore", "CaptureSystem", "CLinux", "CNoICU", "CDispatchPriority",
                "CDispatchMonitor", argumentParser,
            ],
            swiftSettings: settings,
            linkerSettings: [restingDispatch]
        ),
        .executableTarget(
            name: "captured-recorder",
            dependencies: ["CaptureCore", "CaptureSystem", "CaptureRing", "CaptureOutputs"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "captured-door",
            dependencies: ["CaptureCore", "CaptureSystem", "CLinux"],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "capturectl",
            dependencies: [
                "CaptureBus", "CaptureKit", "CaptureAgent", "CaptureSystem", "ProgramIdentity", "PickerMessages",
                "CDispatchPriority", "CDispatchMonitor", "CCrypto", "CLinux", "CTurboJPEG", argumentParser, logging,
            ],
            swiftSettings: settings,
            linkerSettings: [restingDispatch]
        ),
        // Alone in linking GTK: what shows no window runs without it.
        .executableTarget(
            name: "captured-picker",
            dependencies: ["CaptureCore", "CaptureSystem", "PickerMessages", "CGTK"],
            swiftSettings: settings
        ),

        // Tests, without hardware; those that need devices, systemd and a bus are in Tests/VM
        .target(
            name: "TestSupport",
            dependencies: [
                "CaptureCore", "CaptureSystem", "CaptureRing", "Authorization", "CaptureEngine", "BusSupport",
            ],
            path: "Tests/Support",
            exclude: [
                "AllocationCounter", "Bus", "LyingDriver", "TestWidth", "agent.py", "checks.py", "compiled.py",
                "json_schema.py", "private_daemon.py", "say.h", "terminal.py",
            ],
            swiftSettings: settings
        ),
        .target(
            name: "BusSupport",
            dependencies: ["CaptureBus", "CaptureCore", "CaptureKit", "CaptureMessages", "CaptureSystem"],
            path: "Tests/Support/Bus",
            swiftSettings: settings
        ),
        .target(name: "AllocationCounter", path: "Tests/Support/AllocationCounter"),
        .target(name: "TestWidth", path: "Tests/Support/TestWidth"),
        .target(name: "LyingDriver", path: "Tests/Support/LyingDriver"),
        .executableTarget(
            name: "capture-bench-reader",
            dependencies: ["CaptureKit", "CaptureSystem"],
            path: "Tests/Benchmarks/Reader",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "capture-revocation-subject",
            dependencies: ["CaptureKit", "CaptureRing", "CaptureSystem"],
            path: "Tests/Revocation/Subject",
            swiftSettings: settings
        ),
        .executableTarget(
            name: "capture-controls-subject",
            dependencies: ["CaptureKit", "CaptureSystem"],
            path: "Tests/Controls/Subject",
            swiftSettings: settings
        ),
        tests("CaptureCore"),
        tests("CaptureSystem", ["CaptureCore", logging]),
        tests(
            "CaptureRing",
            ["CaptureCore", "CaptureSystem", "CLinux", "AllocationCounter"],
            exclude: ["attack_ring.py", "read_ring.py"]
        ),
        tests("Authorization", ["CaptureCore", "ProgramIdentity", "TestSupport"]),
        tests(
            "CaptureDevices",
            ["CaptureCore", "CaptureSystem", "CaptureRing", "TestSupport", "AllocationCounter", "LyingDriver"]
        ),
        tests("MediaConversion", ["CaptureCore", "CaptureRing"]),
        tests("MediaExamination", ["MediaConversion"]),
        tests(
            "CaptureOutputs",
            [
                "CaptureCore", "CaptureSystem", "CaptureRing", "MediaConversion", "MediaExamination", "CLibAV",
                "TestSupport",
                "captured-recorder",
            ]
        ),
        tests("MediaLibrary", ["CaptureCore", "CCrypto", "TestSupport", grdb]),
        tests("CaptureEngine", ["CaptureCore", "Authorization", "TestSupport"]),
        tests("CaptureBus", ["CaptureCore", "CaptureMessages", "CaptureSystem", "BusSupport"]),
        tests("CaptureMessages", ["CaptureCore", "CaptureBus", "CaptureSystem"]),
        tests(
            "CaptureKit",
            [
                "CaptureCore", "CaptureDevices", "CaptureRing", "CaptureBus", "CaptureMessages", "CaptureSystem",
                "MediaConversion", "BusSupport",
            ]
        ),
        tests(
            "CaptureAgent",
            ["CaptureCore", "CaptureKit", "CaptureBus", "CaptureMessages", "CaptureSystem", "BusSupport"]
        ),
        tests("PickerMessages", ["CaptureCore"]),
        tests(
            "capturectl",
            [
                "CaptureCore", "CaptureSystem", "CaptureBus", "CaptureMessages", "CaptureKit", "CaptureAgent",
                "PickerMessages", "BusSupport", argumentParser,
            ]
        ),
        tests(
            "CaptureService",
            [
                "CaptureCore", "CaptureBus", "CaptureMessages", "CaptureEngine", "CaptureKit", "CaptureSystem",
                "Authorization", "MediaLibrary", "BusSupport", "TestSupport", "CLinux", "captured-door",
                "captured-recorder", logging,
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)

// What parses bytes from outside is fuzzed by the same functions twice: with kept inputs and a bounded number of new ones
// among the unit tests, and by libFuzzer, which takes a build of its own (Tests/Fuzz/run).
let fuzzed: [Target.Dependency] = [
    "CaptureCore", "CaptureSystem", "CaptureRing", "CaptureBus", "CaptureMessages", "CaptureKit", "CaptureAgent",
    "Authorization", "CSystemd", "CaptureService", grdb,
]
if Context.environment["CAPTURE_FUZZ"] == nil {
    package.targets.append(
        .testTarget(
            name: "FuzzTests",
            dependencies: fuzzed,
            path: "Tests/Fuzz",
            exclude: ["CFuzz", "Corpus", "Main", "run"],
            sources: ["Targets", "Replay"],
            swiftSettings: settings
        )
    )
} else {
    package.targets += [
        .target(name: "CFuzz", path: "Tests/Fuzz/CFuzz"),
        .executableTarget(
            name: "capture-fuzz",
            dependencies: fuzzed + ["CFuzz"],
            path: "Tests/Fuzz",
            exclude: ["CFuzz", "Corpus", "Replay", "run"],
            sources: ["Targets", "Main"],
            swiftSettings: settings
        ),
    ]
}
