/** Every command that a refusal names can be typed: read from the source, and from what is told. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { nextStepsOf, needsPerson, personCommands } from '../../src/base/next-step.js'
import { describingDeps } from '../../src/cli/describing.js'
import { globalFlags } from '../../src/cli/globals.js'
import { topicNames } from '../../src/cli/help/topics.js'
import { describeTree, type DescribedVerb } from '../../src/cli/tree.js'
import { World } from '../world/world.js'
import { t } from '../support/tests-in-slices.js'

interface Hint {
  readonly file: string
  readonly line: number
  readonly hint: string
}

const { hints } = (await import(join(process.cwd(), 'scripts/tool/next-steps.js'))) as {
  hints(): readonly Hint[]
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
}
/** What a terminal asks for, each in a form of its own: see the tests of those verbs. */
const askedFor = new Set(['input_required', 'one_verdict', 'pairing_file_needed'])

const toFill = /^(?:[A-Z][A-Z_-]*(?:\/[A-Z]+)*)$/

const typed = (line: string): string[] => line.split(' ').map((word, at, words) => {
  if (!toFill.test(word)) return word
  const before = words[at - 1] ?? ''
  if (filled[before] !== undefined) return filled[before]
  return /^--.*(?:revision|microusd|tokens|requests|id|number|port)$/.test(before) ? '1' : word
})

t.test('a next step is no misuse: what it leaves out is asked for, or not needed', async (t) => {
  const { place } = World.in(t)
  place.write('F', 'content\n')
  mkdirSync(place.path('DIR'))
  let ran = 0
  for (const line of lines.keys()) {
    // These two go on until they are stopped.
    if (/^(?:serve|sandbox start|edge daemon)\b/.test(line)) continue
    const words = typed(line)
    const ended = await place.run([...words, '--json', '--no-input'], { stdin: '' })
    ran += 1
    const told = ended.status === 0 ? null : ended.error()
    const isMisuse = ended.status === 2 && !askedFor.has(told?.code ?? '')
    t.notOk(isMisuse, `sallyport ${words.join(' ')}: ${told?.code ?? 'done'}`)
  }
  t.ok(ran > 80, `${ran} commands were run`)
})

const saysYes = /^--(?:acknowledge|accept|approve$|release|consent$|yes$|void-answers|standing)/

t.test('no next step says yes by itself, and what would say yes needs a person', async (t) => {
  for (const line of lines.keys()) {
    const yes = line.split(' ').filter((word) => saysYes.test(word) && word !== '--consent')
    t.strictSame(yes, [], `sallyport ${line}`)
  }
  for (const { meta, flags } of tree) {
    if (!flags.some(({ long }) => saysYes.test(long))) continue
    const line = meta.name === 'shots config' ? 'shots config set' : meta.name
    t.ok(needsPerson(line), meta.name)
  }
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
