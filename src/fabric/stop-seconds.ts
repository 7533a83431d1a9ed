/** An operation may take 120 seconds, and a stop waits for it: what a service manager must give. */
export const stopSecondsMin = 150
