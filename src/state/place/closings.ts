/**
 * What still has to be said to places when stores are closed: leases that are given back, a
 * connection that ends. Closing a store does not wait; whoever ends the process does, because a
 * lease that nobody gave back keeps others waiting until its time is over.
 */

const open = new Set<Promise<unknown>>()

/** Remembers something that has been begun; how it ends is not told. */
export const noteClosing = (what: Promise<unknown>): void => {
  const ended: Promise<unknown> = what.catch(() => undefined).finally(() => open.delete(ended))
  open.add(ended)
}

/** Waits for all of it. Never rejects. */
export const closingsDone = async (): Promise<void> => {
  while (open.size > 0) await Promise.all(open)
}
