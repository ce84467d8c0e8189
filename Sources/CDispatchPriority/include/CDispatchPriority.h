/* Nothing to call: see priority.c. */
