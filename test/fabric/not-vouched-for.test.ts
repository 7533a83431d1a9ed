/**
 * A state that its anchor does not vouch for: every verb of the program is run against an old copy
 * and against one that went on apart. What looks after a state or stops works; all else refuses.
 */
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { allRecords } from '../world/program.js'
import type { Place, Ran } from '../world/place.js'
import { World } from '../world/world.js'
import { anchorFile, forgeAnchor } from '../support/anchor.js'
import { failure, must } from '../support/must.js'
import { t } from '../support/tests-in-slices.js'

/** What a line of each verb says behind the verb's name. None of it names something that exists. */
const words: Readonly<Record<string, readonly string[]>> = {
  'session revoke': ['root_x'],
  'principal add': ['eve', '--passphrase-file', 'passphrase'],
  'principal disable': ['bob', '--yes'], 'principal enable': ['bob'],
  'goal add': ['Read'], 'goal show': ['goal_x'], 'goal close': ['goal_x'],
  'goal update': ['goal_x', '--title', 'Read'],
  'alpha ask': ['-'], 'alpha output': ['task_x'], 'alpha task': ['task_x'],
  'alpha review': ['task_x', '--approve'], 'alpha cancel': ['task_x'],
  'alpha drop': ['art_x'],
  'alpha setup': ['--disable'], 'alpha acknowledge': ['--acknowledge-plaintext-egress'],
  'gateway setup': ['--disable'], 'gateway prove': ['chat'],
  'codehost connect': ['--repo', 'o/r', '--token-file', 'passphrase'],
  'codehost mode': ['cnn_x', 'disabled'], 'codehost revoke': ['cnn_x'],
  'codehost disconnect': ['cnn_x'],
  'codehost consent': [
    'cnn_x', '--action', 'issue.create', '--acknowledge', '--expected-revision', '1',
  ],
  'codehost prepare': [
    'issue', '--connection', 'cnn_x', '--title', 'x', '--body-file', 'config.json',
  ],
  'codehost approve': ['job_x', '--preview-digest', 'x'],
  'codehost publish': ['job_x', '--preview-digest', 'x'],
  ...Object.fromEntries([
    'preview', 'run', 'resume', 'job', 'cancel', 'recover adopt', 'recover inspect',
    'recover discard',
  ].map((verb) => [`codehost ${verb}`, ['job_x']])),
  'codehost close-capacity': [
    'job_x', '--acknowledged-capacity-close', '--expected-job-revision', '1',
    '--expected-connection-revision', '1', '--expected-connection-fence', '1',
  ],
  'codehost recover verify': ['config.json'],
  'codehost recover observe': [
    'job_x', '--acknowledged-closure-observation', '--expected-read-revision', '1',
  ],
  'codehost recover reconcile': ['job_x', '--expected-read-revision', '1'],
  'shots config': ['set', '--analysis', 'off'],
  'shots reanalyze': ['obs_x', '--reason', 'manual_operator_request'],
  'shots show': ['obs_x'], 'shots find': ['x'], 'shots explain': ['x.png'],
  'shots report': [], 'shots estimate': [],
  'edge pair': ['--file', 'pairing.txt'],
  'edge revoke': ['edge_dev_01890000-0000-7000-8000-000000000000'],
  'edge show': ['edge_art_01890000-0000-7000-8000-000000000000'],
  'config save': ['--from', 'config.json'],
  'task show': ['task_x'], 'task review': ['task_x', '--approve'], 'task cancel': ['task_x'],
  'task recover': ['task_x'], 'task close': ['task_x'],
  'ledger settle': ['op_x', '--amount-microusd', '1', '--yes'],
  'ledger review': ['op_x', '--accept'],
  'audit show': ['aud_x'], explain: ['task_x'], 'receipt export': ['task_x'],
  'state backup': ['kept'], 'state restore': ['none-there', '--yes'],
  'state verify': ['none-there'],
  'state prune': ['--older-than', '30d', '--yes'], 'state export': ['--jsonl'],
  'state destroy': ['--acknowledged-destroy', 'state'],
  'machine invite': ['b', '--to', 'b.invite', '--passphrase-file', 'passphrase'],
  'machine retire': ['b', '--yes'],
  'state share': ['postgres://ops@127.0.0.1/sallyport', '--yes'], 'state unshare': ['--yes'],
}

/** These open no state at all. */
const stateless = [
  'init', 'sandbox start', 'sandbox stop', 'sandbox status', 'sandbox fault', 'sandbox faults',
  'sandbox samples',
  'demo', 'schema', 'completion', 'help', 'edge capture', 'edge daemon',
  'timers remove', 'receipt verify', 'at add', 'at list', 'at remove',
  'machine join',
]
/** These work whatever a state is; what they answer is told by tests of their own. */
const remaining = [
  'status', 'doctor', 'shots status', 'policy revoke',
  'state path', 'state check', 'state repair', 'state backup', 'state restore', 'state kept',
  'state verify',
  'codehost recover verify', 'machine list', 'state accept-server', 'state unshare',
]

const lineOf = (name: string): string[] => [...name.split(' '), ...(words[name] ?? []), '--json']

const filesOf = (place: Place): void => {
  place.write('passphrase', 'correct horse battery\n')
  place.write('config.json', '{}')
}

const putBack = ({ dir, stateDir }: Place): void => {
  rmSync(stateDir, { recursive: true })
  cpSync(join(dir, 'copy'), stateDir, { recursive: true })
}

/** How a state comes not to be vouched for. */
const ways: Readonly<Record<string, (place: Place) => Promise<void> | void>> = {
  behind: (place) => putBack(place),
  forked: async (place) => {
    putBack(place)
    // Stopping works on an old copy, and takes it further from the anchor, not back to it.
    must(await place.run(['policy', 'revoke']))
    must(await place.run(['policy', 'revoke']))
  },
  missing: (place) => rmSync(anchorFile(place)),
  forged: (place) => forgeAnchor(place),
}

const refusedBy = async (t: Test, ran: Ran, name: string, reason: string): Promise<void> => {
  t.strictSame(failure(ran), { status: 7, code: 'store_behind_anchor', out: '' }, name)
  t.equal(ran.error().details.anchor, reason, name)
}

const worldOf = (t: Test) => World.in(t).state({ owner: 'ada' }).session().with(async (world) => {
  const { place } = world
  filesOf(place)
  const other = await world.json(['login', '--token-file', place.path('other')])
  cpSync(place.stateDir, join(place.dir, 'copy'), { recursive: true })
  must(await world.run(['session', 'revoke', other.root.id]))
})

t.test('every verb says what it asks of the anchor, and none is forgotten here', async (t) => {
  const verbs = await allRecords()
  const any = verbs.filter(({ meta }) => meta.anchor === 'any').map(({ meta }) => meta.name)
  t.strictSame(any.sort(), [...remaining].sort())
  const names = new Set(verbs.map(({ meta }) => meta.name))
  t.strictSame(
    [...stateless, ...remaining, ...Object.keys(words)].filter((one) => !names.has(one)), []
  )
})

for (const [way, spoil] of Object.entries(ways)) {
  t.test(`A-070 A-158 a ${way} state shows, decides and sends nothing, whatever is asked of it`, async (t) => {
    const { place } = await worldOf(t)
    await spoil(place)
    for (const { meta: { name } } of await allRecords()) {
      if (stateless.includes(name) || remaining.includes(name)) continue
      const stdin = 'A question'
      await refusedBy(t, await place.run(lineOf(name), { stdin }), name, way)
    }
    const told = (await place.run(['login'])).stderr
    t.match(told, /sallyport state restore/)
    t.match(told, /sallyport policy revoke/)
  })

  t.test(`A-070 what looks after a ${way} state or stops goes on`, async (t) => {
    const { place } = await worldOf(t)
    await spoil(place)
    for (const name of remaining) {
      const ran = await place.run(lineOf(name))
      const code = ran.stderr.startsWith('{') ? ran.error().code : 'none'
      t.not(code, 'store_behind_anchor', name)
    }
    t.equal((await place.run(['policy', 'revoke'])).status, 0)
    t.equal((await place.json(['status'])).policy.block, 'store_behind_anchor')
  })
}

t.test('A-070 a session that was ended stays ended when the copy of before is put back', async (t) => {
  const at = await World.in(t).state({ owner: 'ada' }).session()
  cpSync(at.place.stateDir, join(at.place.dir, 'copy'), { recursive: true })
  t.equal((await at.run(['session', 'list'])).status, 0)
  must(await at.run(['logout']))
  putBack(at.place)
  t.equal((await at.run(['session', 'list', '--json'])).error().code, 'store_behind_anchor')
})
