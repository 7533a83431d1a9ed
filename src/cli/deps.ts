/**
 * Everything the program takes from outside, in one record. Costly things are functions called at
 * use and load their module then, so that `--help` touches neither disk nor network. Tests pass
 * other clocks, resolvers and observers here; the shipped program has no other way to set them.
 */
import { homedir } from 'node:os'
import { systemClock, type Clock } from '../base/clock.js'
import type { Platform } from '../base/platform/platform.js'
import { thisPlatform } from '../base/platform/this-platform.js'
import type { ToolPlaces } from '../codehost/producer/tools.js'
import type { Observer } from '../base/observer.js'
import type { FoldersNamed } from '../fabric/names/look-up.js'
import type { HttpsClientDeps } from '../net/types.js'
import type { Insist, Io, ProcessIo, Self } from './io.js'
import type { Prompter } from './prompt.js'

/** The world as the program sees it. */
export interface CliDeps {
  /** Arguments after the program's own name. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  /** Flags of Node itself. */
  readonly execArgv: readonly string[]
  readonly cwd: string
  /** Home folder as the system tells it: HOME, else that of the account; may be anything. */
  readonly home: string
  readonly io: Io
  readonly clock: Clock
  /** Aborted when the operator asks the program to stop. */
  readonly stop: AbortSignal
  /** Sets what the program does when it is asked a second time. */
  onInsist(act: Insist): void
  /** One look-up per contact. */
  readonly resolve: HttpsClientDeps['resolve']
  /** Asks a person; loaded at the first question. */
  prompter(io: Io, color: boolean): Promise<Prompter>
  /** Shows a text through this pager until the person leaves it; false where it cannot run. */
  page(command: string, text: string): Promise<boolean>
  readonly self: Self
  /** The operating system that it runs on. */
  readonly system: Platform
  /** Where the producer of publications is found; empty: where it is installed. */
  readonly producer: ToolPlaces
  /** Finds the folders of a named state; left out: by the file of names. */
  readonly foldersNamed?: FoldersNamed
  /** Puts something round the observer that draws progress. */
  observe(drawn: Observer): Observer
}

/** An account without an entry has no home, and only what needs one may fail for it. */
const homeOrNothing = (): string => {
  try {
    return homedir()
  } catch {
    return ''
  }
}

/** The shipped program's dependencies. */
export const systemDeps = (io: ProcessIo): CliDeps => ({
  ...io.facts,
  home: homeOrNothing(),
  io,
  clock: systemClock,
  stop: io.stop,
  onInsist: io.onInsist,
  async resolve(host) {
    const { lookUp } = await import('../net/look-up.js')
    return lookUp(host)
  },
  async prompter(streams, color) {
    const { terminalPrompter } = await import('./prompt.js')
    return terminalPrompter(streams, color, io.stop)
  },
  async page(command, text) {
    const { showPaged } = await import('./pager.js')
    // In a pager an interrupt is meant for the pager.
    io.onInsist(() => undefined)
    return showPaged(command, text, io.facts.env)
  },
  producer: {},
  system: thisPlatform,
  observe: (drawn) => drawn,
})
