"""A daemon that lies, on a bus of its own: it has captured's name, and answers with what no honest one would."""
import os, subprocess, sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "Support"))
from private_daemon import start_bus

SERVICE, ROOT = "org.capturekit.Capture1", "/org/capturekit/Capture1"
DEEP = 60  # containers in one another, which D-Bus still takes


class Liar:
    """As a context manager. `temper` chooses what it lies about."""

    tempers = 9

    def __init__(self, folder, temper):
        self.folder, self.temper = Path(folder), temper

    def __enter__(self):
        self.folder.mkdir()
        self.bus, address = start_bus(self.folder)
        self.environment = {**os.environ, "DBUS_SESSION_BUS_ADDRESS": address, "CAPTURED_BUS": "session"}
        self.child = subprocess.Popen(["/usr/bin/python3", __file__, str(self.temper)], env=self.environment,
                                      stdout=subprocess.PIPE, text=True)
        assert self.child.stdout.readline() == "ready\n"
        return self

    def __exit__(self, *_):
        for child in [self.child, self.bus]:
            child.terminate()
            child.wait()


def serve(temper):
    import dbus, dbus.lowlevel, fcntl, struct
    from dbus.mainloop.glib import DBusGMainLoop
    from gi.repository import GLib

    DBusGMainLoop(set_as_default=True)
    bus = dbus.SessionBus()
    session = ROOT + "/sessions/1"

    def deep():
        value = dbus.String("bottom", variant_level=1)
        for _ in range(DEEP):
            value = dbus.Struct([value], variant_level=1)
        return value

    def table(**values):
        return dbus.Dictionary({key.replace("_", "-"): value for key, value in values.items()}, signature="sv")

    def size(**more):
        return dbus.Array([table(width=dbus.UInt32(0), height=dbus.UInt32(0)), table(width="wide"), table(**more)], signature="a{sv}")

    def device(number):
        return [
            table(id=dbus.Int32(5), media_type="video"), table(), table(id="x" * 70000, media_type="video", name="\x01\x7f"),
            table(id="camera", media_type="smell", video_formats="none"),
            table(id="camera", media_type="video", aliases=dbus.Array([1, 2], signature="u"), name=deep()),
            table(id="camera", media_type="video", video_formats=dbus.Array([
                table(pixel_format="TOOLONG", sizes=size()), table(pixel_format="YUYV", sizes=size(
                    width=dbus.UInt32(4), height=dbus.UInt32(4), intervals=dbus.Array([(1, 0), (0, 0)], signature="(uu)"))),
                table(pixel_format="0xzz345678", size_range=table(width=dbus.Struct([9, 1, 0], signature="uuu"))),
            ], signature="a{sv}")),
            table(id="microphone", media_type="audio", audio_formats=dbus.Array([
                table(rates=dbus.Struct([9, 1], signature="uu"), sample_formats=dbus.Array(["X", "S16_LE"])),
                table(channels="many")], signature="a{sv}")),
        ][number % 7]

    def ring():
        """A descriptor, mostly of what is no ring."""
        if temper == 3:
            return os.open("/dev/zero", os.O_RDONLY)
        file = os.memfd_create("captured:lie", os.MFD_ALLOW_SEALING)
        if temper == 4:
            return file
        os.ftruncate(file, 1 << 20)
        header = bytearray(1 << 20)
        struct.pack_into("<8sIIIIQQQQQII", header, 0, b"CAPRING\0", 1, 4096, 1, 4, 8192, 4096, 4608, 8192, 1 << 20, 128, 1)
        struct.pack_into("<5I", header, 128, 0x56595559, 32, 64, 1, 30)
        struct.pack_into("<IQQQ", header, 164, 1, 0, 64, 4096)
        # Counts and ends that make no sense: a count that falls, an end of an unknown kind, one that moved nowhere.
        struct.pack_into("<QIIQ", header, 1024, [0, 0, 0, 0, 0, 1 << 63, 7, 0, 0][temper], 0,
                         [0, 0, 0, 0, 0, 0, 3, 9, 1][temper], 1 << 40)
        os.pwrite(file, header, 0)
        fcntl.fcntl(file, 1033, 0x1 | 0x2 | 0x4 | 0x10)
        return file

    def signals():
        """Those of the daemon, of wrong types too, for a session and a question."""
        lies = [(ROOT, "Manager", "DeviceAdded", [device(number)]) for number in range(7)]
        lies += [(ROOT, "Manager", "DeviceRemoved", [dbus.Int64(1)]), (ROOT, "Manager", "DeviceRemoved", ["y" * 5000]),
                 (ROOT, "Authorization", "AccessDecided", [dbus.UInt32(7), "Nonsense", "\x1b[31m", table()]),
                 (ROOT, "Authorization", "AccessDecided", ["seven"]), (ROOT + "/devices/x", "Device", "ControlChanged", [table(value="v")]),
                 (session, "Session", "BufferMoved", [dbus.Int32(1)]), (session, "Session", "BufferMoved", ["camera"])]
        for path, interface, member, arguments in lies:
            tell(path, f"{SERVICE}.{interface}", member, *arguments)

    def tell(path, interface, member, *arguments):
        message = dbus.lowlevel.SignalMessage(path, interface, member)
        message.set_destination(caller[0])
        message.append(*arguments)
        bus.send_message(message)

    def state(name):
        tell(session, "org.freedesktop.DBus.Properties", "PropertiesChanged", SERVICE + ".Session",
             table(State=name) if isinstance(name, str) else dbus.Dictionary({"State": name, "Reason": deep()}, signature="sv"),
             dbus.Array([], signature="s"))

    def answer(member):
        if temper == 0:
            return [deep()]
        if temper == 1:
            return []
        wrong = temper == 2
        if member == "ListDevices":
            signals()
            return [dbus.Array([device(number) for number in range(7)], signature="a{sv}")]
        if member == "GetControls":
            return [dbus.Array([table(name=dbus.Int16(3)), table(name="y", kind="smell", minimum="low"),
                                table(name="z", kind="menu", choices=dbus.Dictionary({1: "a"}, signature="us")), table()],
                               signature="a{sv}")]
        if member == "GetStatus":
            return [dbus.UInt32(77)]
        if member == "RequestAccess":
            return [dbus.Int64(-1) if wrong else dbus.UInt32(7)]
        if member == "CreateSession":
            return ["/elsewhere" if wrong else dbus.ObjectPath(session)]
        if member == "Start":
            state(dbus.Int32(9))
            state("asleep")
            GLib.idle_add(lambda: state("running") or signals())
            return []
        if member == "OpenBuffer":
            file = ring()
            handed = dbus.types.UnixFd(file)
            os.close(file)
            return [handed]
        return []

    caller = [None]

    def heard(connection, message):
        if message.get_type() != 1 or message.get_interface() == "org.freedesktop.DBus.Introspectable":
            return dbus.lowlevel.HANDLER_RESULT_NOT_YET_HANDLED
        caller[0] = message.get_sender()
        if message.get_no_reply():
            return dbus.lowlevel.HANDLER_RESULT_HANDLED
        reply = dbus.lowlevel.MethodReturnMessage(message)
        reply.append(*answer(message.get_member()))
        connection.send_message(reply)
        return dbus.lowlevel.HANDLER_RESULT_HANDLED

    bus.add_message_filter(heard)
    bus.request_name(SERVICE)
    print("ready", flush=True)
    GLib.MainLoop().run()


if __name__ == "__main__":
    serve(int(sys.argv[1]))
