/**
 * Which shapes of rows this program writes. It is raised by one with each field that any shape
 * gains: a machine with an older program would call such a row damage, so the place refuses it from
 * then on (`state_too_new`). A test compares a digest of all shapes with the one kept beside it.
 */
export const writesVersion = 4
