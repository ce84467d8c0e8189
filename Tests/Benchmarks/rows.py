"""All rows, in the order of the table."""
import daemon, library, many, sound, starts, works

WORKS = [*works.WORKS, *starts.WORKS, *sound.WORKS, *daemon.WORKS, *many.WORKS, *library.WORKS]
