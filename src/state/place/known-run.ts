/**
 * Which run of which server a machine knows. A server that was left behind by a promotion may go on
 * living, and takes itself for the one that it was: whoever has gone on at another one is not led
 * back by an address alone.
 */

/** System identifier and timeline, as a server names its run. */
export const runForm = /^\d{1,20}\/[\dA-F]{8}$/

/**
 * Whether a run came behind another one of the same server: each promotion begins a later timeline,
 * so that whoever knows the earlier one is late, and has left nothing.
 */
export const isLaterRun = (run: string, than: string): boolean => {
  const [[system, line = ''], [before, known = '']] = [run.split('/'), than.split('/')]
  return system === before && Number.parseInt(line, 16) > Number.parseInt(known, 16)
}

/** What a machine remembers of it. */
export interface KnownRun {
  /** Null while it knows none: the first that answers is known from then on. */
  known(): string | null
  /** Remembers another one, of that form. */
  note(run: string): void
}

/** Remembered as long as it lives; `told`: the run that was known before. */
export const runOfNow = (told: string | null = null): KnownRun => {
  let known = told
  return { known: () => known, note: (run) => { known = run } }
}
