/**
 * Every command of the pages that teach is typed as it is printed, against the sandbox, and answers
 * what the page says; ids, digests and times are compared by their form. SALLYPORT_WRITE_DOCS=1
 * writes what was answered into the pages.
 */
import { randomUUID } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { globalFlags } from '../../src/cli/globals.js'
import { filesBelow } from '../support/marks.js'
import { must } from '../support/must.js'
import { startPostgres } from '../support/place/postgres.js'
import { openBridge } from '../support/service/bridge.js'
import { publishing, type Publishing } from '../support/codehost/publishing.js'
import {
  blocksOf, commandsIn, newcomer, spokenIn, typePage, type Spoken,
} from '../support/docs/pages.js'
import { t } from '../support/tests-in-slices.js'
import { allVerbs } from '../world/program.js'

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

/** Pictures may be analysed. */
const described = `
sallyport shots setup --analysis on --cloud-upload on --fallbacks deny \\
  --data-collection deny --zdr on --budget 0.20usd --budget-requests 40 --request-cost-bound 0.02usd
revision=$(sallyport gateway show --json | jq -r .policy_revision)
sallyport gateway setup --slot screenshot --model gateway/acme/sees-1 --upstream-allow acme-host \\
  --api-key-file $keys/gateway-api.key --spend-ceiling 1.00usd --request-cost-bound 0.02usd \\
  --consent gateway.vision --acknowledge-cloud-egress --expected-policy-revision "$revision"
sallyport gateway prove screenshot
`

/** Pages with a world of their own. */
const pages = {
  'publish-a-folder': 'docs/how-to/publish-a-folder.md',
  'publish-from-ci': 'docs/how-to/publish-from-ci.md',
  'when-it-says-unknown': 'docs/how-to/when-it-says-unknown.md',
  'close-an-unknown-publication': 'docs/how-to/close-an-unknown-publication.md',
  'share-between-machines': 'docs/how-to/share-between-machines.md',
  'devices-elsewhere': 'docs/how-to/devices-elsewhere.md',
  tutorial: 'docs/tutorial.md',
} as const

const readerAt = (
  { place }: Publishing, env: Readonly<Record<string, string>>,
  spoken: Readonly<Record<string, Spoken>> = {},
) => ({ cwd: place.path('.'), env: { ...place.env, ...env }, spoken })

t.test('publishing a folder: each command of the page answers what the page says', async (t) => {
  const at = await publishing(t)
  mkdirSync(at.place.path('site'), { recursive: true })
  writeFileSync(at.place.path('site/index.html'), '<p>MARK-site</p>\n')
  await typePage(t, pages['publish-a-folder'], readerAt(at, {}))
  t.equal(at.posts().length, 5)
})

t.test('publishing from a CI job: each command of the page answers what the page says', async (t) => {
  const at = await publishing(t)
  // As the build of before left it.
  must(await at.run(['codehost', 'disconnect', at.id]))
  must(await at.run(['logout']))
  mkdirSync(at.place.path('site'), { recursive: true })
  writeFileSync(at.place.path('site/index.html'), '<p>MARK-site</p>\n')
  await typePage(t, pages['publish-from-ci'], readerAt(at, {
    TOKEN_FILE: at.sandbox.keyFiles.codehost, BUILD: '1041',
  }, {
    init: {
      typed: 'SALLYPORT_STATE_DIR=$PWD/empty SALLYPORT_CONFIG_DIR=$PWD/empty-keys sallyport init',
    },
    'codehost run --approved': {
      typed: 'unset SALLYPORT_SESSION; sallyport login && sallyport codehost run --approved',
    },
    serve: { unrun: 'serves until it is stopped: test/service/http starts and stops it' },
  }))
  t.equal(at.posts().length, 5)
  must(await at.run(['login']))
  const left = await at.json(['codehost', 'connections'])
  t.equal(left.length, 1, 'the row of the build of before')
  t.hasStrict(left[0], { id: at.id, mode: 'disabled' })
})

t.test('when it says unknown: each command of the page answers what the page says', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', after: 1, times: 1 })
  await typePage(t, pages['when-it-says-unknown'], readerAt(at, { job, JOB: job }))
  t.equal(at.job(job).state, 'succeeded')
})

t.test('close an unknown publication: each command that the text names does what it says', async (t) => {
  const at = await publishing(t)
  const job = await at.approvedPublication()
  at.sandbox.faults.set('write_close_before_headers', { service: 'codehost', after: 5, times: 1 })
  await at.runJob(job)
  const request = at.place.write('request.json', JSON.stringify({
    acknowledged_capacity_close: true, idempotency_key: randomUUID(),
    expected_job_revision: at.job(job).revision,
    expected_connection_revision: at.connection().revision,
    expected_connection_fence: at.connection().active_fence,
  }))
  t.equal((await at.run(['codehost', 'close-capacity', job, '--from', request])).status, 7)
  await typePage(t, pages['close-an-unknown-publication'], readerAt(at, { JOB: job }, {
    'codehost close-capacity JOB --retry': { exit: 7 },
    // It is not decided.
    'codehost recover discard JOB': { exit: 5 },
  }))
})

t.test('sharing a state between machines: each command of the page answers what the page says', async (t) => {
  const server = await startPostgres(t, { password: 'of-the-server' })
  const reader = newcomer(t)
  const files = 'umask 077\nprintf of-the-server > server.pw\n'
    + 'printf "goes by another way" > invite.pw\n'
  await typePage(t, pages['share-between-machines'], {
    ...reader, env: { ...reader.env, DATABASE: server.url }, before: setUp + files,
    spoken: {
      'init --shared ADDRESS --server-ca FILE --server-password-file FILE': { exit: 3 },
      'state accept-server': { exit: 3 },
    },
  })
})

t.test('devices of other machines: each command of the page answers what the page says, by a bridge of TCP', async (t) => {
  const reader = newcomer(t)
  const { port } = await openBridge(t, { held: false })
  await typePage(t, pages['devices-elsewhere'], {
    ...reader, env: { ...reader.env, PLACE: `127.0.0.1:${port}`, ADDRESS: '127.0.0.1' },
    before: `${setUp}sallyport sandbox samples ~/samples > /dev/null
cp ~/samples/board.png shot.png
`,
  })
})

t.test('the tutorial leads a newcomer from nothing to the first answer and the first report', async (t) => {
  await typePage(t, pages['tutorial'], {
    ...newcomer(t),
    spoken: {
      setup: { unrun: 'forms at a terminal: test/cli/setup.test.ts fills them in' },
      'explain ID': { exit: 6 },
    },
  })
})

/** Pages that begin where the tutorial ends, and what the world was made like for them. */
const afterwards: Readonly<Record<string, {
  readonly more?: string; readonly spoken?: Readonly<Record<string, Spoken>>
}>> = {
  'when-a-charge-is-unknown': { more: 'sallyport sandbox fault set billing_no_entry\n' },
  'several-owners': {
    spoken: {
      'session revoke SESSION': {
        typed: 'sallyport session revoke "$(sallyport session list --json | jq -r .[0].id)"',
      },
    },
  },
  'several-states': {
    spoken: {
      'serve --open --at trial': {
        unrun: 'serves until it is stopped: test/service/named.test.ts serves it',
      },
    },
  },
  'use-a-real-key': {},
  'show-a-receipt': {},
  'back-up-and-move': {
    spoken: {
      'alpha setup': {
        typed: 'sallyport alpha setup --enable --acknowledge-plaintext-egress'
          + ' --expected-policy-revision "$(sallyport alpha show --json | jq -r .policy_revision)"',
      },
      'gateway setup': { unrun: 'a form at a terminal: test/cli/forms.test.ts fills it in' },
    },
  },
  'uninstall': {
    // The page has deleted the state by then.
    spoken: {
      'codehost connections': { exit: 10 },
      'codehost disconnect CONNECTION': { exit: 10 },
      'gateway setup --remove-key': { exit: 10 },
    },
  },
  'ask-from-ci': { more: `sallyport logout\necho ${randomUUID()} > build.key\n` },
  'take-screenshots': { more: described },
  'analyse-captures': {
    more: `${described}mkdir ~/screens && sallyport shots setup --folder ~/screens
sallyport sandbox samples ~/samples > /dev/null
cp ~/samples/board.png shot.png && cp ~/samples/editor.png other.png
cp ~/samples/editor-one-line.png third.png
`,
  },
  'in-a-container': {
    spoken: {
      'shots run': { unrun: 'runs until it is stopped: test/cli/containers.test.ts stops it' },
      'sandbox start --background': {
        typed: 'sallyport sandbox start --background --dir two && sallyport sandbox stop --dir two',
      },
    },
  },
  'run-on-a-timer': {
    more: 'sallyport sandbox samples ~/screens\nsallyport shots setup --folder ~/screens\n',
  },
}

const afterwardsPage = (name: string): string => `docs/how-to/${name}.md`

/** Those that a test of this file types, whether or not this run has it. */
const typed: ReadonlySet<string> = new Set<string>(
  [...Object.values(pages), ...Object.keys(afterwards).map(afterwardsPage)])

for (const [name, { more = '', ...how }] of Object.entries(afterwards)) {
  t.test(`how to: each command of ${name} answers what the page says`, async (t) => {
    await typePage(t, afterwardsPage(name), { ...newcomer(t), before: setUp + more, ...how })
  })
}

t.test('every block of every page is typed by a test, or says why nobody types it', async (t) => {
  const all = ['README.md', ...filesBelow('docs').filter((path) => path.endsWith('.md'))]
  t.ok(all.length > 50, `${all.length} pages`)
  for (const path of all) {
    const blocks = blocksOf(readFileSync(path, 'utf8'))
    const fences = readFileSync(path, 'utf8').match(/^```/gm)?.length ?? 0
    t.equal(blocks.length * 2, fences, `${path}: every fence is of a block`)
    if (path.startsWith('docs/how-to/')) t.ok(typed.has(path), `${path} is typed`)
    for (const [place, { info, unrun, text }] of blocks.entries()) {
      const title = `${path}: ${text.split('\n')[0] ?? ''}`
      if (unrun === null) {
        t.ok(typed.has(path), `${title} is typed`)
        const answers = info === 'text' && blocks[place - 1]?.info === 'sh'
        t.ok(info === 'sh' || answers, `${title} is a command or its answer`)
      } else t.ok(unrun.length >= 20, `${title} has a reason`)
    }
  }
})

t.test('every command in a block that nobody types, and in running text, is one of the program, with its flags', async (t) => {
  const verbs = await allVerbs()
  const names = verbs.map(({ meta }) => meta.name)
  const pages = ['README.md', ...filesBelow('docs').filter((path) => path.endsWith('.md'))]
    .map((path) => readFileSync(path, 'utf8'))
  const spoken = pages.flatMap((page) => spokenIn(page, names)).map(({ line }) => line)
  const lines = pages.flatMap((page) => blocksOf(page)
    .filter(({ unrun }) => unrun !== null).flatMap(({ text }) => commandsIn(text)))
  t.ok(lines.length > 30 && spoken.length > 100, `${lines.length} and ${spoken.length} commands`)
  for (const line of [...lines, ...spoken]) {
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
