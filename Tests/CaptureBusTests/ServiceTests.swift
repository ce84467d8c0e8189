import CaptureCore
import Testing

@testable import CaptureBus

struct ServiceTests {
    @Test func `the service manager is told in one line each`() {
        #expect(ServiceManager.State.ready.text == "READY=1")
        #expect(ServiceManager.State.status("2 devices\nREADY=0").text == "STATUS=2 devicesREADY=0")
        #expect(ServiceManager.State.watchdog.text == "WATCHDOG=1")
        #expect(ServiceManager.State.watchdogInterval(0).text == "WATCHDOG_USEC=0")
        #expect(ServiceManager.State.stopping.text == "STOPPING=1")
        #expect(ServiceManager.State.reloading.text.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
    }

    @Test(
        arguments: [
            ("CAPTURE_SESSION", true), ("_PID", false), ("a", false), ("A B", false), ("", false), ("1A", false),
        ]
    )
    func `a journal field has a name of capital letters`(_ name: String, _ isField: Bool) {
        #expect(Journal.isField(name) == isField)
    }

    @Test func `a line goes out with and without a journal`() {
        Journal.send("a line of the tests\u{1b}[31m", priority: .debug, fields: ["CAPTURE_TEST": "a\nb", "bad": "x"])
    }
}
