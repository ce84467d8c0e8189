import Testing

@testable import CaptureBus

struct ServiceManagerTests {
    @Test func `the service manager is told in one line each`() {
        #expect(ServiceManager.State.ready.text == "READY=1")
        #expect(ServiceManager.State.status("2 devices\nREADY=0").text == "STATUS=2 devicesREADY=0")
        #expect(ServiceManager.State.watchdog.text == "WATCHDOG=1")
        #expect(ServiceManager.State.watchdogInterval(0).text == "WATCHDOG_USEC=0")
        #expect(ServiceManager.State.stopping.text == "STOPPING=1")
        #expect(ServiceManager.State.reloading.text.hasPrefix("RELOADING=1\nMONOTONIC_USEC="))
    }
}
