/** Several pieces of work under way at once, and never more than so many. */

/**
 * Works on all of them, each begun in its turn. The first failure lets none be begun any more; it
 * is thrown once those under way have ended.
 */
export const inPool = async <T>(
  items: readonly T[], atOnce: number, work: (item: T) => Promise<void>,
): Promise<void> => {
  const waiting = items.values()
  let failure: { readonly error: unknown } | null = null
  const worker = async (): Promise<void> => {
    for (const item of waiting) {
      if (failure !== null) return
      try {
        await work(item)
      } catch (error) {
        failure ??= { error }
        return
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  if (failure !== null) throw (failure as { readonly error: unknown }).error
}
