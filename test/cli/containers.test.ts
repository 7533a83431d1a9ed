/** The program in containers: what works there, and what is refused with the way on. */
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runSeed } from '../support/chance.js'
import {
  needsBindfs, needsContainers, runContained, signalledFirst, type Container,
} from '../support/containers/container.js'
import {
  documentOf, overlayWithoutOrigins, reckoned, rows, stepOf, textOf,
} from '../support/containers/rows.js'
import { lineOf, stepsOf } from '../support/containers/walk.js'
import { walkIn } from '../support/soak/containers.js'
import { patienceMs } from '../support/speed.js'
import { t } from '../support/tests-in-slices.js'
import { builtApp } from '../world/process.js'
import { World } from '../world/world.js'

const skip = { skip: needsContainers }

const page = readFileSync('docs/dev/platforms.md', 'utf8').split('\n')

/** What the walk comes to wherever it is taken. */
const expected = {
  scanned: 6, ingested: 4, duplicate: 1, suppressed: 1, analyzed: 4, reported: 4,
  tasks: 1, observations: 4, isSound: true,
}

for (const row of rows.filter(({ isFilled }) => isFilled !== true)) {
  t.test(`in a container with ${row.name} a walk from init to a backup comes to what it does outside`, skip, async (t) => {
    const { stdout, stderr } = await walkIn(t, row)
    const { failed, counts, steps } = reckoned(stdout)
    t.strictSame(failed, {}, stderr)
    t.hasStrict(counts(), expected)
    t.ok(page.includes(textOf(row, stdout)), 'the page says so')
    if (row.first !== undefined) t.ok(stepOf(steps, 'zombies').status > 0, 'nobody reaped them')
  })
}

t.test('in a container with a tmpfs that fills up what is full is told, nothing is lost, and it goes on', skip, async (t) => {
  const [row] = rows.filter(({ isFilled }) => isFilled)
  if (row === undefined) return t.fail('no row is filled')
  const { stdout, stderr } = await walkIn(t, row)
  const { failed, counts, steps } = reckoned(stdout)
  t.strictSame(Object.keys(failed),
    ['full:ask', 'full:scan', 'full:login', 'full:goal', 'full:backup'], stderr)
  for (const name of ['full:ask', 'full:login', 'full:goal', 'full:backup']) {
    t.match(failed[name], /"code":"disk_full"/, name)
  }
  const told = (name: string) => documentOf(steps, name)
  t.strictSame([told('full:check').ok, told('full:tasks').length, told('full:list').length],
    [true, 1, 4])
  t.strictSame([told('after:check').ok, told('after:scan').ingested], [true, 1])
  t.hasStrict(counts(), { ...expected, tasks: 2, observations: 5 })
  t.ok(page.includes(textOf(row, stdout)), 'the page says so')
})

t.test('what runs until it is stopped ends at SIGTERM as PID 1 too, with status 0', skip, async (t) => {
  const { place } = World.in(t)
  const program = '"$NODE" "$APP/sallyport.js"'
  const begun = `${program} init >/dev/null && ${program} login >/dev/null && mkdir /state/p && `
    + `${program} shots setup --folder /state/p >/dev/null && exec ${program}`
  const lines = [
    ['serve', /"event":"start".*"pid":1\b/], ['shots watch', /watching/],
    ['shots run', /screenshot_folder_ingest/], ['sandbox start --dir /state/b', /Ctrl-C/],
  ] as const
  for (const [at, [line, isUp]] of lines.entries()) {
    const script = `${begun} ${line}`
    const { ended, written } = await signalledFirst(place, `box-${at}`, script, isUp, 'SIGTERM')
    t.equal(ended, 0, `${line}: ${written}`)
  }
})

/** One line in a container, and how it was refused. */
const refusal = async (t: Parameters<typeof World.in>[0], container: Container, line: string) => {
  const { place } = World.in(t)
  const { stdout, stderr } = await runContained(place, 'box', container, lineOf(line))
  const step = stepsOf(stdout).get('one')
  if (step === undefined) throw new Error(stderr)
  const last = step.stderr.split('\n').findLast((one) => one.startsWith('{')) ?? '{}'
  return { ...JSON.parse(last).error, status: step.status, left: readdirSync(place.path('box')) }
}

t.test('a folder is published from a container by the same steps as outside of it', skip, async (t) => {
  const root = process.cwd()
  const suite = 'test/codehost/jobs/publication/publish.test'
  const container = {
    // Where tap puts what a test writes.
    options: ['--tmpfs', join(root, '.tap')],
    env: {
      TAP: '1', TAP_TIMEOUT: String(patienceMs() / 100), SALLYPORT_TEST_RUN: 'short',
      SALLYPORT_TEST_SEED: String(runSeed()), SALLYPORT_TEST_FILE: `${suite}.ts`,
      SALLYPORT_TEST_APP: await builtApp(),
    },
  }
  mkdirSync(join(root, '.tap'), { recursive: true })
  const { status, stdout } = await runContained(World.in(t).place, 'box', container,
    `cd '${root}' && exec "$NODE" --enable-source-maps '.build/tree/${suite}.js'`)
  t.equal(status, 0, stdout)
  t.match(stdout, /ok 1 - C-007 C-008 C-079 prepared in one line/)
})

t.test('a volume that may only be read, or is of somebody else, is told with what helps', skip, async (t) => {
  const readOnly = await refusal(t, { options: ['--remount-ro', '/state'] }, 'init')
  t.hasStrict(readOnly, { status: 1, code: 'not_permitted' })
  t.match(readOnly.hint, /mounted read-only/)
  const options = ['--dir', '/theirs', '--chmod', '0555', '/theirs', '--uid', '4242']
  const env = { SALLYPORT_STATE_DIR: '/theirs/s' }
  const theirs = await refusal(t, { options, env }, 'init')
  t.hasStrict(theirs, { status: 1, code: 'not_permitted' })
  t.match(theirs.hint, /this process runs as user 4242\./)
})

t.test('a layer that cannot move a folder is told by name, and a volume is asked for', skip, async (t) => {
  const told = await refusal(t, overlayWithoutOrigins, 'init')
  t.hasStrict(told, { status: 1, code: 'io_failed', details: { errno: 'EXDEV' } })
  t.match(told.hint, /on a volume/)
})

t.test('a state on a FUSE disk is refused with the reason, and nothing is made there', {
  skip: needsContainers || needsBindfs,
}, async (t) => {
  const mounts = 'mkdir -p "$1/real" && bindfs --no-allow-other "$1/real" "$1/volume" || exit 99'
  const told = await refusal(t, { mounts }, 'init')
  t.hasStrict(told, {
    status: 1, code: 'lock_unavailable', reason: 'shared_disk', details: { file_system: 'FUSE' },
  })
  t.match(told.message, /lies on FUSE, where a lock may hold for one machine or program alone\.$/)
  t.strictSame(told.left, ['real', 'volume'])
})
