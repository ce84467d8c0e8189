"""All rows, in the order of the table."""
import bridges, daemon, library, many, sharing, sound, starts, works

WORKS = [*sharing.WORKS, *bridges.WORKS, *works.WORKS, *starts.WORKS, *sound.WORKS, *daemon.WORKS, *many.WORKS, *library.WORKS]
