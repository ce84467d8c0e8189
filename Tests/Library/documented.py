"""The documentation's programs, and a library that they are tried with."""
import json, re
from pathlib import Path

PAGES = Path(__file__).resolve().parent.parent.parent / "Sources/CaptureKit/Documentation.docc"


class Documented:
    """A library of two photos, which capturectl may read and change."""

    def __init__(self, daemon, person, it, photos):
        self.daemon, self.person, self.it, self.photos = daemon, person, it, photos
        for photo in photos:
            daemon.control("library", "add", photo)
        self.red, self.green = (photo.name for photo in photos)
        self.text = photos[0].with_suffix(".txt")
        self.text.write_text("no photo")

    def texts(self, language, count, page="Library.md"):
        """A page's programs in a language, in their order."""
        texts = re.findall(rf"^```{language}\n(.*?)^```$", (PAGES / page).read_text(), re.M | re.S)
        self.it(f"{page} has its programs in {language}", len(texts) == count, len(texts))
        return texts

    def library(self, *arguments):
        return json.loads(self.daemon.control("library", *arguments, "--json"))

    def assets(self, *arguments):
        """By their names."""
        return {asset["name"]: asset for asset in self.library("list", *arguments)}

    def exported(self, asset):
        """What an asset's file holds, outside of the library."""
        folder = self.daemon.folder / f"exported-{asset['id']}"
        self.daemon.control("library", "export", asset["id"], folder)
        return [file.read_bytes() for file in folder.rglob(asset["name"])]
