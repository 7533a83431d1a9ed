/** Parent, supervisor and disk fail at every step; only a durable marker is a proof. */
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  readFileSync, readdirSync, renameSync, symlinkSync, unlinkSync, writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { frameHead } from '../../../src/codehost/producer/frame.js'
import { manifestBytes } from '../../../src/codehost/producer/manifest.js'
import {
  goOn, lives, madeFor, observed, shipped, startApart, supervisorOf, untilStopped,
} from '../../support/codehost/producing.js'
import type { Produced } from '../../support/codehost/producing.js'
import { signalled } from '../../support/signalled.js'
import { until } from '../../support/until.js'
import { t } from '../../support/tests-in-slices.js'

/** Every step of a producer of two files. */
const steps = [
  'owned', 'admitted', 'spawned', 'start.written', 'start.synced', 'blobs.1', 'blobs.2', 'trees.1',
  'trees.2', 'commits.1', 'fed', 'quiescent', 'marker.written', 'marker.linked', 'marker.synced',
]
const files = { one: 'one\n', two: Buffer.from([0, 1]) }
/** One of each kind; `npm run soak` takes all. */
const deaths = steps.filter((step) => !/\.[2]$|^owned|^admitted|^commits/.test(step))
const proved = new Set(['marker.linked', 'marker.synced'])

const free = (produced: Produced): Promise<void> =>
  until('the guard is free', () => !produced.held())

t.test('the steps of a producer are these', async (t) => {
  const { stateDir, start } = await madeFor(t, {
    files, helper: observed(), observe: { steps: true },
  })
  t.hasStrict(await start(), { complete: true })
  t.strictSame(readFileSync(join(stateDir, 'steps'), 'utf8').trim().split('\n'), steps)
})

t.test('C-077 C-266 a parent that dies at any step leaves a supervisor that ends in a proof and then lets go of the guard', async (t) => {
  for (const step of deaths) {
    const produced = await madeFor(t, {
      files, helper: observed(), observe: { stopAt: step, do: 'wait' },
    })
    const parent = startApart(produced)
    await untilStopped(produced)
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    t.equal(produced.held(), true, `${step}: the guard is the supervisor's`)
    goOn(produced)
    await free(produced)
    t.hasStrict(produced.verdict(), { quiescent: true }, step)
    t.strictSame(
      readdirSync(join(produced.stateDir, 'run')).filter((name) => name.endsWith('.fifo')), [])
  }
})

t.test('C-205 C-266 C-267 a parent that dies just as its supervisor starts leaves the proof that nothing was begun', async (t) => {
  const produced = await madeFor(t)
  const parent = startApart(produced, {}, { holds: true })
  let told = ''
  parent.stdout?.setEncoding('utf8').on('data', (text: string) => void (told += text))
  await until('the supervisor runs', () => told.includes('\n'))
  t.equal(produced.verdict().quiescent, false)
  parent.kill('SIGKILL')
  await once(parent, 'exit')
  await free(produced)
  t.hasStrict(produced.verdict(), {
    quiescent: true, complete: false, reason: 'not_begun', start: null,
  })
  t.notOk(readdirSync(produced.stage).includes('start.json'))
  t.strictSame(
    readdirSync(join(produced.stateDir, 'run')).filter((name) => name.endsWith('.fifo')), [])
  t.match(await produced.start().catch((error: { reason: string }) => error.reason), 'started',
    'its one run is over')
})

t.test('C-076 C-267 a supervisor that is given its token and no whole manifest starts nothing, and says so by its marker', async (t) => {
  for (const cut of [0, 3, 8, 9, 200]) {
    const produced = await madeFor(t, { helper: shipped() })
    const manifest = manifestBytes(produced.run.manifest)
    const framed = Buffer.concat([frameHead(manifest.length), manifest])
    const { status } = spawnSync(process.execPath, [...produced.binding.arguments.node], {
      cwd: produced.stage, env: {}, stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
      input: Buffer.concat([Buffer.from(produced.run.token), framed.subarray(0, cut)]),
    })
    t.equal(status, 0, `${cut} bytes`)
    t.hasStrict(produced.verdict(), { quiescent: true, complete: false, reason: 'not_begun' })
  }
})

t.test('C-207 C-267 a supervisor that dies at any step before its marker has its name proves nothing, then and later', async (t) => {
  for (const step of deaths) {
    const produced = await madeFor(t, {
      files, helper: observed(), observe: { stopAt: step, do: 'kill' },
    })
    const verdict = await produced.start()
    await free(produced)
    const first = steps.indexOf('start.written')
    const reason = steps.indexOf(step) < first ? 'start_missing' : 'marker_missing'
    if (proved.has(step)) t.hasStrict(verdict, { quiescent: true, complete: true }, step)
    else t.strictSame(verdict, { quiescent: false, reason }, step)
    t.strictSame(produced.verdict(), verdict)
  }
})

t.test('C-265 boot id, processes, group, digests and token are durable before git is given a byte', async (t) => {
  const git = [
    '#!/bin/sh', 'dd bs=1 count=1 of="$PWD/../given.$$" 2>/dev/null', 'exec cat > /dev/null', '',
  ].join('\n')
  const produced = await madeFor(t, {
    files, git, helper: observed(), observe: { stopAt: 'start.synced', do: 'wait' },
  })
  const ended = produced.start()
  await untilStopped(produced)
  const start = JSON.parse(readFileSync(join(produced.stage, 'start.json'), 'utf8')) as {
    children: Record<string, { pid: number }>
  }
  t.hasStrict(start, {
    isolation_claim: 'none', recovery_contract: 'V3',
    boot_id: readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
    token_sha256: produced.binding.token_sha256,
    digests: {
      helper: produced.binding.helper.sha256, git: produced.binding.git.sha256,
      manifest: produced.binding.inputs.manifest_sha256,
    },
  })
  const given = (): number[] => readdirSync(join(produced.stage, '..'))
    .filter((name) => name.startsWith('given.'))
    .map((name) => readFileSync(join(produced.stage, '..', name)).length)
  await until('every git runs', () => given().length === 3)
  t.strictSame(given(), [0, 0, 0], 'nothing was given')
  for (const { pid } of Object.values(start.children)) t.ok(lives(pid))
  goOn(produced)
  await ended
  t.ok(given().includes(1), 'and then it was')
})

t.test('C-075 C-077 C-078 the supervisor has a session, an environment and descriptors of its own, and no token to be seen', async (t) => {
  const produced = await madeFor(t, {
    files, helper: observed(), observe: { stopAt: 'start.synced', do: 'wait' },
  })
  const parent = startApart(produced, { SECRET_OF_PARENT: 'x' })
  await untilStopped(produced)
  const pid = supervisorOf(produced)
  const stat = (one: number): string[] =>
    readFileSync(`/proc/${one}/stat`, 'latin1').split(') ')[1]?.split(' ') ?? []
  t.strictSame(stat(pid).slice(2, 4), [String(pid), String(pid)], 'leader of group and session')
  t.not(stat(parent.pid ?? 0)[3], String(pid))
  const start = JSON.parse(readFileSync(join(produced.stage, 'start.json'), 'utf8')) as {
    children: Record<string, { pid: number }>
  }
  const children = Object.values(start.children).map((child) => child.pid)
  const seen = [pid, ...children].flatMap((one) => ['cmdline', 'environ'].map((name) =>
    readFileSync(`/proc/${one}/${name}`, 'latin1')))
  t.notOk(seen.some((text) => text.includes(produced.run.token)))
  t.notOk(seen.some((text) => text.includes('SECRET_OF_PARENT')))
  t.match(seen[1], /^PATH=[^\0]*\0LC_ALL=C\0TZ=UTC\0HOME=\0$/)
  const targets = (one: number): string[] => execFileSync('ls', ['-l', `/proc/${one}/fd`], {
    encoding: 'utf8',
  }).split('\n').filter((line) => line.includes('->')).map((line) => line.split('-> ')[1] ?? '')
  const open = targets(pid).filter((target) =>
    target.startsWith('/') && target !== '/dev/null')
  t.strictSame(open, [join(produced.stateDir, 'run/ops', produced.binding.producer_id)])
  for (const child of children) {
    t.strictSame(targets(child).filter((target) => /run\/ops|wal|lock/.test(target)), [])
    t.ok(targets(child).length <= 3, 'nothing but its standard ones')
  }
  const status = readFileSync(`/proc/${pid}/status`, 'latin1')
  t.match(status, /NoNewPrivs:\s+1/)
  t.ok(signalled(pid, 'SIGUSR1'))
  // A terminal's signals go to a group of processes, twice for whoever is in a hurry.
  signalled(-(parent.pid ?? 0), 'SIGINT')
  signalled(-(parent.pid ?? 0), 'SIGINT')
  await once(parent, 'exit')
  t.ok(lives(pid), 'it hears neither the terminal nor the debugger')
  goOn(produced)
  await free(produced)
  t.hasStrict(produced.verdict(), { quiescent: true })
})

t.test('a signal to the supervisor itself stops git, and the proof is made all the same', async (t) => {
  const produced = await madeFor(t, {
    files, helper: observed(), observe: { stopAt: 'blobs.1', do: 'wait' },
  })
  const ended = produced.start()
  await untilStopped(produced)
  t.ok(signalled(supervisorOf(produced), 'SIGTERM'))
  goOn(produced)
  t.hasStrict(await ended, { quiescent: true, complete: false, reason: 'stopped' })
})

t.test('C-209 a guard that was dropped or replaced meanwhile is no proof', async (t) => {
  for (const act of ['close', 'replace'] as const) {
    const produced = await madeFor(t, {
      files, helper: observed(), observe: { stopAt: 'fed', do: act },
    })
    t.strictSame(await produced.start(), { quiescent: false, reason: 'marker_missing' }, act)
  }
})

t.test('a full disk at the start record or at the marker leaves no proof, and nothing that runs', async (t) => {
  for (const [stopAt, reason] of [
    ['spawned', 'marker_missing'], ['quiescent', 'marker_missing'],
    ['marker.written', 'marker_missing'],
  ] as const) {
    const produced = await madeFor(t, {
      files, helper: observed(), observe: { stopAt, do: 'full' },
    })
    const verdict = await produced.start()
    t.equal(verdict.quiescent, false)
    t.ok(['start_missing', reason].includes(String(verdict.reason)), `${stopAt} ${verdict.reason}`)
    t.equal(produced.held(), false)
  }
})

t.test('a stage that git cannot write to ends as a prefix, with its proof', async (t) => {
  const produced = await madeFor(t, {
    files, helper: observed(), observe: { stopAt: 'start.synced', do: 'wait' },
  })
  const ended = produced.start()
  await untilStopped(produced)
  renameSync(join(produced.stage, 'objects'), join(produced.dir, 'objects'))
  writeFileSync(join(produced.stage, 'objects'), '')
  goOn(produced)
  t.hasStrict(await ended, { quiescent: true, complete: false, reason: 'git_failed' })
})

t.test('C-267 what stands at the name of the marker refuses it, a link too', async (t) => {
  for (const plant of [
    (path: string) => symlinkSync('/dev/null', path), (path: string) => writeFileSync(path, 'x'),
  ]) {
    const produced = await madeFor(t, {
      files, helper: observed(), observe: { stopAt: 'marker.written', do: 'wait' },
    })
    const ended = produced.start()
    await untilStopped(produced)
    const [temporary = ''] = readdirSync(produced.stage).filter((name) => name.startsWith('.tmp-'))
    plant(join(produced.stage, temporary.replace('.tmp-', '')))
    goOn(produced)
    t.strictSame(await ended, { quiescent: false, reason: 'marker_invalid' })
    unlinkSync(join(produced.stage, temporary.replace('.tmp-', '')))
    t.strictSame(produced.verdict(), { quiescent: false, reason: 'marker_missing' })
  }
})

t.test('C-076 a supervisor that is given another token, or none, starts nothing', async (t) => {
  const produced = await madeFor(t, { helper: shipped() })
  const manifest = manifestBytes(produced.run.manifest)
  const whole = (token: string): Buffer =>
    Buffer.concat([Buffer.from(token), frameHead(manifest.length), manifest])
  const short = `${produced.run.token}\0\0\0\0\0\0\0\x02{}`
  for (const input of ['', '0'.repeat(64), whole('0'.repeat(64)), short]) {
    const { status } = spawnSync(process.execPath, [...produced.binding.arguments.node], {
      cwd: produced.stage, env: {}, input, stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    })
    t.equal(status, 71)
  }
  t.strictSame(produced.verdict(), { quiescent: false, reason: 'start_missing' })
  t.strictSame(
    readdirSync(join(produced.stateDir, 'run')).filter((name) => name.endsWith('.fifo')), [])
})
