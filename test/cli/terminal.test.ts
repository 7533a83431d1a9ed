/**
 * A prompt on a real terminal, made by script(1): signals and the terminal's own end. Where script
 * is missing a child without a terminal decides what it can: nothing.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { signalled } from '../support/signalled.js'
import { t } from '../support/tests-in-slices.js'
import { until } from '../support/until.js'
import { World } from '../world/world.js'
import { builtApp } from '../world/process.js'

const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
const needsScript = hasScript ? false : 'needs the program script'

interface AtPrompt {
  readonly pid: number
  /** Ends the terminal, as closing its window does. */
  closeTerminal(): void
  /** `signal NAME` or `status N` of the program. */
  ended(): Promise<string>
}

/** `alpha setup`, waiting at the first question of its form. */
const atPrompt = async (t: Test): Promise<AtPrompt> => {
  const place = World.in(t).place
  for (const verb of ['init', 'login']) t.equal((await place.run([verb])).status, 0)
  const [pidFile, endFile] = [place.path('pid'), place.path('end')]
  const program = `'${process.execPath}' '${join(await builtApp(), 'sallyport.js')}' alpha setup`
  // The outer shell outlives the terminal, to tell how the program ended.
  const inner = `trap '' HUP; sh -c 'echo $$ > "${pidFile}"; trap - HUP; exec ${
    program.replaceAll("'", '')}'; echo $? > '${endFile}'`
  const terminal = spawn('script', ['-qec', inner, '/dev/null'], {
    cwd: place.cwd, env: { ...place.env, SHELL: '/bin/sh', TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  let shown = ''
  terminal.stdout.on('data', (chunk: Buffer) => { shown += chunk.toString('latin1') })
  t.teardown(() => { terminal.kill('SIGKILL') })
  const gone = once(terminal, 'exit').then(() => { throw new Error(`it ended: ${shown}`) })
  await Promise.race([gone, until('it asks', () => shown.includes('?'))])
  return {
    pid: Number(readFileSync(pidFile, 'utf8')),
    closeTerminal: () => { terminal.kill('SIGKILL') },
    async ended() {
      await until('the program has ended', () =>
        existsSync(endFile) && readFileSync(endFile, 'utf8') !== '')
      const status = Number(readFileSync(endFile, 'utf8'))
      return status > 128 && status !== 130 ? `signal ${status - 128}` : `status ${status}`
    },
  }
}

t.test('one signal ends a prompt as cancelled', { skip: needsScript }, async (t) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const prompt = await atPrompt(t)
    t.ok(signalled(prompt.pid, signal), 'it waits for an answer')
    t.equal(await prompt.ended(), 'status 130', signal)
  }
})

t.test('a terminal that is closed at a prompt ends it by the hangup, never by an abort', {
  skip: needsScript,
}, async (t) => {
  const prompt = await atPrompt(t)
  prompt.closeTerminal()
  t.equal(await prompt.ended(), 'signal 1')
})

t.test('help on a terminal that is lower than it goes through PAGER, and what follows it does not', {
  skip: needsScript,
}, async (t) => {
  const { place } = World.in(t)
  const program = `'${process.execPath}' '${join(await builtApp(), 'sallyport.js')}'`
  const shown = (line: string, env: Record<string, string> = {}): string =>
    spawnSync('script', ['-qec', `stty rows 10 cols 80; ${program} ${line}`, '/dev/null'], {
      cwd: place.cwd, encoding: 'utf8', stdio: ['pipe', 'pipe', 'ignore'], input: '',
      env: {
        ...place.env, SHELL: '/bin/sh', TERM: 'xterm', PAGER: 'sed s/^/PAGED-/', ...env,
      },
    }).stdout
  for (const line of ['--help', 'task --help', 'task list --help', 'help task list']) {
    t.match(shown(line), /^PAGED-/m, line)
    for (const [more, env] of [
      ['--no-pager', {}], ['--no-input', {}], ['| cat', {}], ['', { TERM: 'dumb' }],
    ] as const) t.notMatch(shown(`${line} ${more}`, env), /PAGED-/, `${line} ${more}`)
  }
})
