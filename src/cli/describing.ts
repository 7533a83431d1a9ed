/** Dependencies for describing the commands, which touches nothing of the world. */
import { systemClock } from '../base/clock.js'
import { thisPlatform } from '../base/platform/this-platform.js'
import { commands } from './commands/table.js'
import { bindDeps } from './verb-deps.js'
import { scanGlobals } from './globals.js'
import { secretsOfRun } from './redact.js'
import type { VerbDeps } from './verb.js'

const nothing = (): never => {
  throw new Error('a description touches nothing')
}

/** Bound dependencies whose every effect throws. */
export const describingDeps = (): VerbDeps =>
  bindDeps(
    {
      argv: [], env: {}, execArgv: [], cwd: '/', home: '/', clock: systemClock,
      stop: new AbortController().signal, onInsist: () => undefined,
      io: {
        terminal: { stdin: false, stdout: false, stderr: false }, columns: 80,
        rows: 24,
        writeOut: nothing, isOutGone: nothing, writeErr: nothing, stdin: nothing,
        streams: nothing,
      },
      resolve: nothing, prompter: nothing, page: nothing, producer: {},
      self: { uid: null, program: [] }, system: thisPlatform, observe: (drawn) => drawn,
    },
    scanGlobals([]).globals, secretsOfRun(), { commands, again: nothing },
  )
