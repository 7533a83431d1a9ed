/** What tasks of jobs are blocked on. */

/** Nothing of it was sent, or what it rests on changed: it may go on, or be given up. */
export const incompleteBlock = 'codehost_incomplete'
/** Something may have happened that nobody read back, or the host refused it. */
export const effectBlock = 'external_effect'
