/* Nothing to call: see monitor.c. */
