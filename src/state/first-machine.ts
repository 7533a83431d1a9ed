/** What rows call the machine whose directory a shared state began as: no row names it. */
export const firstMachine = 'first'
