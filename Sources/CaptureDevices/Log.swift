import Logging

/// This room's debug lines, which `CAPTURE_LOG` turns on, and its warnings.
let log = Logger(label: "captured.devices")
