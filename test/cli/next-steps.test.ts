/** Every command that a refusal names can be typed: read from the source, and from what is told. */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { nextStepsOf, needsPerson, personCommands } from '../../src/base/next-step.js'
import { describingDeps } from '../../src/cli/describing.js'
import { globalFlags } from '../../src/cli/globals.js'
import { topicNames } from '../../src/cli/help/topics.js'
import { describeTree, type DescribedVerb } from '../../src/cli/tree.js'
import { must } from '../support/must.js'
import { placeOf, type Ran, type RunOptions, type Teardown } from '../world/place.js'
import { runHere } from '../world/program.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

interface Hint {
  readonly file: string
  readonly line: number
  readonly hint: string
}

const { hints, unrendered } = (
  await import(join(process.cwd(), 'scripts/tool/next-steps.js'))) as {
  hints(): readonly Hint[]
  unrendered(): readonly unknown[]
}

/** Texts that tell of commands without being hints: no word to fill in stands in them. */
const tellers = ['consent-text.ts', 'openapi.ts']

/** The lines without `sallyport`, each with the places that name it. */
const lines = new Map<string, string[]>()
for (const { file, line, hint } of hints()) {
  if (tellers.some((name) => file.endsWith(name))) continue
  for (const { command } of nextStepsOf(hint)) {
    const words = command.replace(/^sallyport /, '')
    lines.set(words, [...(lines.get(words) ?? []), `${file}:${line}`])
  }
}

const tree = await describeTree(describingDeps())

const verbOf = (words: readonly string[]): DescribedVerb | undefined =>
  tree.find(({ meta }) => {
    const name = meta.name.split(' ')
    return name.every((word, at) => words[at] === word)
  })

/** What is wrong with a line by the command tree; null where it parses. */
const problemOf = (line: string): string | null => {
  const words = line.split(' ')
  // The name of the verb or noun that was misused: frame.test.ts types each as it is told.
  if (line === 'help VALUE') return null
  if (words[0] === 'help') return topicNames.includes(words[1] ?? '') ? null : 'no such topic'
  const verb = verbOf(words)
  if (verb === undefined) return line === '--help' ? null : 'no such verb'
  const flags = [...verb.flags, ...globalFlags]
  let positionals = 0
  const rest = words.slice(verb.meta.name.split(' ').length)
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] ?? ''
    if (!word.startsWith('--')) {
      positionals += 1
      continue
    }
    const flag = flags.find(({ long }) => long === word)
    if (flag === undefined) return `no flag ${word}`
    if (flag.value === null) continue
    at += 1
    if (rest[at] === undefined) return `${word} without a value`
  }
  const least = (verb.usage.match(/ <[a-z]+(?:\.\.\.)?>/g) ?? []).length
  if (line.endsWith(' --help')) return null
  if (positionals < least) return `${positionals} of ${least} arguments`
  return positionals > verb.arguments.length ? 'too many arguments' : null
}

t.test('every next step in the source parses against the commands that there are', async (t) => {
  t.ok(lines.size > 90, `${lines.size} commands`)
  for (const [line, places] of lines) {
    t.equal(problemOf(line), null, `sallyport ${line}, in ${places.join(', ')}`)
  }
})

/** What is typed for a word to fill in, by the flag or the word before it. */
const filled: Readonly<Record<string, string>> = {
  '--window-end': '2026-01-01T00:00:00Z', '--repo': 'owner/name', '--action': 'issue.create',
  '--duration': '30m', '--consent': 'gateway.chat', '--slot': 'screenshot',
  '--model': 'gateway/acme/model-1', '--upstream-allow': 'acme', '--idempotency-key':
  '0190f000-0000-4000-8000-000000000001', '--older-than': '30d', prove: 'screenshot',
  '--amount': '0.01usd', '--budget': '0.50usd', '--request-cost-bound': '0.02usd',
  '--spend-ceiling': '1.00usd',
}
/** What a terminal asks for, each in a form of its own: see the tests of those verbs. */
const askedFor = new Set([
  'input_required', 'one_verdict', 'pairing_file_needed', 'nothing_to_save', 'connect_flags',
])

const toFill = /^(?:[A-Z][A-Z_-]*(?:\/[A-Z]+)*)$/

const typed = (line: string): string[] => line.split(' ').map((word, at, words) => {
  if (!toFill.test(word)) return word
  const before = words[at - 1] ?? ''
  if (filled[before] !== undefined) return filled[before]
  return /^--.*(?:revision|microusd|tokens|requests|id|number|port)$/.test(before) ? '1' : word
})

t.test('no command is told past the place that renders it', async (t) => {
  t.strictSame(unrendered(), [])
  for (const { meta, flags } of tree) {
    if (meta.name.startsWith('sandbox ') || !flags.some(({ long }) =>
      long === '--after' || long === '--before')) continue
    // A list of captures takes no file: the bytes of one alone go into it.
    const paths = flags.filter(({ long, value }) => /FILE|DIR|PATH/i.test(value ?? '')
      && `${meta.name} ${long}` !== 'edge artifacts --out')
    t.strictSame(paths, [], `${meta.name}: the line of its next page would name a relative path`)
  }
})

/** Lines that go on until they are stopped. */
const goesOn = /^(?:serve|sandbox start|edge daemon|shots run)\b/

t.test('a next step is no misuse: what it leaves out is asked for, or not needed', async (t) => {
  const { place } = World.in(t)
  place.write('F', 'content\n')
  mkdirSync(place.path('DIR'))
  let ran = 0
  for (const line of lines.keys()) {
    if (goesOn.test(line)) continue
    const words = typed(line)
    const ended = await place.run([...words, '--json', '--no-input'], { stdin: '' })
    ran += 1
    const told = ended.status === 0 ? null : ended.error()
    const isMisuse = ended.status === 2 && !askedFor.has(told?.code ?? '')
    t.notOk(isMisuse, `sallyport ${words.join(' ')}: ${told?.code ?? 'done'}`)
  }
  t.ok(ran > 80, `${ran} commands were run`)
})

/** A place whose folders no shell takes as they are, named by flags and relative paths alone. */
const placeByFlags = (t: Teardown) => {
  const place = placeOf(t)
  const odd = join(place.dir, "it's `a` $HOME\nof \\n")
  mkdirSync(join(odd, 'elsewhere'), { recursive: true })
  const { HOME = '', PATH = '' } = place.env
  const env = { HOME, PATH }
  const own = { ...place, cwd: odd, env, stateDir: join(odd, 's t'), configDir: join(odd, 'k') }
  const flags = ['--state-dir', 's t', '--config-dir', './k']
  return {
    /** With the flags, or as it stands: in another folder, where no variable names a place. */
    run: (line: readonly string[], options: RunOptions = {}) =>
      runHere(own, [...line, ...flags], options),
    again: (line: readonly string[]) =>
      runHere({ ...own, cwd: join(odd, 'elsewhere') }, line, { stdin: '' }),
    stateDir: own.stateDir,
  }
}

/** Words as a shell makes them of a line. */
const read = (line: string): readonly string[] => {
  const { stdout } = spawnSync('/bin/sh', ['-c', `sallyport() { printf '%s\\0' "$@"; }; ${line}`], {
    encoding: 'utf8',
  })
  return stdout.split('\0').slice(0, -1)
}

/** Every command in what was printed, JSON or text: between backticks, or to the end of a line. */
const commandsIn = ({ stdout, stderr }: Ran): readonly string[] => {
  const text = (stdout + stderr).replace(/\\\n */g, '')
    .replaceAll(/"(?:[^"\\]|\\.)*"/g, (quoted) => {
      try {
        return `\n${String(JSON.parse(quoted))}\n`
      } catch {
        return quoted
      }
    })
  const sentences = [...text.matchAll(/`(sallyport [a-z][^`]*)`/g)].map(([, line = '']) => line)
  const alone = text.replace(/`[^`]*`/g, '').split('\n').flatMap((line) =>
    (/(?:^ *|: +| {2,}|\$ )(sallyport [a-z].*)$/.exec(line)?.slice(1) ?? []))
  return [...sentences, ...alone]
}

const needsNoState = /^sallyport (?:--help|help|demo|sandbox|schema|edge daemon|at)\b| --help$/

t.test('every command that is told means the state of its line, wherever it is typed', async (t) => {
  const place = placeByFlags(t)
  const told = new Map<string, string>()
  const hear = (line: readonly string[], ran: Ran): void => {
    for (const command of commandsIn(ran)) told.set(command, line.join(' '))
  }
  const terminal = { stdin: true, stdout: true, stderr: true }
  hear(['status'], await place.run(['status']))
  must(await place.run(['init', '--json']))
  hear(['goal', 'add'], await place.run(['goal', 'add', 'a goal', '--json']))
  must(await place.run(['login', '--json']))
  for (const shown of [
    'alpha show', 'gateway show', 'shots status', 'shots show', 'status', 'doctor',
    'ledger show', 'timers show', 'edge list',
  ]) {
    for (const more of [['--json'], []]) {
      const line = [...shown.split(' '), ...more]
      hear(line, await place.run(line, { terminal: more.length === 0 ? terminal : {} }))
    }
  }
  for (const line of lines.keys()) {
    const isHelp = needsNoState.test(`sallyport ${line}`)
    if (isHelp || goesOn.test(line) || /^(?:init|login|logout|policy revoke|state)\b/.test(line)) {
      continue
    }
    const words = typed(line)
    hear(words, await place.run([...words, '--json', '--no-input'], { stdin: '' }))
  }
  t.ok(told.size > 25, `${told.size} commands were told`)
  for (const [command, by] of told) {
    if (needsNoState.test(command)) continue
    const words = read(command)
    t.equal(words[words.indexOf('--state-dir') + 1], place.stateDir, `${command}, told by ${by}`)
    const line = typed(words.map((word) => word.replaceAll(' ', '\u00a0')).join(' '))
      .map((word) => word.replaceAll('\u00a0', ' '))
    if (goesOn.test(line.join(' ')) || line[0] === 'init') continue
    const ended = await place.again([...line, '--json', '--no-input'])
    const code = ended.status === 0 ? 'done' : ended.error().code
    const isMisuse = ended.status === 2 && !askedFor.has(code)
    t.notOk(isMisuse || code === 'no_state', `${command}, told by ${by}: ${code}`)
  }
})

const saysYes = /^--(?:acknowledge|accept|approve$|release|consent$|yes$|void-answers|standing)/

t.test('no next step says yes by itself, and what would say yes needs a person', async (t) => {
  for (const line of lines.keys()) {
    const yes = line.split(' ').filter((word) => saysYes.test(word) && word !== '--consent')
    t.strictSame(yes, [], `sallyport ${line}`)
  }
  for (const { meta, flags } of tree) {
    if (!flags.some(({ long }) => saysYes.test(long))) continue
    t.ok(needsPerson(meta.name), meta.name)
  }
  t.ok(needsPerson('codehost publish job_1 --preview-digest 0a'), 'it approves what it names')
  for (const one of personCommands) {
    const words = one.split(' ')
    t.ok(verbOf(words), `${one} is a verb`)
    t.ok(needsPerson(one), one)
    t.ok(needsPerson(`${one} ID`), one)
    t.notOk(needsPerson(`${one} --help`), `${one} --help only shows`)
  }
  t.strictSame(nextStepsOf('Run `sallyport state check`, then `sallyport task show TASK`.'), [
    { command: 'sallyport state check', needs_person: false },
    { command: 'sallyport task show TASK', needs_person: true },
  ], 'a word to fill in needs a person')
  t.notOk(needsPerson('codehost close-capacity job_1 --retry'), 'it was acknowledged before')
  t.strictSame(nextStepsOf(null), [])
  t.strictSame(nextStepsOf('Choose a shorter period.'), [])
})

t.test('what a refusal tells in JSON is what it tells at a terminal', async (t) => {
  const world = await World.in(t).state()
  const line = ['goal', 'add', 'a goal']
  const told = await world.run([...line, '--json'])
  t.strictSame(told.error().next, [{ command: 'sallyport login', needs_person: true }])
  t.match((await world.run(line)).stderr, 'next: Run `sallyport login`.')
})
