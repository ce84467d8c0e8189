import Authorization
import Foundation
import Testing

@Suite struct `The configuration` {
    let vendor: TemporaryFolder
    let administrator: TemporaryFolder

    init() throws {
        vendor = try TemporaryFolder()
        administrator = try TemporaryFolder()
    }

    private func read() -> Configuration {
        Configuration(directories: [vendor.path, administrator.path])
    }

    @Test func `has defaults where there is no file`() {
        #expect(read() == Configuration())
        #expect(read().consent.promptTimeout == .seconds(120))
    }

    @Test func `takes the administrator's main file in the place of the vendor's`() throws {
        try vendor.write("captured.conf", "[Synthetic]\nSpeed=2\nEnabled=yes\n")
        #expect(read().synthetic.speed == 2)
        try administrator.write("captured.conf", "[Synthetic]\nSpeed=3\n")
        #expect(read().synthetic.speed == 3)
        #expect(!read().synthetic.enabled)
    }

    @Test func `applies drop-ins by name, whichever folder they lie in`() throws {
        try vendor.write("captured.conf.d/20-b.conf", "[Synthetic]\nSpeed=20\n")
        try administrator.write("captured.conf.d/10-a.conf", "[Synthetic]\nSpeed=10\nClockDriftPPM=-100\n")
        try administrator.write("captured.conf", "[Synthetic]\nSpeed=1\n")
        try administrator.write("captured.conf.d/30-c.conf.bak", "[Synthetic]\nSpeed=30\n")
        #expect(read().synthetic.speed == 20)
        #expect(read().synthetic.clockDriftPPM == -100)
    }

    @Test func `lets the administrator hide a drop-in of the vendor's`() throws {
        try vendor.write("captured.conf.d/20-b.conf", "[Synthetic]\nSpeed=20\n")
        let hidden = administrator.path + "/captured.conf.d/20-b.conf"
        try administrator.write("captured.conf.d/20-b.conf", "[Synthetic]\nSpeed=7\n")
        #expect(read().synthetic.speed == 7)
        try FileManager.default.removeItem(atPath: hidden)
        try FileManager.default.createSymbolicLink(atPath: hidden, withDestinationPath: "/dev/null")
        #expect(read() == Configuration())
    }

    @Test func `reads the numbers of makers' controls`() throws {
        try administrator.write("captured.conf", "[Devices]\nVendorControls=0x0a046d71  0x9A0999\n")
        #expect(read().devices.vendorControls == [0x0a04_6d71, 0x009a_0999])
        try administrator.write("captured.conf", "[Devices]\nVendorControls=focus\n")
        #expect(read().devices.vendorControls.isEmpty)
        #expect(read().problems.first?.message.contains("0x0a046d71") == true)
    }

    @Test(arguments: [
        ("90", Duration.seconds(90)), ("2min", .seconds(120)), ("1min 30s", .seconds(90)), ("1h", .seconds(3600)),
        ("1500 ms", .milliseconds(1500)),
    ])
    func `reads times as systemd does`(text: String, time: Duration) throws {
        try vendor.write("captured.conf", "[Consent]\nPromptTimeoutSec=\(text)\n")
        #expect(read().consent.promptTimeout == time)
        #expect(read().problems.isEmpty)
    }

    @Test(
        arguments: [
            ("1M", 1 << 20), ("50G", 50 << 30), ("1048576", 1 << 20), ("1024K", 1 << 20), ("1E", 1 << 60), ("off", nil),
        ] as [(String, Int64?)]
    )
    func `reads sizes as systemd does`(text: String, size: Int64?) throws {
        try vendor.write("captured.conf", "[Library]\nUserQuota=2M\nUserQuota=\(text)\n")
        #expect(read().library.userQuota == size)
        #expect(read().problems.isEmpty)
    }

    @Test(arguments: [("", nil), ("off", 0), ("3G", 3 << 30)] as [(String, Int64?)])
    func `says how much of the disk is left free`(text: String, size: Int64?) throws {
        try vendor.write("captured.conf", "[Library]\nKeepFree=2M\nKeepFree=\(text)\n")
        #expect(read().library.keepFree == size)
        #expect(read().problems.isEmpty)
    }

    @Test(arguments: ["0", "1", "1048575", "2E", "9223372036854775808", "-1M", "M", "1m", "1 M", "1.5G", "", "1GG"])
    func `takes no size that is none, or out of range`(text: String) throws {
        try vendor.write("captured.conf", "[Library]\nProgramQuota=\(text)\n")
        #expect(read().library.programQuota == nil)
        #expect(read().problems.count == (text.isEmpty ? 0 : 1))
    }

    @Test func `says what a yes takes, and whether who is away captures`() throws {
        #expect(!read().consent.passwordForClaimed && !read().consent.stopWhenLocked)
        try administrator.write("captured.conf", "[Consent]\nPasswordForClaimed=yes\nStopWhenLocked=on\n")
        #expect(read().consent.passwordForClaimed && read().consent.stopWhenLocked)
        #expect(read().consent.passwordForServices)
        try administrator.write("captured.conf", "[Consent]\nPasswordForServices=no\n")
        #expect(!read().consent.passwordForServices)
        try administrator.write("captured.conf", "[Consent]\nStopWhenLocked=perhaps\n")
        #expect(!read().consent.stopWhenLocked)
        #expect(read().problems.first?.message.contains("expected yes or no") == true)
    }

    @Test func `says how long an indicator still shows what has ended`() throws {
        #expect(read().indicator.linger == .seconds(3))
        try administrator.write("captured.conf", "[Indicator]\nLingerSec=500ms\n")
        #expect(read().indicator.linger == .milliseconds(500))
        try administrator.write("captured.conf", "[Indicator]\nLingerSec=0\n")
        #expect(read().indicator.linger == .zero)
        try administrator.write("captured.conf", "[Indicator]\nLingerSec=61\n")
        #expect(read().indicator.linger == .seconds(3))
        #expect(read().problems.first?.message.contains("expected a time from 0 to 1min") == true)
    }

    @Test func `says how long a device may deliver nothing to a recording`() throws {
        #expect(read().devices.silenceTimeout == .seconds(5))
        try administrator.write("captured.conf", "[Devices]\nSilenceTimeoutSec=2min\n")
        #expect(read().devices.silenceTimeout == .seconds(120))
        try administrator.write("captured.conf", "[Devices]\nSilenceTimeoutSec=0\n")
        #expect(read().devices.silenceTimeout == .seconds(5))
        #expect(read().problems.first?.message.contains("expected a time from 1s to 1h") == true)
    }

    @Test(arguments: [("1M", 1 << 20), ("1G", 1 << 30), ("100000K", 102_400_000), ("", 64 << 20)] as [(String, Int64)])
    func `says how much memory a pre-roll takes`(text: String, size: Int64) throws {
        #expect(read().recorder.preRollMemory == 64 << 20)
        try administrator.write("captured.conf", "[Recorder]\nPreRollMemory=2M\nPreRollMemory=\(text)\n")
        #expect(read().recorder.preRollMemory == size)
        #expect(read().problems.isEmpty)
    }

    @Test(arguments: ["0", "1048575", "1025M", "2G", "off", "-1M", "9223372036854775807", "64 M"])
    func `keeps the memory of a pre-roll for a value that is out of range`(text: String) throws {
        try administrator.write("captured.conf", "[Recorder]\nPreRollMemory=\(text)\n")
        #expect(read().recorder.preRollMemory == 64 << 20)
        #expect(read().problems.first?.message.contains("expected a size from 1M to 1G") == true)
    }

    @Test func `says how long a yes lasts`() throws {
        #expect(read().consent.lifetimes == LifetimeLimits(grace: 10_000, unused: nil))
        try vendor.write("captured.conf", "[Consent]\nConnectionGraceSec=1500ms\nUnusedGrantsExpireSec=90d\n")
        #expect(read().consent.lifetimes == LifetimeLimits(grace: 1500, unused: 7_776_000_000))
        try administrator.write("captured.conf.d/a.conf", "[Consent]\nUnusedGrantsExpireSec=off\n")
        #expect(read().consent.lifetimes.unused == nil)
        #expect(read().problems.isEmpty)
    }

    @Test func `says how often a program may ask without an answer`() throws {
        #expect(read().consent.promptLimits == PromptLimits(burst: 3, interval: 60_000))
        try vendor.write("captured.conf", "[Consent]\nPromptLimitBurst=5\nPromptLimitIntervalSec=10min\n")
        #expect(read().consent.promptLimits == PromptLimits(burst: 5, interval: 600_000))
        try administrator.write("captured.conf.d/a.conf", "[Consent]\nPromptLimitIntervalSec=0\n")
        #expect(read().consent.promptLimits.interval == 0)
        #expect(read().problems.isEmpty)
    }

    @Test(arguments: [
        "ConnectionGraceSec=2h", "UnusedGrantsExpireSec=59min", "UnusedGrantsExpireSec=never", "PromptLimitBurst=0",
        "PromptLimitBurst=101", "PromptLimitIntervalSec=61min",
    ])
    func `keeps the default for a value of consent that cannot be`(line: String) throws {
        try vendor.write("captured.conf", "[Consent]\n\(line)\n")
        #expect(read().consent == Configuration().consent)
        #expect(read().problems.count == 1)
    }

    @Test func `says how long the history is kept`() throws {
        #expect(read().history.limits == HistoryLimits(age: 90 * 86_400_000, count: 100_000))
        try vendor.write("captured.conf", "[History]\nKeepFor=1y\nMaxEntries=5000\n")
        #expect(read().history.limits == HistoryLimits(age: 31_557_600_000, count: 5000))
        #expect(read().problems.isEmpty)
    }

    @Test(arguments: ["KeepFor=23h", "KeepFor=11y", "KeepFor=90 moons", "MaxEntries=999", "MaxEntries=1000001"])
    func `keeps the history's default for a value that is out of range`(line: String) throws {
        try vendor.write("captured.conf", "[History]\n\(line)\n")
        #expect(read().history == Configuration().history)
        #expect(read().problems.count == 1)
    }

    @Test func `says what is wrong by file and line and keeps the default`() throws {
        let file = try administrator.write(
            "captured.conf",
            """
            [Consent]
            PromptTimeoutSec=soon
            PromptTimeout=5
            [Synthetic]
            Enabled=maybe
            Speed=100000
            [Recorders]
            Socket=/x
            [Recorder]
            Socket=relative
            [X-Else]
            Anything=1
            """
        )
        let found = read()
        #expect(
            found.problems.map(\.description) == [
                "\(file):2: 'soon' is no value for PromptTimeoutSec=, expected a time from 1s to 1h, as in 90 or 2min; "
                    + "it stays as it was",
                "\(file):3: unknown key 'PromptTimeout' in [Consent], expected one of ConnectionGraceSec, "
                    + "PasswordForClaimed, PasswordForServices, PromptLimitBurst, PromptLimitIntervalSec, "
                    + "PromptTimeoutSec, StopWhenLocked, UnusedGrantsExpireSec",
                "\(file):5: 'maybe' is no value for Enabled=, expected yes or no; it stays as it was",
                "\(file):6: '100000' is no value for Speed=, expected a number from 1 to 1000; it stays as it was",
                "\(file):8: unknown section [Recorders], expected one of [Consent], [Devices], [History], "
                    + "[Indicator], [Library], [Recorder], [Synthetic]",
                "\(file):10: 'relative' is no value for Socket=, expected an absolute path of at most 107 bytes; "
                    + "it stays as it was",
            ]
        )
        var plain = found
        plain.problems = []
        #expect(plain == Configuration())
    }

    @Test func `goes back to the default by an empty value`() throws {
        try vendor.write("captured.conf", "[Recorder]\nSocket=/run/x\n")
        try administrator.write("captured.conf.d/a.conf", "[Recorder]\nSocket=\n")
        #expect(read().recorder.socket == Configuration().recorder.socket)
    }

    @Test func `says when a file cannot be used`() throws {
        let path = administrator.path + "/captured.conf"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        #expect(read().problems.map(\.description) == ["\(path): is not a regular file"])
    }
}
