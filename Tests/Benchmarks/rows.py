"""All rows, in the order of the table."""
import sound, works

WORKS = [*works.WORKS, *sound.WORKS]
