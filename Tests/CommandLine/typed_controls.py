"""Every typed control of CaptureKit, on the synthetic camera."""
import subprocess

# What that camera has. Suite 15 of the test machine has the same for a USB camera, and suite 16 the crop of an HDMI input.
CONTROLS = ["lens position", "focus mode", "exposure time", "gain", "exposure mode", "exposure bias", "colour temperature",
            "white balance mode", "zoom factor", "crop", "torch", "flash", "stabilization", "power line"]


def typed_controls(daemon, folder, it):
    subject = (daemon.programs / "capture-controls-subject").resolve()
    daemon.give_reason("subject", f"exe:{subject}")
    daemon.control("auth", "set", f"exe:{subject}", "camera", "authorized")
    # capturectl is the other program that changes them.
    done = subprocess.run([subject, "synthetic:camera", f"'{daemon.programs}/capturectl' control"],
                          env=daemon.environment, text=True, stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    rows = [[cell.strip() for cell in line.split(" | ")] for line in done.stdout.splitlines()]
    found = {row[0]: row for row in rows if len(row) == 6}
    for name in CONTROLS:
        row = found.get(name, [])
        it(f"{name} is read, set, refused out of range, told and put back", all(row) and "FAILED" not in str(row) and row,
           row or done)
    it("those are all that the camera has", done.returncode == 0 and rows and
       rows[-1] == [f"{len(CONTROLS)} controls, 0 wrong"], f"{done.stdout}{done.stderr}")
