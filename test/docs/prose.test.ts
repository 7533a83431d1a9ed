/**
 * Pages and the sentences of the program, read by a linter of prose: what users read has no
 * sentence that is too long or hard to read, and little in the passive; what builders read, and
 * what the program says, stays below a share of it. scripts/tool/prose.json has the limits, and
 * what is allowed for which reason.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { slice } from '../support/slice.js'
import t from 'tap'

type Rule = 'long-sentence' | 'readability' | 'passive'

interface Prose {
  readonly places: () => Readonly<Record<string, readonly string[]>>
  readonly textOf: (place: string) => string
  readonly findingsOf: (place: string, text: string) => Promise<{
    readonly sentences: number
    readonly findings: readonly { readonly line: number, rule: Rule, words: string }[]
  }>
}

interface Settings {
  readonly states: Readonly<Record<string, string>>
  /** The largest share of its sentences that may be found in a place of a group. */
  readonly shares: Readonly<Record<string, Readonly<Record<Rule, number>>>>
  readonly exceptions: readonly { readonly place: string, words: string, reason: string }[]
}

const prose = await import(join(process.cwd(), 'scripts/tool/prose.js')) as Prose
const settings = JSON.parse(readFileSync('scripts/tool/prose.json', 'utf8')) as Settings

const cells = Object.entries(prose.places()).flatMap(([group, all]) =>
  all.map((place) => ({ group, place })))

for (const { group, place } of slice('places', cells, {
  axesOf: ({ group }) => [group], idOf: ({ place }) => place,
})) {
  t.test(`${place} is in plain words`, async (t) => {
    const { sentences, findings } = await prose.findingsOf(place, prose.textOf(place))
    for (const [rule, share] of Object.entries(settings.shares[group] ?? {})) {
      const found = findings.filter((one) => one.rule === rule)
      const list = found.map(({ line, words }) => `\n${line}: ${words}`).join('')
      t.ok(found.length <= share * sentences,
        `${rule}: ${found.length} of ${sentences} sentences, at most ${share} of them:${list}`)
    }
  })
}

t.test('the linter finds what it is for, and nothing in what is plain', async (t) => {
  const rulesIn = async (text: string) =>
    (await prose.findingsOf('a page', text)).findings.map(({ rule }) => rule)
  t.strictSame(await rulesIn('You ask one question. It has an answer.\n'), [])
  t.strictSame(await rulesIn('The page was written by somebody.\n'), ['passive'])
  const long = `One ${'and one '.repeat(13)}here.\n`
  t.ok((await rulesIn(long)).includes('long-sentence'))
  t.strictSame(await rulesIn(`\`\`\`sh\n${long}\`\`\`\n`), [], 'a block is no prose')
  t.ok((await rulesIn('Notwithstanding considerable organisational responsibilities, '
    + 'interdepartmental representatives systematically underestimate complexity.\n'))
    .includes('readability'))
  t.strictSame(await rulesIn('Nothing was sent.\n'), [], 'a state is no passive')
})

t.test('each exception of the linter has a reason, and still stands in its place', (t) => {
  for (const [word, why] of Object.entries(settings.states)) t.ok(why.length > 20, word)
  for (const { place, words, reason } of settings.exceptions) {
    t.ok(reason.length > 20, words)
    t.ok(prose.textOf(place).includes(words), `${place}: ${words}`)
  }
  t.end()
})
