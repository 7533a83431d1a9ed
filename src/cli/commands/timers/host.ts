/** Programs of this machine that timers need, and systemd's own two. */
import { spawn, type ChildProcess } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { fail, type SallyportError } from '../../../base/errors.js'
import { realOf } from '../../../base/user-folders.js'
import { stopSecondsMin } from '../../../fabric/stop-seconds.js'
import { timerId } from '../../../fabric/timers/jobs.js'
import { unitProperties, unitStatesOf, type UnitState } from '../../../fabric/timers/unit-state.js'
import type { VerbDeps } from '../../verb.js'

/** Which timers are those of this state, however its path is spelled and whatever links it has. */
export const ownId = ({ places, system }: VerbDeps): string =>
  timerId(system.folded(realOf(places.stateDir)))

/** How a program of the machine ended. */
interface Ended {
  /** Null where there is none of that name; -1 where it was ended, or could not be run. */
  readonly status: number | null
  /** Bytes as latin1. */
  readonly out: string
  readonly err: string
}

/** How long a program of the machine may take, milliseconds. */
const answerMs = 20_000
/** The same for one that stops units: it waits for what is under way, as their files say. */
const stoppedMs = answerMs + stopSecondsMin * 1_000
/** After so much of that a person is told why, milliseconds. */
const slowMs = 2_000

/** A session of this program is none of theirs. */
const envFor = (env: VerbDeps['env']): Record<string, string | undefined> => ({
  ...env, SALLYPORT_SESSION: undefined, LC_ALL: 'C',
})

/** What a stop while the machine is asked, or is about to be, becomes. */
export const stopped = (cause?: unknown): SallyportError =>
  fail.cancelled('timers_stopped', 'Stopped; timers may have been changed in part.', {
    next: 'What is installed now tells `sallyport timers show`.', cause,
  })

const endOf = (child: ChildProcess): Promise<Ended> => new Promise((resolve) => {
  const [out, err]: [Buffer[], Buffer[]] = [[], []]
  const textOf = (parts: Buffer[]): string => Buffer.concat(parts).toString('latin1')
  child.stdout?.on('data', (part: Buffer) => out.push(part))
  child.stderr?.on('data', (part: Buffer) => err.push(part))
  child.on('error', ({ code }: NodeJS.ErrnoException) =>
    resolve({ status: code === 'ENOENT' ? null : -1, out: '', err: '' }))
  child.on('close', (status) =>
    resolve({ status: status ?? -1, out: textOf(out), err: textOf(err) }))
})

/** Ends it; what it started itself may keep its streams open, and is not waited for. */
const letGo = (child: ChildProcess): void => {
  child.kill('SIGKILL')
  for (const stream of child.stdio) stream?.destroy()
}

/**
 * Runs a program of the machine by its name on PATH and waits for it, never longer than `withinMs`.
 * Throws `cancelled` `timers_stopped`: an interrupt at the terminal ends the program too, and what
 * it did not say must not be taken for an answer.
 */
export const ask = async (
  deps: VerbDeps, name: string, words: readonly string[], input = '', withinMs = answerMs,
): Promise<Ended> => {
  if (deps.stop.aborted) throw stopped()
  const child = spawn(name, [...words], { env: envFor(deps.env), stdio: ['pipe', 'pipe', 'pipe'] })
  child.stdin.on('error', () => undefined)
  child.stdin.end(Buffer.from(input, 'latin1'))
  const over = new AbortController()
  const late = deps.clock.sleep(withinMs, AbortSignal.any([deps.stop, over.signal]))
  try {
    const ended = await Promise.race([endOf(child), late.then(() => null, () => null)])
    if (deps.stop.aborted) throw stopped()
    return ended ?? { status: -1, out: '', err: '' }
  } finally {
    over.abort()
    letGo(child)
  }
}

/** The absolute path of a program; null where there is none. */
export const findProgram = ({ env }: VerbDeps, name: string): string | null => {
  const folders = [...(env['PATH'] ?? '').split(':'), '/usr/sbin', '/usr/lib'].filter(isAbsolute)
  for (const folder of folders) {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return join(folder, name)
    } catch {
      // The next folder may have it.
    }
  }
  return null
}

/** systemctl of the user's own manager. Throws `failed` `systemd_refused`. */
export const systemctl = async (deps: VerbDeps, ...words: string[]): Promise<void> => {
  const stops = words[0] === 'disable' || words[0] === 'restart'
  const over = new AbortController()
  const told = stops && deps.clock.sleep(slowMs, over.signal).then(() =>
    deps.note('What runs is told to end; that can take two minutes.'), () => undefined)
  const { status } = await ask(deps, 'systemctl', ['--user', ...words], '', stoppedMs)
    .finally(() => over.abort())
  await told
  if (status === 0) return
  throw fail.failed('systemd_refused', `systemctl --user ${words[0] ?? ''} did not succeed.`, {
    next: 'Look with `systemctl --user list-timers`, and take the units out with '
      + '`sallyport timers remove`.',
    details: { status },
  })
}

/** Whether a manager of user units answers. */
export const hasSystemd = async (deps: VerbDeps): Promise<boolean> =>
  (await ask(deps, 'systemctl', ['--user', 'show-environment'])).status === 0

/** How the jobs of these units stand; each `unknown` where no manager answers. */
export const unitStates = async (
  deps: VerbDeps, id: string, units: readonly string[],
): Promise<readonly UnitState[]> => {
  // A template has no state of its own.
  const asked = units.filter((name) => !name.includes('@'))
  const words = ['--user', 'show', `--property=${unitProperties}`, ...asked]
  return unitStatesOf(id, asked, (await ask(deps, 'systemctl', words)).out)
}

/** Whether user units go on while nobody is logged in; null where nobody can say. */
export const lingers = async (deps: VerbDeps): Promise<boolean | null> => {
  const uid = deps.self.uid === null ? [] : [String(deps.self.uid)]
  const { status, out } = await ask(deps, 'loginctl', ['show-user', ...uid, '--property=Linger'])
  const [, word] = /^Linger=(yes|no)$/m.exec(out) ?? []
  return status !== 0 || word === undefined ? null : word === 'yes'
}
