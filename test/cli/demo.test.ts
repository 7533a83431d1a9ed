/** The demo, from the first line to the page. */
import { existsSync, mkdirSync, rmSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { image } from '../support/png.js'
import { World } from '../world/world.js'


/** Plays a scene; gives what it showed and the folder that it left. */
const play = async (t: Test, ...scene: readonly string[]) => {
  const ran = await World.in(t).place.spawn(['demo', ...scene])
  t.equal(ran.status, 0, ran.stderr)
  const [, dir = ''] = /Remove it with:\s+rm -r (\S+)/.exec(ran.stdout) ?? []
  t.ok(dir)
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  return { ran, dir }
}

t.test('the demo is a story of at most 100 lines of 80 columns: a receipt, a revoke that stops the next question, and the page of a day', async (t) => {
  const { ran, dir } = await play(t)
  const rows = ran.stdout.split('\n').map((line) => Math.max(1, Math.ceil(line.length / 80)))
  t.ok(rows.reduce((sum, one) => sum + one, 0) <= 100)
  const steps = [
    /alpha ask -\n[^]*receipt task_/, /policy revoke\n[^$]*Every route is stopped/,
    /alpha ask -\n[^$]*exit status 4/, /shots scan\n[^$]*4 ingested/,
    /shots analyze\n[^]*4 analysed/, /shots digest\n[^]*written/, /shots report --html/,
  ]
  let from = 0
  for (const step of steps) {
    const at = ran.stdout.slice(from).search(step)
    t.ok(at >= 0, String(step))
    from += at + 1
  }
  t.match(readFileSync(join(dir, 'report.html'), 'utf8'), '>Timeline</h2>')
  t.equal(statSync(join(dir, 'state')).isDirectory(), true)
  t.match(ran.stdout, /Next, [^\n]*:\n +sallyport setup\n +sallyport demo all\n +sallyport help\n/)
})

t.test('on a terminal of 60 columns no line of the story is wider, but for a word alone', async (t) => {
  const terminal = { stdin: true, stdout: true, stderr: true }
  const { status, stdout, stderr } =
    await World.in(t).place.run(['demo', '--no-color', '--no-pager'], { terminal, columns: 60 })
  t.equal(status, 0, stderr)
  const [, dir = ''] = /Remove it with:\s+rm -r(?: \\)?\s+(\S+)/.exec(stdout) ?? []
  t.teardown(() => rmSync(dir, { recursive: true, force: true }))
  const wide = stdout.split('\n').filter((line) => line.length > 60
    && line.replace(/ \\$/, '').trim().includes(' '))
  t.strictSame(wide, [])
  // What does not fit is broken so that a shell reads on.
  const space = String.raw`(?: \\\n *| +)`
  for (const line of ['sallyport status --state-dir \\S+ --config-dir \\S+', 'rm -r \\S+']) {
    t.match(stdout, new RegExp(`^ +${line.replaceAll(' ', space)}$`, 'm'))
  }
})

const scenes = [
  ['alpha', 'task review'], ['shots', 'shots digest'], ['edge', 'edge artifacts'],
  ['codehost', 'codehost recover verify'],
] as const
for (const [scene, line] of scenes) {
  t.test(`the demo plays ${scene} by its name, each step from an empty state on, and nothing else`, async (t) => {
    const { ran, dir } = await play(t, scene)
    t.match(ran.stdout, '$ sallyport init --owner demo')
    t.match(ran.stdout, `$ sallyport ${line}`)
    t.match(ran.stdout, 'The state is sound.')
    for (const [other, theirs] of scenes) {
      if (other !== scene) t.notMatch(ran.stdout, `$ sallyport ${theirs}`)
    }
    t.equal(existsSync(join(dir, 'report.html')), scene === 'shots')
    t.equal(ran.stdout.includes('The page of the report'), scene === 'shots')
  })
}

t.test('the demo looks into no folder that the terminal names for its screenshots, and quotes what it tells to type', async (t) => {
  const { place } = World.in(t)
  const [own, temporary] = [place.path('private'), place.path('a b')]
  for (const dir of [own, temporary]) mkdirSync(dir)
  writeFileSync(join(own, 'private.png'), image(1))
  const ran = await place.spawn(['demo'], {
    env: { SVC_SCREENSHOT_FOLDER: own, TMPDIR: temporary },
  })
  t.equal(ran.status, 0, ran.stderr)
  t.match(ran.stdout, '4 ingested')
  const [, dir = ''] = /rm -r '(.*)'\n/.exec(ran.stdout) ?? []
  t.ok(dir.startsWith(join(temporary, 'sallyport-demo-')), dir)
  t.match(ran.stdout, `--state-dir '${join(dir, 'state')}' --config-dir '`)
})

t.test('a scene that there is not is refused before anything is made', async (t) => {
  const ran = await World.in(t).place.run(['demo', 'everything'])
  t.equal(ran.status, 3)
  t.match(ran.stderr, /There is no such scene\.\s[^]*One of: story, alpha, shots, edge, codehost, all\./)
  const scripted = await World.in(t).place.run(['demo', 'everything', '--json'])
  t.equal(scripted.error().code, 'request_invalid')
})

t.test('the whole demo runs every capability against the sandbox, shows each line, ends well and leaves a sound state and a page', async (t) => {
  const { ran, dir } = await play(t, 'all')
  for (const line of [
    'ledger show', 'gateway prove --all', 'shots scan', 'shots analyze', 'shots digest',
    'state check',
  ]) {
    t.match(ran.stdout, `$ sallyport ${line}\n`)
  }
  // One lost reply; both publications were opened as pull requests.
  t.match(ran.stdout, /codehost run \S+\n[^$]*succeeded[^$]*host numbered it 3/)
  t.match(ran.stdout, /codehost run \S+ --resume\n[^$]*succeeded[^$]*host numbered it 4/)
  // One capacity closed by proof, never run again; one refused; one receipt verified.
  t.match(ran.stdout, /codehost close-capacity \S+ [^$]*closure: {4,}cls_[^$]*free/)
  t.match(ran.stdout, /codehost run \S+ --resume\n[^$]*never runs again[^$]*exit status 5/)
  const successor = /Another job|A successor runs[^$]*\$ sallyport codehost run \S+\n[^$]*succeeded/
  t.match(ran.stdout, successor)
  t.match(ran.stdout, /--remote-id N[^$]*exit status 7/)
  t.match(ran.stdout, /codehost recover verify \S+\n[^$]*proves our record and not the host/)
  t.match(ran.stdout, '6 looked at: 4 ingested, 1 duplicate (0 known), 1 suppressed')
  t.match(ran.stdout, 'same_picture')
  // A device is paired, sends and is read back; what it sends when its pairing ends is not kept.
  t.match(ran.stdout, /\$ sallyport serve --page\n\s+https:\/\/127\.0\.0\.1:\d+\n/)
  t.match(ran.stdout, /edge revoke \S+\n[^$]*answered 401 \(edge_credential_revoked\)/)
  t.ok(readFileSync(join(dir, 'readback.png'))
    .equals(readFileSync(join(dir, 'screens', 'editor-one-line.png'))))
  t.match(ran.stdout, 'The state is sound.')
  const page = join(dir, 'report.html')
  t.equal(statSync(page).mode & 0o777, 0o600)
  t.match(readFileSync(page, 'utf8'), '>Timeline</h2>')
})
