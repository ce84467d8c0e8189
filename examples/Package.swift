// swift-tools-version: 6.2
import PackageDescription

// One program for each file in Swift: swift run --package-path examples photo me.jpg
let programs = [
    "annotate", "brightness", "dashcam", "events", "levels", "photo", "reconfigure", "timelapse", "together",
]
let others = ["README.md", "controls.py", "frames.c", "levels.c", "library_photo.py", "record.py"]

let package = Package(
    name: "examples",
    dependencies: [.package(name: "captured", path: "..")],
    targets: programs.map { program in
        .executableTarget(
            name: program,
            dependencies: [.product(name: "CaptureKit", package: "captured")],
            path: ".",
            exclude: others + programs.filter { $0 != program }.map { "\($0).swift" },
            sources: ["\(program).swift"]
        )
    },
    swiftLanguageModes: [.v6]
)
