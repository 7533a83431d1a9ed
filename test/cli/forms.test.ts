/**
 * Each set-up form on a pseudo-terminal, made by script(1), answered by the Enter key alone: it
 * changes nothing, whatever was saved before.
 */
import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { forImages } from '../world/gateway.js'
import { allowed } from '../world/images.js'
import { builtApp } from '../world/process.js'
import type { SignedIn } from '../world/session.js'
import type { Stateful } from '../world/state.js'
import { World, type Placed } from '../world/world.js'

const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
const needsScript = hasScript ? false : 'needs the program script'

interface Ended {
  readonly status: number | null
  readonly shown: string
}

/** Runs a line on a terminal and answers whatever is shown with Enter until it ends. */
const enterThrough = async (t: Test, { place }: Placed, words: string): Promise<Ended> => {
  const program = `'${process.execPath}' '${join(await builtApp(), 'sallyport.js')}' ${words}`
  const terminal = spawn('script', ['-qec', program, '/dev/null'], {
    cwd: place.cwd, env: { ...place.env, SHELL: '/bin/sh', TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  t.teardown(() => { terminal.kill('SIGKILL') })
  terminal.stdin.on('error', () => undefined)
  let shown = ''
  terminal.stdout.on('data', (chunk: Buffer) => {
    shown += chunk.toString('utf8')
    terminal.stdin.write('\r')
  })
  const status = await new Promise<number | null>((resolve) => terminal.on('close', resolve))
  return { status, shown }
}

const unchangedBy = async (
  t: Test, world: Placed & Stateful & SignedIn, words: string,
): Promise<Ended> => {
  const before = world.view().sequence
  const ended = await enterThrough(t, world, words)
  t.match(ended.shown, '?', `${words} asks`)
  t.equal(world.view().sequence, before, `${words}: nothing was written`)
  return ended
}

t.test('Enter through `alpha setup` leaves an enabled route and its consent as they are', {
  skip: needsScript,
}, async (t) => {
  const world = await World.in(t).sandbox().state().session().alpha()
  const { status, shown } = await unchangedBy(t, world, 'alpha setup')
  t.equal(status, 0, shown)
  t.match(shown, 'Nothing changes; nothing is saved.')
  t.equal((await world.run(['alpha', 'show', '--json'])).json().alpha_text.status, 'configured')
})

t.test('Enter through `alpha setup` saves nothing where nothing was saved', {
  skip: needsScript,
}, async (t) => {
  const world = await World.in(t).state().session()
  const { status, shown } = await unchangedBy(t, world, 'alpha setup')
  t.equal(status, 130, shown)
  t.equal((await world.run(['alpha', 'show', '--json'])).json().alpha_text, null)
})

t.test('Enter through `shots config set` leaves analysis, upload and controls as they are', {
  skip: needsScript,
}, async (t) => {
  const world = await World.in(t).sandbox().state().session().gateway(forImages).images(allowed)
  const { status, shown } = await unchangedBy(t, world, 'shots config set')
  t.equal(status, 0, shown)
  const { settings } = (await world.run(['shots', 'config', 'show', '--json'])).json()
  t.hasStrict(settings, { analysis: { value: 'on' }, cloud_upload: { value: 'on' } })
})

t.test('Enter through `codehost connect` stores nothing', { skip: needsScript }, async (t) => {
  const world = await World.in(t).sandbox().state().session()
  const { status, shown } = await unchangedBy(t, world, 'codehost connect')
  t.not(status, 0, shown)
  t.strictSame((await world.run(['codehost', 'connections', '--json'])).json(), [])
})
