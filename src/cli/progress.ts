/** Draws the steps that use cases announce: a spinner on a terminal, lines with `--verbose`. */
import type { Observer, Work } from '../base/observer.js'
import type { CliDeps } from './deps.js'
import type { Globals } from './globals.js'
import { spanText } from './time-text.js'

/** An observer that draws, and how to clear what it drew. */
export interface Progress extends Observer {
  /** Clears the line; must run before anything else is printed or asked. */
  clear(): void
}

/** Progress goes to stderr: named lines with `--verbose`, else a spinner on a terminal. */
export const drawProgress = (deps: CliDeps, globals: Globals): Progress => {
  if (globals.verbose) return harmless(namedSteps(deps))
  const silent = globals.quiet || !deps.io.terminal.stderr
  return silent ? { at: () => undefined, clear: () => undefined } : harmless(spinner(deps, globals))
}

/**
 * A drawing that fails (a full disk behind `2>`, a module that will not load) must not end a use
 * case between two of its steps, with money under way.
 */
const harmless = (drawn: Progress): Progress => ({
  async at(step) {
    try {
      await drawn.at(step)
    } catch {
      // What happens is recorded in the state; this was only its picture.
    }
  },
  counts(work) {
    try {
      drawn.counts?.(work)
    } catch {
      // As above.
    }
  },
  clear() {
    try {
      drawn.clear()
    } catch {
      // As above.
    }
  },
})

const namedSteps = ({ io, clock }: CliDeps): Progress => {
  const startMs = clock.monotonicMs()
  return {
    at(step) {
      io.writeErr(`step ${step} at ${Math.round(clock.monotonicMs() - startMs)} ms\n`)
    },
    clear: () => undefined,
  }
}

/** From then on a rate is more than chance. */
const rateMsMin = 1_000

const grouped = (count: number): string => count.toLocaleString('en-US')

/** How far a work has come and how long it may take: `intake 412/1,200 · 31/s · 25 s`. */
export const countsText = ({ what, done, of }: Work, elapsedMs: number): string => {
  const count = of === null ? grouped(done) : `${grouped(done)}/${grouped(of)}`
  if (elapsedMs < rateMsMin || done === 0) return `${what} ${count}`
  const rate = done * 1000 / elapsedMs
  const speed = `${rate < 10 ? rate.toFixed(1) : grouped(Math.round(rate))}/s`
  const left = of === null ? '' : ` · ${spanText(Math.ceil((of - done) / rate) * 1_000)}`
  return `${what} ${count} · ${speed}${left}`
}

export const stepText = (step: string): string =>
  (step.startsWith('save.') ? 'Saving …' : step.replaceAll('.', ' ').replaceAll('_', ' '))

const spinner = ({ io, clock }: CliDeps, globals: Globals): Progress => {
  /** What is counted now, and since when; steps within it are not named. */
  let counted: { readonly what: string; readonly sinceMs: number } | null = null
  let drawn: { text: string; stop(): unknown } | null = null
  let cleared = false
  return {
    async at(step) {
      cleared = false
      if (drawn === null) {
        const { stderr } = io.streams(!globals.noColor)
        const { default: yoctoSpinner } = await import('yocto-spinner')
        if (cleared) return
        drawn = yoctoSpinner({ stream: stderr, handleSignals: false }).start(stepText(step))
      }
      if (counted === null) drawn.text = stepText(step)
    },
    counts(work) {
      const now = clock.monotonicMs()
      if (counted?.what !== work.what) counted = { what: work.what, sinceMs: now }
      if (drawn !== null) drawn.text = countsText(work, now - counted.sinceMs)
      if (work.done === work.of) counted = null
    },
    clear() {
      cleared = true
      drawn?.stop()
      drawn = null
    },
  }
}
