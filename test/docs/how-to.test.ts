/**
 * Every command of the pages that teach is typed as it is printed, against the sandbox, and answers
 * what the page says; ids, digests and times are compared by their form. SALLYPORT_WRITE_DOCS=1
 * writes what was answered into the pages.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { describingDeps } from '../../src/cli/describing.js'
import { globalFlags } from '../../src/cli/globals.js'
import { describeTree } from '../../src/cli/tree.js'
import { filesBelow } from '../support/marks.js'
import { must } from '../support/must.js'
import { publishing, type Publishing } from '../support/codehost/publishing.js'
import { blocksOf, commandsIn, newcomer, typedPages, typePage } from '../support/docs/pages.js'

/** What a reader of a how-to page has done before: the tutorial's steps, in one go. */
const setUp = `
sallyport sandbox start > sandbox.txt &
until grep -qs Ctrl-C sandbox.txt; do sleep 1; done
keys=~/.local/state/sallyport-sandbox
sallyport init --profile sandbox
sallyport login
sallyport alpha setup --enable --acknowledge-plaintext-egress --expected-policy-revision 1 \\
  --api-key-file $keys/provider-api.key --max-output-tokens 256 --timeout-seconds 30 \\
  --request-cost-bound 0.10usd --spend-ceiling 1.00usd
`

const readerAt = ({ place }: Publishing, env: Readonly<Record<string, string>>) =>
  ({ cwd: place.path('.'), env: { ...place.env, ...env } })

t.test('publishing from a CI job: each command of the page answers what the page says', async (t) => {
  const at = await publishing(t)
  must(await at.run(['logout']))
  mkdirSync(at.place.path('site'), { recursive: true })
  writeFileSync(at.place.path('site/index.html'), '<p>MARK-site</p>\n')
  await typePage(t, 'docs/how-to/publish-from-ci.md', readerAt(at, {
    TOKEN_FILE: at.sandbox.keyFiles.codehost, BUILD: '1041', BUILD_KEY: randomUUID(),
  }))
  t.equal(at.posts().length, 5)
})

t.test('when it says unknown: each command of the page answers what the page says', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', after: 1, times: 1 })
  await typePage(t, 'docs/how-to/when-it-says-unknown.md', readerAt(at, { job }))
  t.equal(at.job(job).state, 'succeeded')
})

t.test('the tutorial leads a newcomer from nothing to the first answer and the first report', async (t) => {
  await typePage(t, 'docs/tutorial.md', newcomer(t))
})

/** Pages that begin where the tutorial ends, and what the world was made like for them. */
const afterwards = {
  'when-a-charge-is-unknown': 'sallyport sandbox fault set billing_no_entry\n',
  'several-owners': '',
  'back-up-and-move': '',
  'ask-from-ci': `sallyport logout\necho ${randomUUID()} > build.key\n`,
  'run-on-a-timer': 'sallyport sandbox samples ~/screens\n'
    + 'sallyport shots config set --folder ~/screens\n',
}

for (const [name, more] of Object.entries(afterwards)) {
  t.test(`how to: each command of ${name} answers what the page says`, async (t) => {
    await typePage(t, `docs/how-to/${name}.md`, { ...newcomer(t), before: setUp + more })
  })
}

t.test('every block of every page is typed by a test, or says why nobody types it', async (t) => {
  const pages = ['README.md', ...filesBelow('docs').filter((path) => path.endsWith('.md'))]
  t.ok(pages.length > 50, `${pages.length} pages`)
  for (const path of pages) {
    const blocks = blocksOf(readFileSync(path, 'utf8'))
    const fences = readFileSync(path, 'utf8').match(/^```/gm)?.length ?? 0
    t.equal(blocks.length * 2, fences, `${path}: every fence is of a block`)
    for (const [place, { info, unrun, text }] of blocks.entries()) {
      const title = `${path}: ${text.split('\n')[0] ?? ''}`
      if (unrun === null) {
        t.ok(typedPages().has(path), `${title} is typed`)
        const answers = info === 'text' && blocks[place - 1]?.info === 'sh'
        t.ok(info === 'sh' || answers, `${title} is a command or its answer`)
      } else t.ok(unrun.length >= 20, `${title} has a reason`)
    }
  }
})

t.test('every command in a block that nobody types is one of the program, with its flags', async (t) => {
  const verbs = await describeTree(describingDeps())
  const pages = ['README.md', ...filesBelow('docs').filter((path) => path.endsWith('.md'))]
  const lines = pages.flatMap((path) => blocksOf(readFileSync(path, 'utf8'))
    .filter(({ unrun }) => unrun !== null).flatMap(({ text }) => commandsIn(text)))
  t.ok(lines.length > 30, `${lines.length} commands`)
  for (const line of lines) {
    const verb = verbs.find(({ meta }) => `${line} `.startsWith(`${meta.name} `))
    if (verb === undefined) {
      t.match(line, /^(--version|help)\b/, line)
      continue
    }
    const known = new Set([...verb.flags, ...globalFlags].map(({ long }) => long))
    t.strictSame((line.match(/--[a-z][a-z-]*/g) ?? []).filter((flag) => !known.has(flag)), [], line)
  }
})

t.test('each refusal in the page of troubles is one of the program, with its exit status', async (t) => {
  const rows = (path: string) => [...readFileSync(path, 'utf8').matchAll(/^\| `(\w+)` \|.*$/gm)]
    .map(([line, code = '']) => ({ code, cells: line.split(' | ') }))
  const all = new Map(rows('docs/refusals.md').map(({ code, cells }) => [code, cells[2]]))
  const told = rows('docs/troubleshooting.md')
  t.ok(told.length >= 15, `${told.length} codes`)
  for (const { code, cells } of told) t.equal(cells[1], all.get(code), code)
  t.equal(new Set(told.map(({ code }) => code)).size, told.length, 'each once')
})
