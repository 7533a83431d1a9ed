/** Screens as wide as the terminal that shows them. */
import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { charWidth, helpText, joined, wrapText, widthFor } from '../../src/cli/wrap.js'
import { topicNames } from '../../src/cli/help/topics.js'
import type { View } from '../../src/cli/output.js'
import { renderTable } from '../../src/cli/table.js'
import { describeNouns } from '../../src/cli/tree.js'
import { commandLine, lineOfWords } from '../../src/base/told.js'
import { describingDeps } from '../../src/cli/describing.js'
import { allVerbs } from '../world/program.js'
import { World } from '../world/world.js'
import type { Place } from '../world/place.js'
import { must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'
import { slice } from '../support/slice.js'

interface Captures {
  readonly widths: readonly number[]
  readonly looks: readonly string[]
  captureProblems(name: string, screens: readonly string[]): readonly string[]
}
const { widths, looks, captureProblems } =
  await import(join(process.cwd(), 'scripts/tool/captures.js')) as Captures

const terminal = { stdin: true, stdout: true, stderr: true }

/** What is wrong with the screens of one line at all widths; nothing on one is wrong, too. */
const problemsOf = async (
  place: Place, line: string, env: Record<string, string> = {},
): Promise<readonly string[]> => {
  const screens: string[] = []
  for (const columns of widths) {
    const { stdout } = await place.run(line.split(' '), { terminal, columns, env })
    screens.push(stdout)
  }
  return screens.includes('') ? [`${line}: nothing is shown`] : captureProblems(line, screens)
}

t.test('help of every verb, noun and topic fits 60 and 80 columns, and 100 where there are 200', async (t) => {
  const place = World.in(t).place
  const lines = [
    '--help', ...describeNouns(describingDeps()).map(({ noun }) => `${noun} --help`),
    ...(await allVerbs()).map(({ meta }) => `${meta.name} --help`),
    ...topicNames.map((name) => `help ${name}`),
  ]
  for (const line of slice('help', lines, {
    axesOf: (one) => [one.split(' ')[0] ?? ''], idOf: (one) => one,
  })) t.strictSame(await problemsOf(place, line), [], line)
})

const page = `Words

Here is a paragraph that was broken for a terminal of 80 columns, and it goes on
below where its words have all the room that there is, up to its very end. This
is its end.
A line of its own.
  ok      entries go on below where their value began, also where it is as long
          as this one is, and longer
  code    another
  {"json":{"is","never","joined","to","anything","whatever","its","width"}}
  code    a value
  1. a point that goes on below in the column in which it began, which is the
     sixth one
       $ sallyport state backup DIR --and-something-that-makes-it-long-enough-x
     and prose`

t.test('a page that was broken for 80 columns is broken once for fewer, and stays as it is for more', async (t) => {
  t.equal(helpText(page, { terminal: true, columns: 60 }), `Words

Here is a paragraph that was broken for a terminal of 80
columns, and it goes on below where its words have all the
room that there is, up to its very end. This is its end.
A line of its own.
  ok      entries go on below where their value began, also
          where it is as long as this one is, and longer
  code    another
  {"json":{"is","never","joined","to","anything","whatever","its","width"}}
  code    a value
  1. a point that goes on below in the column in which it
     began, which is the sixth one
       $ sallyport state backup DIR \\
           --and-something-that-makes-it-long-enough-x
     and prose`)
  for (const columns of [80, 200]) t.equal(helpText(page, { terminal: true, columns }), page)
})

t.test('every list of what the demo leaves fits 60, 80 and 200 columns, and no word is cut', async (t) => {
  const place = World.in(t).place
  const { stdout } = must(await place.spawn(['demo', 'all', '--json']))
  const left = JSON.parse(stdout) as Record<string, string>
  const env = {
    SALLYPORT_STATE_DIR: left['state_dir'] ?? '', SALLYPORT_CONFIG_DIR: left['config_dir'] ?? '',
  }
  t.teardown(() => rmSync(dirname(env.SALLYPORT_STATE_DIR), { recursive: true, force: true }))
  for (const line of looks) t.strictSame(await problemsOf(place, line, env), [], line)
})

t.test('the fields of a result go on below the first of them, and a flag stays with its value', async (t) => {
  const place = World.in(t).place
  const { stdout } = await place.run(['gateway', 'setup', '--help'], { terminal, columns: 50 })
  t.match(stdout, /^JSON: version 1: schema, gateway, policy_revision,\n {6}requests, damage$/m)
  t.match(stdout, /--spend-ceiling 1\.00usd/)
})

const words = fc.array(fc.stringMatching(/^[a-z0-9_.,=:-]{1,30}$/), { maxLength: 30 })
  .map((some) => some.join(' '))

t.test('a fitted text has the same words, and no line is wider but for one word', async (t) => {
  fc.assert(fc.property(words, fc.integer({ min: 20, max: 120 }), (text, columns) => {
    const shown = wrapText(text, columns)
    t.strictSame(shown.split(/\s+/).filter(Boolean), text.split(' ').filter(Boolean))
    for (const line of shown.split('\n')) {
      t.ok(line.length <= columns || line.trim().split(' ').length === 1, line)
    }
  }), { numRuns: 300 })
})

const cases: [string, number, string][] = [
  ['plaintext   the provider sees it all in the clear', 36,
    'plaintext   the provider sees it all\n            in the clear'],
  ['  1. put that one back whole', 16, '  1. put that\n  one back whole'],
  ['next: look it up somewhere, then run `a b c`', 34,
    'next: look it up somewhere, then\n      run `a b c`'],
  ['  | a body goes on with its mark', 20, '  | a body goes on\n  | with its mark'],
  ['  $ sallyport one --two three --four', 24,
    '  $ sallyport one \\\n      --two three \\\n      --four'],
  ['receipt:      one two three four five six', 36,
    'receipt:      one two three four\n              five six'],
  ['spent: a sum of $1.00 (1,000,000 µUSD) and more', 36,
    'spent: a sum of\n       $1.00 (1,000,000 µUSD) and\n       more'],
  ['It ended well.  Nothing is left to do here', 30,
    'It ended well.  Nothing is\nleft to do here'],
]

t.test('what is broken goes on where its value began; a command can be copied', async (t) => {
  for (const [text, columns, shown] of cases) t.equal(wrapText(text, columns), shown)
})

const shellWords = fc.array(
  fc.array(fc.constantFrom('a', '--b', ' ', '  ', "'", '/one two', '%', '$', 'long'.repeat(9)))
    .map((parts) => parts.join('')).filter((word) => word !== ''),
  { minLength: 1, maxLength: 8 })

t.test('a paragraph with a number is broken once, points below it stay lines', async (t) => {
  t.equal(joined('1. one\n   two\n   three:\n   - four\n2. five\n\n   six'),
    '1. one two three:\n   - four\n2. five\n\n   six')
})

t.test('a shell reads a command that was broken as it was, however long its words', async (t) => {
  const read = (line: string): string =>
    spawnSync('/bin/sh', ['-c', `sallyport() { printf '[%s]' "$@"; }; ${line}`], {
      encoding: 'utf8',
    }).stdout
  const isRead = (words: readonly string[], columns: number): void => {
    const line = commandLine(lineOfWords(words))
    const told = words.map((word) => `[${word}]`).join('')
    t.equal(read(wrapText(`  $ ${line}`, columns).replace(/^ *\$ /, '')), told, line)
    for (const before of ['  ', 'next:      ', 'due        1 charge: ']) {
      // A command that is all words of one letter or so is as narrow as prose: it begins as one.
      if (!/^sallyport [a-z-]/.test(line)) break
      const shown = wrapText(before + line, columns)
      t.equal(read(shown.slice(shown.indexOf('sallyport '))), told, before + line)
    }
    const hint = wrapText(`next: Run it as \`${line}\` once more.`, columns)
    t.equal(read(/`([^`]*)`/.exec(hint)?.[1] ?? ''), told, hint)
  }
  isRead(['--state-dir', `/tmp/${'one two three '.repeat(9)}`], 80)
  fc.assert(fc.property(shellWords, fc.integer({ min: 20, max: 100 }), isRead), { numRuns: 60 })
})

t.test('wide characters take two columns, colours none', async (t) => {
  const wide = '日本語 日本語 日本語'
  t.equal(wrapText(wide, 14, await widthFor(wide)), '日本語 日本語\n日本語')
  t.equal(charWidth('\u001b[1mab\u001b[22m'), 2)
  t.equal((await widthFor('\u001b[1mab\u001b[22m'))('\u001b[1mab\u001b[22m'), 2)
})

const view = (columns: number): View => ({
  terminal: true, color: false, columns,
  paint: (_style, text) => text, foreign: (text) => text, id: (id) => id,
  command: (line) => line, told: (text) => text, time: (iso) => iso, span: String,
})

t.test('a list without room for its columns breaks the widest, and then shows cards', async (t) => {
  const head = ['id', 'state', 'title']
  const rows = [['one', 'open', 'a title of some words that goes on'], ['two', '-', '']]
  t.equal(await renderTable(view(60), head, rows),
    'id   state  title\none  open   a title of some words that goes on\ntwo  -\n')
  t.equal(await renderTable(view(36), head, rows),
    'id   state  title\none  open   a title of some words\n            that goes on\ntwo  -\n')
  t.equal(await renderTable(view(30), head, rows),
    'one  state: open\n  title: a title of some words that goes on\ntwo\n')
})
