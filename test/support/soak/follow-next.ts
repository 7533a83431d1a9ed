/**
 * `next` followed from every state: a job is brought into each row of the page's table by the real
 * program, by kills, faults and what people take back; then a script does nothing but run the
 * command that `codehost job` names while it may. It comes to an end, within few lines, sends
 * nothing twice, and where nobody stands in its way the end is the job's own.
 */
import { connectionCollection } from '../../../src/governance/connections/connection-rows.js'
import { collections } from '../../../src/governance/rows.js'
import { jobCollection } from '../../../src/codehost/jobs/job-rows.js'
import type { Teardown } from '../../world/place.js'
import { codehostActions } from '../../../src/codehost/constants.js'
import { publicationClosing, type PublicationClosing } from '../codehost/publication-closing.js'
import { rowOf, stateRows, type StateRow } from '../codehost/states-table.js'
import { dice } from '../images/edit-suite.js'
import { must } from '../must.js'

/** What was followed, by the row of the page that it began in, and where it ended. */
export interface FollowReport {
  readonly began: Record<string, number>
  readonly ends: Record<string, number>
  commands: number
  /** The most that one script ran. */
  longest: number
  readonly wrong: string[]
}

type Dice = ReturnType<typeof dice>

interface Here {
  readonly at: PublicationClosing
  readonly rows: readonly StateRow[]
  readonly report: FollowReport
  readonly next: Dice
  made: number
  /** Hours have gone by: session and consent are another one's. */
  aged: boolean
}

const linesMax = 4

const expect = ({ report }: Here, isTrue: boolean, what: string): void => {
  if (!isTrue) report.wrong.push(what)
}

const count = (of: Record<string, number>, name: string): void => {
  of[name] = (of[name] ?? 0) + 1
}

const leftMs = 15 * 60_000

const consent = async (here: Here): Promise<void> => {
  const { at } = here
  await at.freshConsent()
  const { consent: given } = at.connection()
  const stands = !here.aged && given !== null && given.ended === null
    && given.actions.length === codehostActions.length
    && Date.parse(given.expires_at) - at.clock.wallMs() > leftMs
  if (!stands) must(await at.consent(['--action', ...codehostActions]))
  here.aged = false
}

const once = { service: 'codehost', times: 1 } as const

const issue = async (here: Here): Promise<string> => {
  here.made += 1
  return here.at.prepare(`Number ${here.made}`)
}

const approvedIssue = async (here: Here): Promise<string> => {
  const job = await issue(here)
  must(await here.at.approve(job))
  return job
}

const killed = async ({ at }: Here, job: string, step: string): Promise<string> => {
  // The process has the time of this world: its session is of hours that have not come yet.
  const offset = String(Math.round(at.clock.wallMs() - Date.now()))
  await at.place.spawn(['codehost', 'run', job, '--json'], {
    entry: 'test', coverage: false, env: { TEST_STOP_AT: step, TEST_WALL_OFFSET_MS: offset },
  })
  return job
}

const faulty = async (
  { at }: Here, job: string, fault: string, after = 0,
): Promise<string> => {
  at.sandbox.faults.set(fault, { ...once, after })
  await at.runJob(job)
  at.sandbox.faults.clear()
  return job
}

const stopped = async ({ at }: Here, job: string, step: string): Promise<string> => {
  const stop = new AbortController()
  await at.runJob(job, {
    stop: stop.signal, at: (announced) => {
      if (announced === step) stop.abort()
    },
  })
  return job
}

/** A job whose goal changed before its readback, and that was read back afterwards. */
const goalChanged = async (here: Here): Promise<string> => {
  const { at } = here
  const job = await approvedIssue(here)
  await at.runJob(job, {
    at: async (step) => {
      if (step !== 'codehost.created') return
      const goal = at.view().get(collections.goals, at.job(job).goal_id)
      if (goal === undefined) throw new Error('it has a goal')
      await at.transact((tx) => tx.put(collections.goals, goal.goal_id, {
        ...goal, revision: goal.revision + 1,
      }))
    },
  })
  await at.reconcile(job)
  return job
}

/** Puts a job's row as no run leaves it here: what only a restore or another host makes. */
const put = async (
  { at }: Here, job: string, more: Partial<ReturnType<PublicationClosing['job']>>,
): Promise<string> => {
  await at.transact((tx) => tx.put(jobCollection, job, { ...at.job(job), ...more }))
  return job
}

type Begin = (here: Here) => Promise<string>

/** How a job comes into each row of the page. */
const begins: Readonly<Record<string, readonly Begin[]>> = {
  '`prepared`': [issue, ({ at }) => at.preparedPublication()],
  '`approved`': [approvedIssue, ({ at }) => at.approvedPublication()],
  '`succeeded`': [async (here) => {
    const job = await approvedIssue(here)
    must(await here.at.runJob(job))
    return job
  }],
  '`succeeded`, read back after its run': [async (here) => {
    const job = await faulty(here, await approvedIssue(here), 'read_not_there', 1)
    must(await here.at.reconcile(job))
    return job
  }],
  '`blocked`, nothing sent or begun': [
    async (here) => killed(here, await approvedIssue(here), 'codehost.reserved'),
    async (here) => stopped(here, await approvedIssue(here), 'codehost.before_dial'),
    async (here) => killed(here, await here.at.approvedPublication(), 'codehost.reserved'),
  ],
  '`blocked`, `interrupted_after_spawn`': [
    async (here) => killed(here, await here.at.approvedPublication(), 'codehost.produced'),
    async (here) => killed(here, await here.at.approvedPublication(), 'codehost.spawned'),
    async (here) => killed(here, await here.at.approvedPublication(), 'codehost.spawn_intended'),
  ],
  '`blocked`, `producer_…`': [async (here) => {
    const job = await killed(here, await here.at.approvedPublication(), 'codehost.spawn_intended')
    await here.at.run(['codehost', 'resume', job])
    return job
  }],
  '`blocked`, sent in part': [
    async (here) => stopped(here, await here.at.approvedPublication(), 'codehost.post_3_of_6'),
    async (here) => {
      const job = await faulty(
        here, await here.at.approvedPublication(), 'write_close_before_headers', 1)
      await here.at.reconcile(job)
      return job
    },
  ],
  '`blocked`, `cancelled_by_owner`': [async (here) => {
    const { at } = here
    const job = await at.approvedPublication()
    await at.runJob(job, {
      at: async (step) => {
        if (step === 'codehost.post_3_of_6') must(await at.run(['codehost', 'cancel', job]))
      },
    })
    return job
  }],
  '`blocked`, `remote_taken`': [async (here) => {
    const job = await faulty(here, await approvedIssue(here), 'write_not_done_500')
    return put(here, job, { state: 'blocked', reason: 'remote_taken' })
  }],
  '`blocked`, all sent': [goalChanged],
  '`unknown_external_effect`': [
    async (here) => faulty(here, await approvedIssue(here), 'read_not_there', 1),
    async (here) => killed(here, await approvedIssue(here), 'codehost.created'),
    async (here) => faulty(here, await approvedIssue(here), 'write_other_text'),
    async (here) => faulty(
      here, await here.at.approvedPublication(), 'write_close_before_headers', 3),
    async (here) => killed(here, await here.at.approvedPublication(), 'codehost.replied#3'),
    async (here) => faulty(here, await here.at.approvedPublication(), 'write_not_done_408', 2),
  ],
  '`unknown_external_effect`, no number': [
    async (here) => faulty(here, await approvedIssue(here), 'write_close_before_headers'),
    async (here) => killed(here, await approvedIssue(here), 'codehost.contact_intent'),
    async (here) => faulty(
      here, await here.at.approvedPublication(), 'write_close_before_headers', 5),
    async (here) => faulty(here, await approvedIssue(here), 'write_not_done_404'),
  ],
  '`unknown_external_effect`, put back': [async (here) => {
    const job = await faulty(here, await approvedIssue(here), 'write_not_done_500')
    return put(here, job, { contacted: 0, restored: true })
  }],
  '`failed`, refused': [
    async (here) => faulty(here, await approvedIssue(here), 'write_too_many'),
    async (here) => faulty(here, await here.at.approvedPublication(), 'write_not_done_422', 2),
  ],
  '`failed`, nothing sent': [async (here) => {
    const job = await killed(here, await here.at.approvedPublication(), 'codehost.spawned')
    await here.at.run(['codehost', 'resume', job])
    return job
  }],
  '`cancelled`': [async (here) => {
    const job = await issue(here)
    must(await here.at.run(['codehost', 'cancel', job]))
    return job
  }],
  closed: [async (here) => {
    const { at } = here
    const job = await faulty(here, await approvedIssue(here), 'read_not_there', 1)
    must(await at.close(job, at.request(job)))
    return job
  }],
}

/** What else may have ended meanwhile; most of the time nothing. */
const ended: Readonly<Record<string, (here: Here) => Promise<unknown>>> = {
  nothing: async () => undefined,
  consent: async ({ at }) => must(await at.run(['codehost', 'revoke', at.id])),
  mode: async ({ at }) => must(await at.run(['codehost', 'mode', at.id, 'disabled'])),
  time: async (here) => {
    here.at.clock.advance(2 * 3_600_000)
    // Nothing is read without a session: whoever follows has another one by then.
    must(await here.at.run(['login', '--json']))
    here.aged = true
  },
  token: async ({ at }) => must(await at.run(['codehost', 'connect', '--connection', at.id,
    '--token-file', at.sandbox.keyFiles.codehost, '--expected-revision',
    String(at.connection().revision)])),
}

/** A host that gives no answer, or not the one that is needed, while the script runs. */
const hosts = ['read_status_500', 'read_not_there', 'read_limit_spent', 'read_malformed'] as const

interface Shown {
  readonly state: string
  readonly reason: string | null
  readonly way_on: { readonly command: string | null, readonly unattended: boolean }
}

/** Runs what may be run until nothing may be, or an exit is not 0; gives its end. */
const follow = async (here: Here, job: string): Promise<string> => {
  const { at, report } = here
  const typed: string[] = []
  for (;;) {
    const { state, reason, way_on: way }: Shown = await at.json(['codehost', 'job', job])
    expect(here, state !== 'running', `${job} is told as running, and nobody works on it`)
    const told = reason === null ? state : `${state} (${reason})`
    if (!way.unattended || way.command === null) return told
    expect(here, !typed.includes(way.command), `${told} leads to itself: ${way.command}`)
    typed.push(way.command)
    report.longest = Math.max(report.longest, typed.length)
    if (typed.length > linesMax) return 'no end'
    report.commands += 1
    const ran = await at.run([...way.command.split(' ').slice(1), '--no-input', '--json'])
    const { status, stderr } = ran
    expect(here, status !== 2 && status !== 3, `${way.command}: ${status} ${stderr}`)
    if (status !== 0) return `exit ${status} ${ran.error().code}`
  }
}

const rowName = (here: Here, wanted: string, job: string): string => {
  const { state, reason, reserved } = here.at.job(job)
  if (wanted === '`succeeded`, read back after its run') return wanted
  // A killed run is stored as running until somebody writes.
  return state === 'running' ? `\`running\`, killed (${String(reserved)} ${reason ?? ''})`
    : rowOf(here.at.job(job), here.rows).state
}

const isLeft = ({ at }: Here): boolean => at.connection().active_job_id !== null

/** What no program does: the connection is free for the next round. */
const clear = async ({ at }: Here, job: string): Promise<void> => {
  at.sandbox.faults.clear()
  await at.transact((tx) => {
    tx.put(connectionCollection, at.id, { ...at.connection(), active_job_id: null })
    tx.put(jobCollection, job, { ...at.job(job), reserved: false })
  })
}

const followOne = async (here: Here, wanted: string, begin: Begin): Promise<void> => {
  const { at, report, next } = here
  await consent(here)
  const job = await begin(here)
  const began = rowName(here, wanted, job)
  expect(here, began === wanted || began.startsWith('`running`'), `${wanted} is ${began}`)
  const disturbs = next(3) === 0
  const names = Object.keys(ended)
  const what = disturbs ? names[next(names.length)] ?? 'nothing' : 'nothing'
  await ended[what]?.(here)
  const host = disturbs && next(2) === 0 ? hosts[next(hosts.length)] : undefined
  if (host !== undefined) at.sandbox.faults.set(host, { service: 'codehost' })
  const end = await follow(here, job)
  count(report.began, wanted)
  count(report.ends, end)
  expect(here, end !== 'no end', `${wanted}, ${what} ended, ${host ?? 'host'}: ${end}`)
  // A second one that comes later ends too.
  at.sandbox.faults.clear()
  expect(here, await follow(here, job) !== 'no end', `${wanted}: a second script has no end`)
  if (isLeft(here)) await clear(here, job)
}

/** Nobody stands in the first; the others come of a copy that lacks records, see `care.test.ts`. */
const unreached = new Set(
  ['`running`', '`blocked`, `records_unread`', '`cancelled`, `records_unread`'])

const plan: readonly (readonly [string, Begin])[] = Object.entries(begins)
  .flatMap(([row, ways]) => ways.map((way) => [row, way] as const))

/** How many ways into the rows of the page there are. */
export const waysCount = plan.length

/** Follows so many, each way into each row in turn, `from` one of them on. */
export const followEach = async (
  t: Teardown, rounds: number, from = 0, seed = 1,
): Promise<FollowReport> => {
  const report: FollowReport = { began: {}, ends: {}, commands: 0, longest: 0, wrong: [] }
  const rows = stateRows()
  const lacking = rows.map(({ state }) => state)
    .filter((state) => !unreached.has(state) && begins[state] === undefined)
  report.wrong.push(...lacking.map((state) => `no way leads into ${state}`))
  const here: Here = {
    at: await publicationClosing(t), rows, report, next: dice(seed), made: 0, aged: false,
  }
  for (let n = 0; n < rounds; n += 1) {
    const [row, begin] = plan[(from + n) % plan.length] ?? plan[0]!
    await followOne(here, row, begin)
  }
  const sent = here.at.posts().map(({ path, bodySha256 }) => `${path} ${bodySha256}`)
  expect(here, new Set(sent).size === sent.length, 'an effect was sent twice')
  return report
}

/** What `npm run soak` does where no number is given: each way into each row, five times. */
export const usual = 5 * plan.length

/** The long run. */
export const run = async (rounds: number): Promise<void> => {
  const undo: (() => unknown)[] = []
  try {
    const { wrong, ...counts } = await followEach({ teardown: (fn) => void undo.push(fn) }, rounds)
    process.stdout.write(`${JSON.stringify(counts)}\nviolations: ${wrong.length}\n`)
    if (wrong.length > 0) throw new Error(wrong.slice(0, 40).join('\n'))
  } finally {
    for (const one of undo.reverse()) await one()
  }
}
