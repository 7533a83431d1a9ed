/** Named states: what a name decides, what comes before it, and what is refused, not guessed. */
import {
  existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync,
} from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { fileLock } from '../../src/state/lock.js'
import { systemClock } from '../../src/base/clock.js'
import { fakeCommands } from '../support/cli/fake-verbs.js'
import { schedulers } from '../support/cli/schedulers.js'
import { failure, must } from '../support/must.js'
import type { Loose, Place, Ran, RunOptions, Teardown } from '../world/place.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

/** An environment that names no place. */
const plain = { SALLYPORT_STATE_DIR: undefined, SALLYPORT_CONFIG_DIR: undefined }

const placeOf = (t: Teardown) => {
  const { place } = World.in(t)
  const run = (line: readonly string[], options: RunOptions = {}): Promise<Ran> =>
    place.run(line, { ...options, env: { ...plain, ...options.env } })
  const json = async (line: readonly string[], options?: RunOptions): Promise<Loose> =>
    must(await run([...line, '--json'], options)).json()
  const folder = join(place.env['HOME'] ?? '', '.config/sallyport')
  return { place, run, json, folder, file: join(folder, 'names.json') }
}

/** Two named states that are there, `work` and `play`, the second with keys of its own. */
const twoStates = async (t: Teardown) => {
  const at = placeOf(t)
  await at.json(['at', 'add', 'work', 'w'])
  await at.json(['at', 'add', 'play', 'p', '--config-dir', 'k'])
  for (const name of ['work', 'play']) await at.json(['init', '--at', name, '--owner', 'ada'])
  return { ...at, work: at.place.path('w'), play: at.place.path('p'), keys: at.place.path('k') }
}

t.test('a name is given, listed and forgotten, and the state is not touched by any of it', async (t) => {
  const { place, run, json, folder, file } = placeOf(t)
  const work = place.path('w')
  t.strictSame(await json(['at', 'list']), [])
  t.notOk(existsSync(folder), 'looking makes nothing')
  t.strictSame(await json(['at', 'add', 'work', 'w']), {
    schema: 'sallyport.at.add.v1', name: 'work', state_dir: work, config_dir: folder,
    exists: false, next: 'sallyport init --at work',
  })
  t.notOk(existsSync(work), 'nor is the state made')
  t.equal(statSync(file).mode & 0o777, 0o600)
  const { ino } = statSync(file)
  t.match((await run(['at', 'add', 'work', `${work}/`])).stdout, `work is ${work}\n`)
  t.equal(statSync(file).ino, ino, 'the same again writes nothing')
  t.equal((await json(['at', 'add', 'play', 'p', '--config-dir', './k'])).config_dir,
    place.path('k'))
  must(await run(['init', '--at', 'work']))
  t.strictSame((await json(['at', 'list', '--at', 'play'])).map((one: Loose) =>
    [one.name, one.state_dir, one.exists, one.in_force]), [
    ['play', place.path('p'), false, true], ['work', work, true, false],
  ])
  t.equal((await run(['at', 'list'])).stdout,
    `play\t${place.path('p')}\t${place.path('k')}\tno\tno\nwork\t${work}\t${folder}\tyes\tno\n`)
  t.equal((await json(['at', 'add', 'work', 'w'])).next, 'sallyport status --at work')
  t.match((await run(['at', 'remove', 'work'])).stdout, `Forgot work; the state at ${work} stays.`)
  t.ok(existsSync(join(work, 'STATE')))
  t.strictSame((await json(['at', 'list'])).map((one: Loose) => one.name), ['play'])
  t.strictSame(failure(await run(['at', 'remove', 'work', '--json'])),
    { status: 6, code: 'name_not_found', out: '' })
})

t.test('what may be no name, what stands for something else, and what is no folder is refused', async (t) => {
  const { place, run, json, file } = placeOf(t)
  await json(['at', 'add', 'work', 'w'])
  mkdirSync(place.path('w'))
  symlinkSync(place.path('w'), place.path('link'))
  place.write('f', '')
  const before = readFileSync(file)
  const add = async (...words: readonly string[]) =>
    failure(await run(['at', 'add', '--json', ...words]))
  for (const name of ['A', 'a b', 'a/b', 'a_b', '', '.', 'ä', 'a'.repeat(33), 'a\n']) {
    t.strictSame(await add(name, 'x'), { status: 3, code: 'name_form', out: '' }, name)
  }
  t.strictSame(await add('work', 'x'), { status: 5, code: 'name_taken', out: '' })
  t.strictSame(await add('work', 'w', '--config-dir', 'k'),
    { status: 5, code: 'name_taken', out: '' }, 'other keys are another state')
  t.strictSame(await add('also', 'w'), { status: 5, code: 'state_named', out: '' })
  t.strictSame(await add('also', 'link'), { status: 5, code: 'state_named', out: '' })
  t.strictSame(await add('file', 'f'), { status: 3, code: 'name_no_folder', out: '' })
  t.strictSame(await add('in', 'i', '--config-dir', 'i/k'),
    { status: 3, code: 'keys_inside_state', out: '' })
  t.strictSame(await add('utf', 'a\ufffd'), { status: 3, code: 'path_not_utf8', out: '' })
  t.strictSame(readFileSync(file), before)
  for (const name of ['constructor', 'prototype', 'a'.repeat(32), '0']) {
    await json(['at', 'add', name, name])
    t.equal((await json(['state', 'path', '--at', name])).state_dir, place.path(name))
  }
})

t.test('--at decides state and keys, before every variable, on either side of the verb', async (t) => {
  const { place, json, work, play, keys, folder } = await twoStates(t)
  const env = { SALLYPORT_STATE_DIR: '/x', SALLYPORT_CONFIG_DIR: '/y', SALLYPORT_AT: 'work' }
  for (const line of [['--at', 'play', 'state', 'path'], ['state', 'path', '--at=play']]) {
    t.hasStrict(await json(line, { env }), { state_dir: play, config_dir: keys, exists: true })
  }
  t.hasStrict(await json(['state', 'path', '--at', 'work'], { env }),
    { state_dir: work, config_dir: folder }, 'the default keys, and no variable')
  t.ok(existsSync(join(keys, 'keys')), 'init made the keys of play there')
  t.equal((await json(['status', '--at', 'play'], { env })).state_dir, play)
  t.hasStrict(await json(['state', 'path'], { env: { SALLYPORT_AT: 'play' } }),
    { state_dir: play, config_dir: keys })
  t.hasStrict(await json(['state', 'path', '--at', 'play'], { env: { XDG_STATE_HOME: '/x' } }),
    { state_dir: play })
  // The line says a directory: the environment's name is not even looked at.
  t.hasStrict(await json(['state', 'path', '--state-dir', 's'], { env: { SALLYPORT_AT: 'nope' } }),
    { state_dir: place.path('s'), config_dir: folder })
  t.hasStrict(await json(['state', 'path', '--state-dir', 's'], { env }),
    { state_dir: place.path('s'), config_dir: '/y' }, 'as a unit of systemd has it')
  t.hasStrict(await json(['state', 'path'], { env: { SALLYPORT_AT: '' } }),
    { state_dir: join(place.env['HOME'] ?? '', '.local/state/sallyport') }, 'empty is absent')
})

t.test('several ways to say which state are refused rather than guessed, and an unknown name opens nothing', async (t) => {
  const { place, run, work } = await twoStates(t)
  const refused = async (
    line: readonly string[], code: string, env: RunOptions['env'] = {},
  ): Promise<void> => {
    t.strictSame(failure(await run([...line, '--json'], { env, stdin: 'q' })),
      { status: 2, code, out: '' }, `${line.join(' ')} ${JSON.stringify(env)}`)
  }
  for (const verb of [['status'], ['help'], ['policy', 'revoke'], ['at', 'list']]) {
    await refused([...verb, '--at', 'work', '--state-dir', work], 'place_twice')
    await refused([...verb, '--at', 'work', '--config-dir', work], 'place_twice')
    await refused([...verb, '--at='], 'flag_needs_value')
  }
  const both = [
    { SALLYPORT_AT: 'work', SALLYPORT_STATE_DIR: work },
    { SALLYPORT_AT: 'work', SALLYPORT_CONFIG_DIR: '/k' },
  ]
  for (const verb of ['status', 'init', 'login', 'alpha ask -', 'policy revoke', 'state check']) {
    const line = verb.split(' ')
    for (const env of both) await refused(line, 'at_ambiguous', env)
    await refused([...line, '--config-dir', 'k'], 'at_ambiguous', { SALLYPORT_AT: 'work' })
    await refused([...line, '--at', 'nope'], 'at_unknown')
    await refused(line, 'at_unknown', { SALLYPORT_AT: 'nope' })
    for (const odd of ['../w', 'Work', 'work ', '__proto__', '-']) {
      await refused([...line, `--at=${odd}`], 'at_unknown')
    }
  }
  t.notOk(existsSync(join(place.env['HOME'] ?? '', '.local')), 'nothing was made elsewhere')
})

t.test('an environment that cannot be decided hinders no look at the names', async (t) => {
  const { run, work } = await twoStates(t)
  const both = { SALLYPORT_AT: 'work', SALLYPORT_STATE_DIR: work }
  for (const env of [{ SALLYPORT_AT: 'nope' }, both]) {
    const ran = must(await run(['at', 'list', '--json'], { env }))
    t.strictSame(ran.json().map((one: Loose) => [one.name, one.in_force]),
      [['play', false], ['work', false]])
    t.match(ran.stderr, /No state is in force here\. /)
    must(await run(['help', 'environment'], { env }))
  }
  const ran = must(await run(['at', 'list', '--json', '--state-dir', work]))
  t.strictSame(ran.json().filter((one: Loose) => one.in_force).map((one: Loose) => one.name),
    ['work'], 'a directory that has a name is in force by that')
})

t.test('status shows the name of the state in force, however that was said', async (t) => {
  const { run, json, work, play, keys } = await twoStates(t)
  for (const [line, env, name] of [
    [['--at', 'work'], {}, 'work'], [[], { SALLYPORT_AT: 'play' }, 'play'],
    [['--state-dir', work], {}, 'work'],
    [[], { SALLYPORT_STATE_DIR: play, SALLYPORT_CONFIG_DIR: keys }, 'play'],
    [['--state-dir', work, '--config-dir', `${keys}-other`], {}, null],
  ] as const) {
    if (name === null) {
      t.strictSame((await json(['at', 'list', ...line], { env }))
        .filter((one: Loose) => one.in_force), [], 'other keys are another state')
      continue
    }
    t.equal((await json(['status', ...line], { env })).at, name, line.join(' '))
    t.match((await run(['status', ...line], { env })).stdout, new RegExp(`^at {9}${name}\nstate `))
  }
  must(await run(['at', 'remove', 'work']))
  t.equal((await json(['status', '--state-dir', work])).at, null)
  t.notMatch((await run(['status', '--state-dir', work])).stdout, /^at /)
})

t.test('a file of names that cannot be used is refused where a name decides, and nowhere else', async (t) => {
  const { run, json, file, work } = await twoStates(t)
  writeFileSync(file, '{')
  for (const line of [['status', '--at', 'work'], ['at', 'list'], ['at', 'add', 'x', 'y'],
    ['at', 'remove', 'work']]) {
    t.strictSame(failure(await run([...line, '--json'])),
      { status: 3, code: 'names_unusable', out: '' }, line.join(' '))
  }
  t.equal(readFileSync(file, 'utf8'), '{', 'and not written over')
  const doctor = await run(['doctor', '--json', '--state-dir', work])
  t.matchStrict(doctor.json().checks.find((one: Loose) => one.name === 'names of states'),
    { result: 'problem', next: /sallyport at add NAME DIR/ }, 'the doctor tells it')
  t.equal((await json(['status', '--state-dir', work])).at, null)
})

t.test('a file that was written by hand leads to no keys inside their state', async (t) => {
  const { run, json, file } = placeOf(t)
  await json(['at', 'add', 'work', 'w', '--config-dir', 'k'])
  const { names: [named], ...head } = JSON.parse(readFileSync(file, 'utf8'))
  writeFileSync(file, JSON.stringify({
    ...head, names: [{ ...named, config_dir: join(named.state_dir, 'k') }],
  }))
  t.strictSame(failure(await run(['status', '--at', 'work', '--json'])),
    { status: 3, code: 'keys_inside_state', out: '' })
})

t.test('the doctor tells how many states have names, and nothing where none has', async (t) => {
  const { run, json } = placeOf(t)
  const found = async () => (await run(['doctor', '--json'])).json().checks
    .filter((one: Loose) => one.name === 'names of states').map((one: Loose) => one.result)
  t.strictSame(await found(), [])
  await json(['at', 'add', 'work', 'w'])
  t.strictSame(await found(), ['ok'])
})

t.test('the steps of `setup` are about the named state, and tell it', async (t) => {
  const { place, run, work } = await twoStates(t)
  const { stderr } = await run(['setup', '--at', 'work'], {
    terminal: { stdin: true, stdout: true, stderr: true },
    answers: [true, false, false, false, false, false, false],
  })
  // Where a line is broken depends on how long the folder is.
  t.match(stderr.replace(/\s+/g, ' '), `work, ${work}, sealed for`)
  t.match(stderr, '$ sallyport login --at work')
  must(await run(['session', 'show', '--at', 'work']))
  t.equal((await run(['session', 'show', '--at', 'play'])).status, 4)
  t.notOk(existsSync(join(place.env['HOME'] ?? '', '.local')))
})

t.test('SALLYPORT_AT is no matter of the demo, whose state is its own', async (t) => {
  const { place, work } = await twoStates(t)
  const ran = await place.run(['demo', '--json'], {
    env: { ...plain, SALLYPORT_AT: 'work' },
  })
  t.equal(ran.status, 0, ran.stderr)
  t.not(ran.json().state_dir, work)
})

t.test('the completion of bash offers the names where a name is typed, and asks for no state', async (t) => {
  const script = must(await placeOf(t).run(['completion', 'bash'])).stdout
  const complete = (...words: string[]): string => {
    const quoted = words.map((word) => `'${word}'`).join(' ')
    const { stdout } = spawnSync('bash', ['--norc', '-c', `${script}
sallyport() { [ "$*" = 'at list' ] && printf 'play\t/p\nwork\t/w\n'; }
COMP_WORDS=(${quoted}); COMP_CWORD=${words.length - 1}; _sallyport; echo "\${COMPREPLY[@]}"`],
    { encoding: 'utf8' })
    return stdout.trim()
  }
  t.equal(complete('sallyport', '--at', ''), 'play work')
  t.equal(complete('sallyport', 'status', '--at', 'w'), 'work')
  t.equal(complete('sallyport', 'at', 'remove', 'p'), 'play')
  t.equal(complete('sallyport', '--at', 'work', 'state', 'pa'), 'path')
  t.match(complete('sallyport', 'at', ''), /^add list remove/)
})

t.test('a told command carries the name that the line had, and can be typed where nothing names a place', async (t) => {
  const { run, work } = await twoStates(t)
  const elsewhere = (line: readonly string[]): Promise<Ran> =>
    run(line, { env: { SALLYPORT_STATE_DIR: '/nowhere', SALLYPORT_CONFIG_DIR: '/nowhere-else' } })
  const refused = (await run(['goal', 'add', 'a goal', '--at', 'work', '--json'])).error()
  t.strictSame(refused.next, [{ command: 'sallyport login --at work', needs_person: true }])
  t.match((await run(['goal', 'add', 'a goal', '--at', 'work'])).stderr,
    'next: Run `sallyport login --at work`.')
  must(await elsewhere(['login', '--at', 'work']))
  for (const title of ['a', 'b', 'c']) must(await elsewhere(['goal', 'add', title, '--at', 'work']))
  const page = (await run(['audit', 'list', '--limit', '1', '--paged', '--json', '--at', 'work']))
    .json()
  const next = (page.next_page as string).split(' ').slice(1)
  t.strictSame(next.slice(-2), ['--at', 'work'], page.next_page)
  t.equal(next.filter((word) => word === '--at').length, 1)
  must(await elsewhere(next))
  const show = ['goal', 'show', 'goal_none', '--json']
  const byEnv = await run(show, { env: { SALLYPORT_AT: 'work' } })
  t.strictSame(byEnv.error().next.map(({ command }) => command.includes('--at')), [false],
    'whoever types in that environment means the same state')
  const byDir = await run([...show, '--state-dir', 'w'])
  t.match(byDir.error().next[0]?.command, `--state-dir ${work}`, 'a line that has a folder tells it')
  t.notMatch((await run(['status', '--at', 'gone'])).stderr, '--at gone', 'names need no name')
})

t.test('where the name leads to no state that is said, and how to make it there', async (t) => {
  const { run, json } = placeOf(t)
  await json(['at', 'add', 'work', 'w'])
  const told = (await run(['goal', 'list', '--at', 'work', '--json'])).error()
  t.strictSame([told.code, told.next.map(({ command }) => command)],
    ['no_state', ['sallyport init --at work']])
  t.match(told.message, 'where the name points')
  const byEnv = await run(['goal', 'list', '--json'], { env: { SALLYPORT_AT: 'work' } })
  t.match(byEnv.error().message, 'where the name points')
})

t.test('a folder that no shell takes as it is has a name that each shell takes', async (t) => {
  const { place, run, json } = placeOf(t)
  const odd = join(place.dir, 'it\'s "a" $HOME\nof `x` \\n ')
  const keys = join(place.dir, 'k \u001b[31m')
  t.equal((await json(['at', 'add', 'odd', odd, '--config-dir', keys])).state_dir, odd)
  must(await run(['init', '--at', 'odd']))
  t.equal((await json(['status', '--at', 'odd'])).state_dir, odd)
  const listed = must(await run(['at', 'list'], { terminal: { stdout: true }, columns: 400 }))
  t.notMatch(listed.stdout, '\u001b[31m', 'nothing in it drives a terminal')
  const refused = await run(['goal', 'list', '--at', 'odd', '--json'])
  const [{ command = '' } = {}] = refused.error().next
  const { stdout } = spawnSync('/bin/sh', ['-c', `sallyport() { printf '%s|' "$@"; }; ${command}`],
    { encoding: 'utf8' })
  t.equal(stdout, 'login|--at|odd|')
})

t.test('a restore, a check of a receipt, help and the sandbox take a name as they take a folder', async (t) => {
  const { place, run, json, work, file } = await twoStates(t)
  must(await run(['login', '--at', 'work']))
  must(await run(['state', 'backup', 'copy', '--at', 'work']))
  t.equal((await json(['state', 'verify', 'copy', '--at', 'work'])).ok, true)
  const before = readdirSync(work)
  await json(['state', 'restore', 'copy', '--yes', '--at', 'work', '--owner', 'ada'])
  t.ok(before.length > 0 && existsSync(join(work, 'STATE')))
  for (const line of [['help', 'money'], ['--help'], ['schema'], ['completion', 'bash']]) {
    must(await run([...line, '--at', 'nope']))
  }
  place.write('r.json', '{}')
  const receipt = await run(['receipt', 'verify', 'r.json', '--at', 'nope', '--json'])
  t.not(receipt.error().code, 'at_unknown', 'it asks for no state')
  t.ok(existsSync(file))
})

t.test('the state and the keys of a run, and of its steps, are those of its beginning', async (t) => {
  const { place, run, work } = await twoStates(t)
  const ran = await run(['setup', '--at', 'work'], {
    terminal: { stdin: true, stdout: true, stderr: true },
    answers: [async () => {
      must(await run(['at', 'remove', 'work']))
      must(await run(['at', 'add', 'work', 'elsewhere']))
      return true
    }, false, false, false, false, false, false],
  })
  t.equal(ran.status, 0, ran.stderr)
  must(await run(['session', 'show', '--state-dir', work]))
  t.notOk(existsSync(place.path('elsewhere')))
})

t.test('every form and confirmation says which state it is about, where that has a name', async (t) => {
  const { run, work } = await twoStates(t)
  const terminal = { stdin: true, stdout: true, stderr: true }
  const told = /^State: work$/m
  must(await run(['login', '--at', 'work']))
  must(await run(['principal', 'add', 'eve', '--at', 'work'], {
    terminal, answers: ['correct horse', 'correct horse'],
  }))
  const lines: readonly (readonly [string, readonly (string | boolean)[]])[] = [
    ['alpha setup', ['', '', '', '', '', false, false]],
    ['gateway setup', ['', '', '', '', '', false, false]],
    ['principal disable ada', [false]],
    ['codehost consent cnn_01890000-0000-7000-8000-000000000000', Array(20).fill(false)],
    ['login --owner eve', ['wrong']],
  ]
  for (const [line, answers] of lines) {
    for (const more of [['--at', 'work'], ['--at', 'work', '--quiet'], ['--state-dir', work]]) {
      const { stderr } = await run([...line.split(' '), ...more], { terminal, answers })
      t.match(stderr, told, `${line} ${more.join(' ')}`)
      t.equal(stderr.match(/^State: /gm)?.length, 1, 'once')
    }
  }
  const commands = fakeCommands(async (_, deps) => {
    for (const question of ['One?', 'Two?']) await deps.confirm(question, '--yes')
    return 'done'
  })
  const twice = await run(['single', '--at', 'work'], { terminal, answers: [true, true], commands })
  t.equal(twice.stderr.match(/^State: /gm)?.length, 1, 'once, however much is asked')
  must(await run(['at', 'remove', 'work']))
  const { stderr } = await run(['alpha', 'setup', '--state-dir', work], {
    terminal, answers: ['', '', '', '', '', false, false],
  })
  t.notMatch(stderr, /^State: /m)
})

t.test('timers hold the directories, so that a name which is forgotten or moved starts nothing else', async (t) => {
  const { place, run, work, play, keys, folder } = await twoStates(t)
  const { PATH } = schedulers(place, { systemd: false }).options.env
  for (const [name, dir] of [['work', work], ['play', play]] as const) {
    const { stderr } = await run(['timers', 'install', '--with', 'cron', '--at', name], {
      env: { PATH }, terminal: { stdin: true, stdout: true }, answers: [false],
    })
    const [line = ''] = stderr.split('\n').filter((one) => one.startsWith('* * '))
    t.match(line, `'--state-dir' '${dir}'`)
    t.notMatch(line, '--at')
    t.match(line, `'--config-dir' '${name === 'play' ? keys : folder}'`)
  }
})

t.test('ten processes that add at once lose no name, and one that waits is told who holds it', async (t) => {
  const { place, json, run, folder } = placeOf(t)
  const names = Array.from({ length: 10 }, (_, n) => `n${n}`)
  const env = { SALLYPORT_STATE_DIR: '', SALLYPORT_CONFIG_DIR: '' }
  const ran = await Promise.all(names.map((name) =>
    place.spawn(['at', 'add', name, name], { env, coverage: false })))
  t.strictSame(ran.map(({ status }) => status), names.map(() => 0))
  t.strictSame((await json(['at', 'list'])).map((one: Loose) => one.name), names)
  t.strictSame(readdirSync(folder).sort(), ['names.json', 'names.lock'])
  const lock = fileLock(join(folder, 'names.lock'), systemClock)
  t.ok(lock.tryTake('at add'))
  t.strictSame(failure(await run(['at', 'add', 'late', 'l', '--wait', '0', '--json'])),
    { status: 11, code: 'names_locked', out: '' })
  const stop = new AbortController()
  setTimeout(() => stop.abort(), 50)
  t.strictSame(failure(await run(['at', 'add', 'late', 'l', '--json'], { stop: stop.signal })),
    { status: 130, code: 'names_stopped', out: '' })
  lock.close()
  await json(['at', 'add', 'late', 'l'])
})

/** Kills a process that adds at some moment of its life; what is there is whole. */
const killedWhileAdding = async (place: Place, name: string, afterMs: number): Promise<void> => {
  await place.spawn(['at', 'add', name, name], {
    env: { SALLYPORT_STATE_DIR: '', SALLYPORT_CONFIG_DIR: '' }, coverage: false,
    onChild: (child) => void setTimeout(() => child.kill('SIGKILL'), afterMs),
  })
}

t.test('a process that is killed leaves the names of before or of after, and what it left is swept', async (t) => {
  const { place, json, folder } = placeOf(t)
  await json(['at', 'add', 'first', 'f'])
  const left = join(folder, '.tmp-1-0123456789abcdef-1')
  writeFileSync(left, '{"sch')
  for (let n = 0; n < 8; n += 1) {
    await killedWhileAdding(place, `k${n}`, 20 + 12 * n)
    const names = (await json(['at', 'list'])).map((one: Loose) => one.name)
    t.ok(names.includes('first'), `${n}: ${names.join(' ')}`)
  }
  await json(['at', 'add', 'last', 'l'])
  t.notOk(existsSync(left))
  t.strictSame(readdirSync(folder).sort(), ['names.json', 'names.lock'])
})

t.test('where the folder of names takes nothing, that is said in its own words', async (t) => {
  const { run, json, folder } = placeOf(t)
  mkdirSync(join(folder, '..'), { recursive: true })
  writeFileSync(folder, '')
  t.strictSame(failure(await run(['at', 'add', 'work', 'w', '--json'])),
    { status: 1, code: 'names_not_written', out: '' })
  t.equal((await json(['state', 'path'])).exists, false)
})
