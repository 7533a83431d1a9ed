/** The producer with the shipped supervisor: what it makes, and what git may not do. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, statSync,
  symlinkSync, writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import * as fc from 'fast-check'
import { findTools, isGitNewEnough } from '../../../src/codehost/producer/tools.js'
import type { ProducerRun } from '../../../src/codehost/producer/launch.js'
import { holdGuard } from '../../../src/state/holds/guard.js'
import { treeName } from '../../support/codehost/arbitrary.js'
import { madeFor, observed, runApart, shipped } from '../../support/codehost/producing.js'
import type { Produced, Producing } from '../../support/codehost/producing.js'
import { treeOf } from '../../support/codehost/publication.js'
import { filesBelow } from '../../support/marks.js'
import { signalled } from '../../support/signalled.js'
import { t } from '../../support/tests-in-slices.js'

const gitIn = (stage: string, ...args: string[]): string =>
  execFileSync('git', args, {
    cwd: stage, encoding: 'utf8', env: { PATH: '/usr/bin:/bin', GIT_DIR: '.' },
  }).trim()

t.test('C-075 C-269 every id of random folders over random bases is the one that git gives', async (t) => {
  for (const seed of [1, 2, 3]) {
    const many = { numRuns: 90, seed }
    const names = fc.sample(fc.array(treeName, { minLength: 1, maxLength: 5 }), many)
    const bodies = fc.sample(fc.uint8Array({ maxLength: 900 }), many)
    const source = t.testdir({})
    for (const [at, parts] of names.entries()) {
      const path = join(source, ...parts.map((part, depth) =>
        depth < parts.length - 1 && at % 2 === 0 ? `${part}.d` : part))
      try {
        mkdirSync(dirname(path), { recursive: true })
        writeFileSync(path, at % 9 === 0 ? '' : at % 2 === 0 ? `text ${at}\n` : bodies[at] ?? '')
        if (at % 5 === 0) chmodSync(path, 0o755)
      } catch {
        // A folder, or a file, is there already.
      }
    }
    writeFileSync(join(source, 'large'), Buffer.alloc(2 * 1024 * 1024, 'x'))
    const whole = await madeFor(t, { source })
    const half = treeOf(whole.plan.changes.filter((_, at) => at % 2 === 0))
    const over = seed === 1 ? whole : await madeFor(t, { source, base: half })
    const verdict = await over.start()
    t.hasStrict(verdict, { quiescent: true, complete: true, reason: null })
    t.equal(gitIn(over.stage, 'rev-parse', `${over.plan.commit}^{tree}`), over.plan.tree.id)
    const levels = [...over.plan.tree.listing()].filter(({ mode, path }) =>
      mode === '040000' && half.at(path) === undefined)
    for (const { id } of levels) t.equal(gitIn(over.stage, 'cat-file', '-t', id), 'tree')
    t.ok(levels.length > 5, 'deep')
  }
})

t.test('C-079 C-271 C-289 what is bound names everything, and each thing that changes refuses the start', async (t) => {
  const copies = (tools: Parameters<NonNullable<Producing['tools']>>[0], dir: string) => {
    const tool = (name: string, text: string) => {
      const path = join(dir, name)
      writeFileSync(path, text, { mode: 0o755 })
      return { path, sha256: createHash('sha256').update(text).digest('hex') }
    }
    return {
      ...tools,
      node: { ...tool('node', `#!/bin/sh\nexec ${process.execPath} "$@"\n`), version: 'v' },
      git: { ...tool('git', '#!/bin/sh\nexec /usr/bin/git "$@"\n'), version: '2.99' },
      addon: tool('addon.node', 'no add-on'),
    }
  }
  const produced = await madeFor(t, { tools: copies })
  const { binding, job, stage, dir, run } = produced
  t.hasStrict(binding, { isolation_claim: 'none', recovery_contract: 'V3', job })
  t.equal(statSync(stage).mode & 0o777, 0o700)
  const refused = async (reason: string, over: Partial<ProducerRun> = {}): Promise<void> => {
    const guard = await holdGuard(produced.stateDir, binding.producer_id)
    const expected = { code: 'producer_changed', reason }
    await t.rejects(produced.start({ guard, ...over }), expected, reason)
    guard.release()
    t.notOk(readdirSync(stage).includes('start.json'))
  }
  for (const change of [{ attempt: 2 }, { fence: 2 }, { authority: 'b' }, { root_id: 'other' }]) {
    await refused('job', { job: { ...job, ...change } })
  }
  await refused('token', { token: '0'.repeat(64) })
  const { manifest } = run
  await refused('inputs', { manifest: { ...manifest, files: manifest.files.slice(1) } })
  await refused('inputs', {
    manifest: { ...manifest, commit: { ...manifest.commit, message: 'Other\n' } },
  })
  await refused('binding', {
    binding: { ...binding, environment: { ...binding.environment, git: { HOME: '/root' } } },
  })
  await refused('binding', {
    binding: { ...binding, arguments: { ...binding.arguments, node: ['-e', '1'] } },
  })
  for (const [name, file] of [
    ['helper', join(stage, 'helper.cjs')], ['stage', join(stage, 'config')],
    ['binding', join(stage, 'binding.json')], ['stage', join(stage, 'HEAD')],
    ['node', join(dir, 'node')], ['git', join(dir, 'git')], ['addon', join(dir, 'addon.node')],
  ] as const) {
    const text = readFileSync(file)
    writeFileSync(file, Buffer.concat([text, Buffer.from('\n')]))
    await refused(name)
    writeFileSync(file, text)
  }
  const hook = join(stage, 'hooks')
  mkdirSync(hook)
  writeFileSync(join(hook, 'post-checkout'), '')
  await refused('stage')
  renameSync(hook, join(dir, 'hooks'))
  symlinkSync(join(dir, 'hooks'), hook)
  await refused('stage')
  execFileSync('rm', [hook])
  execFileSync('cp', ['-a', stage, `${stage}.copy`])
  renameSync(stage, join(dir, 'before'))
  renameSync(`${stage}.copy`, stage)
  await refused('stage')
})

/** A folder whose every setting would run a program that leaves a mark. */
const hostileSource = (dir: string, mark: string): void => {
  const program = join(dir, '../program')
  writeFileSync(program, `#!/bin/sh\necho "$0 $*" >> ${mark}\ncat\n`, { mode: 0o755 })
  const config = [
    '[core]', `\tfsmonitor = ${program}`, `\thooksPath = ${dir}/hooks`, `\tpager = ${program}`,
    `\tattributesFile = ${dir}/.gitattributes`, '\tautocrlf = true', `\tsshCommand = ${program}`,
    '[filter "evil"]', `\tclean = ${program}`, `\tsmudge = ${program}`, '\trequired = true',
    '[alias]', `\thash-object = !${program}`, `\tmktree = !${program}`,
    `\tcommit-tree = !${program}`,
    '[remote "origin"]', `\turl = ext::${program}`, '\tpromisor = true',
    '[commit]', '\tgpgSign = true', '[gpg]', `\tprogram = ${program}`,
    '[credential]', `\thelper = !${program}`, '[i18n]', '\tcommitEncoding = latin1',
  ].join('\n')
  mkdirSync(join(dir, '.git/hooks'), { recursive: true })
  mkdirSync(join(dir, 'hooks'))
  for (const hook of ['post-index-change', 'pre-auto-gc', 'reference-transaction', 'pre-commit']) {
    writeFileSync(join(dir, 'hooks', hook), readFileSync(program), { mode: 0o755 })
    writeFileSync(join(dir, '.git/hooks', hook), readFileSync(program), { mode: 0o755 })
  }
  for (const name of ['.git/config', '.gitconfig', 'config']) writeFileSync(join(dir, name), config)
  writeFileSync(join(dir, '.git/HEAD'), 'ref: refs/heads/main\n')
  writeFileSync(
    join(dir, '.gitattributes'), '* filter=evil text eol=crlf ident working-tree-encoding=UTF-16\n')
  writeFileSync(join(dir, '.gitmodules'), `[submodule "s"]\n\tpath = s\n\turl = ext::${program}\n`)
  writeFileSync(join(dir, 'text.txt'), '$Id$ one\r\ntwo\n')
}

t.test('C-080 C-078 no hook, filter, monitor, alias, attribute or remote of source, user or system runs', async (t) => {
  const dir = t.testdir({ source: {}, home: {} })
  const source = join(dir, 'source')
  const mark = join(dir, 'mark')
  hostileSource(source, mark)
  const hostile = readFileSync(join(source, '.gitconfig'))
  writeFileSync(join(dir, 'home/.gitconfig'), hostile)
  const required = join(dir, 'required.cjs')
  writeFileSync(required, `if (process.argv[1].endsWith('helper.cjs')) {
    require('fs').appendFileSync(${JSON.stringify(mark)}, 'node')\n}\n`)
  const produced = await madeFor(t, { source })
  const verdict = await runApart(produced, {
    HOME: join(dir, 'home'), XDG_CONFIG_HOME: join(dir, 'home'), GIT_DIR: join(source, '.git'),
    GIT_CONFIG_GLOBAL: join(source, '.gitconfig'), GIT_CONFIG_SYSTEM: join(source, '.gitconfig'),
    GIT_CONFIG_COUNT: '1', GIT_CONFIG_KEY_0: 'core.fsmonitor',
    GIT_CONFIG_VALUE_0: join(dir, 'program'), GIT_EXEC_PATH: dir, GIT_TRACE: mark,
    GIT_TRACE2: mark, GIT_AUTHOR_NAME: 'Mallory', GIT_DEFAULT_HASH: 'sha256',
    NODE_OPTIONS: `--require ${required}`, GIT_ASKPASS: join(dir, 'program'),
  })
  t.hasStrict(verdict, { quiescent: true, complete: true })
  const ran = existsSync(mark) ? readFileSync(mark, 'utf8') : ''
  t.equal(ran, '', 'nothing ran')
  if (verdict.quiescent) t.equal(verdict.marker.quiescence.reaped, 0)
})

t.test('C-080 the settings that git sees are those of the stage and of its line, and no others', async (t) => {
  const { binding, stage } = await madeFor(t)
  const given = binding.arguments.git.blobs.slice(0, -3)
  const listed = execFileSync(
    binding.git.path, [...given, 'config', '--list', '--show-origin', '--show-scope'],
    { cwd: stage, env: binding.environment.git, encoding: 'utf8' })
  const scopes = listed.trim().split('\n').map((line) => line.split('\t').slice(0, 2).join(' '))
  t.strictSame([...new Set(scopes)].sort(), ['command command line:', 'local file:config'])
  t.match(listed, /core\.hooksPath=\/dev\/null/i)
  t.match(listed, /core\.fsmonitor=false/)
  t.match(listed, /protocol\.allow=never/)
  t.notOk(Object.keys(binding.environment.git).some((name) => process.env[name] !== undefined
    && !['PATH', 'HOME', 'LC_ALL', 'TZ', 'SSH_ASKPASS', 'XDG_CONFIG_HOME'].includes(name)))
})

const last = ({ manifest }: Produced['run']): string => manifest.files.at(-1)?.[0] ?? ''

/** So long, by a number that no other run of this test uses. */
const longSleep = (part: number): string => `6${part}0.${process.pid}`

const quick = { wallMs: 4_000, reapMs: 2_500 }
const real = '/usr/bin/git "$@"'
const script = (...lines: string[]): string => ['#!/bin/sh', ...lines, ''].join('\n')

t.test('C-081 C-270 a git that hangs, fails, lies or writes too much makes a prefix that counts for nothing', async (t) => {
  const id = 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391'
  const cases: readonly (readonly [string, string])[] = [
    ['wall', script('exec sleep 1000')],
    ['git_failed', script('read line; exit 3')],
    ['id_differs', script(`read line; cat "$line" > /dev/null; echo ${id}`, 'cat > /dev/null')],
    ['output_exceeded', script('read line; cat "$line" > /dev/null; exec yes')],
    ['output_exceeded', script(
      'read line; cat "$line" > /dev/null; head -c 999 /dev/zero; exec sleep 9')],
    // More than a pipe's reader takes at once lies there when it is stopped.
    ['wall', script('yes | head -c 200000; exec sleep 1000')],
    ['git_failed', script('case "$*" in *mktree*) exit 0;; esac', `exec ${real}`)],
    ['git_failed', script(
      'case "$*" in *commit-tree*) cat >/dev/null; exit 1;; esac', `exec ${real}`)],
  ]
  for (const [reason, git] of cases) {
    // Only one that hangs needs a short wall: beside other work the others take longer to reap.
    const observe = reason === 'wall' ? { observe: quick } : {}
    const produced = await madeFor(t, { git, helper: observed(), ...observe })
    const begun = performance.now()
    const verdict = await produced.start()
    t.hasStrict(verdict, { quiescent: true, complete: false, reason }, `${reason}: ${git}`)
    if (reason === 'wall') t.ok(performance.now() - begun > quick.wallMs - quick.reapMs)
    t.equal(produced.held(), false)
  }
})

t.test('C-206 C-266 a descendant that left session, group, environment and descriptors is no rest while it lives', async (t) => {
  const leave = (seconds: string): string => script(
    `case "$*" in *hash-object*) setsid env -i setsid sleep ${seconds} <&- >&- 2>&- & ;; esac`,
    `exec ${real}`)
  const lasting = await madeFor(t, { git: leave(longSleep(0)), helper: observed(), observe: quick })
  t.strictSame(await lasting.start(), { quiescent: false, reason: 'marker_missing' })
  const alive = readdirSync('/proc').filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1') === `sleep\0${longSleep(0)}\0`
    } catch {
      return false
    }
  })
  t.equal(alive.length, 1, 'it lives')
  for (const pid of alive) signalled(Number(pid), 'SIGKILL')
  t.strictSame(lasting.verdict(), { quiescent: false, reason: 'marker_missing' }, 'and later, too')
  const brief = await madeFor(t, { git: leave('0.7') })
  const verdict = await brief.start()
  t.hasStrict(verdict, { quiescent: true, complete: true })
  if (verdict.quiescent) t.ok(verdict.marker.quiescence.reaped > 0, 'it was reaped')
})

t.test('C-266 a stranger that keeps a pipe of git open is no rest', async (t) => {
  const git = script(
    `case "$*" in *hash-object*) setsid sleep ${longSleep(1)} & ;; esac`, `exec ${real}`)
  const produced = await madeFor(t, { git, helper: observed(), observe: quick })
  t.strictSame(await produced.start(), { quiescent: false, reason: 'marker_missing' })
  execFileSync('pkill', ['-f', `^sleep ${longSleep(1)}$`])
})

t.test('C-264 one stream, in its order and no longer: anything else ends as a prefix', async (t) => {
  const bodies: readonly (readonly [string, (run: Produced) => ProducerRun['piecesOf']])[] = [
    ['input_invalid', ({ run }) => (id) => [
      ...run.piecesOf(id), ...(id === last(run) ? [Buffer.from('more')] : []),
    ]],
    ['input_ended', ({ run }) => (id) => id === last(run) ? [] : run.piecesOf(id)],
    ['id_differs', ({ run }) => (id) => [...run.piecesOf(id)].map((piece) =>
      Buffer.from(piece).fill('x'))],
  ]
  for (const [reason, piecesOf] of bodies) {
    const produced = await madeFor(t)
    const verdict = await produced.start({ piecesOf: piecesOf(produced) })
    t.hasStrict(verdict, { quiescent: true, complete: false, reason })
    const guard = await holdGuard(produced.stateDir, produced.binding.producer_id)
    await t.rejects(
      produced.start({ guard }), { code: 'producer_changed', reason: 'started' },
      'no second stream')
    guard.release()
  }
})

t.test('a piece that cannot be opened, and a signal, stop git; what is left is proved', async (t) => {
  const broken = await madeFor(t)
  const piecesOf = (): Iterable<Uint8Array> => {
    throw new RangeError('damaged')
  }
  await t.rejects(broken.start({ piecesOf }), new RangeError('damaged'))
  t.hasStrict(broken.verdict(), { quiescent: true, complete: false, reason: 'input_ended' })
  const stopped = await madeFor(t)
  const stop = new AbortController()
  const verdict = await stopped.start({
    signal: stop.signal,
    piecesOf: (id) => {
      stop.abort()
      return stopped.run.piecesOf(id)
    },
  })
  t.hasStrict(verdict, { quiescent: true, complete: false, reason: 'input_ended' })
})

t.test('a Node that the system does not start is told, and the guard is given back by its holder', async (t) => {
  const produced = await madeFor(t, {
    tools: (tools, dir) => {
      const path = join(dir, 'node')
      writeFileSync(path, 'no program', { mode: 0o644 })
      const sha256 = createHash('sha256').update('no program').digest('hex')
      return { ...tools, node: { path, sha256, version: 'v' } }
    },
  })
  const guard = await holdGuard(produced.stateDir, produced.binding.producer_id)
  await t.rejects(produced.start({ guard }), { code: 'producer_not_started' })
  guard.release()
  t.strictSame(produced.verdict(), { quiescent: false, reason: 'start_missing' })
})

t.test('a supervisor that the system lets start no git proves that nothing was begun', async (t) => {
  const none = await madeFor(t, {
    tools: (tools, dir) => {
      const path = join(dir, 'git')
      writeFileSync(path, 'no program', { mode: 0o644 })
      const sha256 = createHash('sha256').update('no program').digest('hex')
      return { ...tools, git: { path, sha256, version: '2.99' } }
    },
  })
  const verdict = await none.start()
  t.hasStrict(verdict, { quiescent: true, complete: false, reason: 'not_begun', start: null })
  t.strictSame(none.verdict(), verdict, 'and later, too')
  t.equal(none.held(), false)
  t.strictSame(readdirSync(join(none.stateDir, 'run')).filter((name) => name.endsWith('.fifo')), [])
})

t.test('no content and no token reach the disk', async (t) => {
  const secret = 'MARK-CONTENT-0123456789'
  const { stateDir, run, start } = await madeFor(t, {
    files: { 'a.txt': `${secret}\n`, 'b/c': secret.repeat(9_000) },
  })
  t.hasStrict(await start(), { complete: true })
  const files = filesBelow(stateDir).map((path) => readFileSync(path))
  t.notOk(files.some((bytes) => bytes.includes(secret) || bytes.includes(run.token)))
  t.strictSame(readdirSync(join(stateDir, 'run')).filter((name) => name.endsWith('.fifo')), [])
})

t.test('what a machine lacks is told by its name', async (t) => {
  const unsupported = (reason: string) => ({ code: 'producer_unsupported', reason })
  await t.rejects(findTools({ platform: 'darwin' }), unsupported('platform'))
  await t.rejects(findTools({ helper: '/nowhere/producer.js' }), unsupported('helper_missing'))
  const dir = t.testdir({ 'no.js': 'process.exit(72)' })
  await t.rejects(findTools({ helper: join(dir, 'no.js') }), unsupported('ffi_refused'))
  t.ok(isGitNewEnough((await findTools({ helper: shipped() })).git.version))
  for (const version of ['2.32.0', '2.39.5', '3.0', '10.1.rc0']) t.ok(isGitNewEnough(version))
  for (const version of ['2.31.9', '1.99', '', 'x', '2']) t.notOk(isGitNewEnough(version))
})
