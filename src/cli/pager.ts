/**
 * Long text through the pager of the person: `PAGER`, else less. What is paged was made harmless
 * before; the status of the command stays that of its verb, however the pager ends.
 */
import type { Globals } from './globals.js'
import type { Io } from './io.js'

type Env = Readonly<Record<string, string | undefined>>

const pagerDefault = 'less'

/** The pager of this run; null where nothing is paged. */
export const pagerOf = (
  { io, env }: { readonly io: Pick<Io, 'terminal'>; readonly env: Env }, globals: Globals,
): string | null => {
  const { stdin, stdout } = io.terminal
  const isRefused = globals.json || globals.noInput || globals.noPager || env['TERM'] === 'dumb'
  if (!stdin || !stdout || isRefused) return null
  const command = (env['PAGER'] ?? pagerDefault).trim()
  return command === '' || command === 'cat' ? null : command
}

/** Whether a text is longer than a screen of so many rows, the prompt after it included. */
export const isLong = (text: string, rows: number): boolean => text.split('\n').length > rows

/**
 * What the pager is started with: it ends where one screen was enough, shows colours, leaves the
 * text on the screen, starts no shell or editor and keeps no history. A session is none of its
 * business.
 */
const pagerEnv = (env: Env): Record<string, string | undefined> => ({
  ...env, LESS: 'FRX', LESSSECURE: '1', LESSHISTFILE: '-', SALLYPORT_SESSION: undefined,
})

/** Status by which a shell says that there is no such command, or none that runs. */
const notStarted = new Set([126, 127])

/** Shows a text through a pager until the person leaves it; false where there is none. */
export const showPaged = async (command: string, text: string, env: Env): Promise<boolean> => {
  // Loaded at the first page: it brings sockets with it, which no other line needs.
  const { spawn } = await import('node:child_process')
  return new Promise((resolve) => {
    // Through a shell, because PAGER may hold flags: `less -S`.
    const child = spawn('/bin/sh', ['-c', command], {
      env: pagerEnv(env), stdio: ['pipe', 'inherit', 'inherit'],
    })
    child.once('error', () => resolve(false))
    child.once('close', (status) => resolve(!notStarted.has(status ?? 0)))
    // Whoever leaves before the end has seen enough.
    child.stdin.on('error', () => undefined)
    child.stdin.end(text)
  })
}
