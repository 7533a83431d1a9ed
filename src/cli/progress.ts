/** Draws the steps that use cases announce: a spinner on a terminal, lines with `--verbose`. */
import type { Observer } from '../base/observer.js'
import type { CliDeps } from './deps.js'
import type { Globals } from './globals.js'

/** An observer that draws, and how to clear what it drew. */
export interface Progress extends Observer {
  /** Clears the line; must run before anything else is printed or asked. */
  clear(): void
}

/** Progress goes to stderr: named lines with `--verbose`, else a spinner on a terminal. */
export const drawProgress = (deps: CliDeps, globals: Globals): Progress => {
  if (globals.verbose) return harmless(namedSteps(deps))
  const silent = globals.quiet || !deps.io.terminal.stderr
  return silent ? { at: () => undefined, clear: () => undefined } : harmless(spinner(deps))
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

const spinner = ({ io }: CliDeps): Progress => {
  let drawn: { text: string; stop(): unknown } | null = null
  let cleared = false
  return {
    async at(step) {
      cleared = false
      if (drawn === null) {
        const { default: yoctoSpinner } = await import('yocto-spinner')
        if (cleared) return
        drawn = yoctoSpinner({ stream: io.streams().stderr, handleSignals: false }).start(step)
      }
      drawn.text = step.replaceAll('.', ' ').replaceAll('_', ' ')
    },
    clear() {
      cleared = true
      drawn?.stop()
      drawn = null
    },
  }
}
