/**
 * Likenesses against kinds of effect: what a host shows that says the same as what a job sent and
 * is older, newer, somebody else's, reopened, transferred, edited or gone is no evidence of an
 * issue, a comment or a pull request, by no reply, readback, reconcile, adoption or closure; blobs,
 * trees, commits and branches are evidence by their ids, whoever made them and whenever.
 */
import type { HostComment, HostIssue } from '../../../src/sandbox/codehost/shapes.js'
import type { Kept } from '../../../src/sandbox/codehost/store.js'
import { codehostActions } from '../../../src/codehost/constants.js'
import { openPublication } from '../../../src/codehost/jobs/publication/open.js'
import type { Teardown } from '../../world/place.js'
import {
  publicationClosing, stops, type PublicationClosing,
} from '../codehost/publication-closing.js'
import { must } from '../must.js'
import { clientOf } from '../sandbox/host-client.js'

/** What was tried, by kind of effect and by where it was looked at, and what should not be. */
export interface LikenessReport {
  readonly kinds: Record<string, number>
  readonly routes: Record<string, number>
  refused: number
  evidence: number
  readonly wrong: string[]
}

type Numbered = 'issue' | 'comment' | 'pull_request'
type Named = 'blob' | 'chunk' | 'growth' | 'commit' | 'ref'

interface Here {
  readonly at: PublicationClosing
  readonly report: LikenessReport
  made: number
}

const day = 86_400_000
const iso = (ms: number): string => new Date(ms).toISOString().replace(/\.\d{3}Z$/, 'Z')

const hostOf = ({ at }: Here): Kept => {
  const kept = at.sandbox.codehost.find('operator', 'notes')
  if (kept === undefined) throw new Error('the sandbox has its repository')
  return kept
}

const expect = ({ report }: Here, isTrue: boolean, what: string): void => {
  if (!isTrue) report.wrong.push(what)
}

const count = (of: Record<string, number>, name: string): void => {
  of[name] = (of[name] ?? 0) + 1
}

/** What the host has that is only like it, and the word that it is refused with. */
interface Like {
  readonly name: string
  /** How the host's own row is changed; null where it is gone. */
  readonly change: (row: HostIssue | HostComment, here: Here) => Partial<HostIssue> | null
  readonly word: string
  /** A fault of the read in its place. */
  readonly fault?: string
  readonly not?: readonly Numbered[]
}

const made = ({ createdAt }: HostIssue | HostComment): number => Date.parse(createdAt)

const likes: readonly Like[] = [
  { name: 'old', word: 'other_time', change: () => ({ createdAt: '2020-01-02T03:04:05Z' }) },
  { name: 'of the next night', word: 'other_time',
    change: (row) => ({ createdAt: iso(made(row) + day) }) },
  { name: 'reopened', word: 'other_time',
    change: (row) => ({ createdAt: iso(made(row) - day), updatedAt: iso(made(row)) }) },
  { name: 'transferred in', word: 'other_time',
    change: (row) => ({ createdAt: iso(made(row) - 400 * day), updatedAt: iso(made(row)) }) },
  { name: 'foreign', word: 'other_author',
    change: (_row, { at }) => ({ user: at.sandbox.codehost.user('stranger') }) },
  { name: 'through an app', word: 'other_author', change: () => ({ viaApp: true }),
    not: ['pull_request'] },
  { name: 'edited', word: 'edited',
    change: (row) => ({ body: 'Another text', updatedAt: iso(made(row) + 5_000) }) },
  { name: 'without a time', word: 'time_missing', change: () => ({}), fault: 'read_no_time' },
  { name: 'without a maker', word: 'author_missing', change: () => ({}), fault: 'read_no_author' },
  { name: 'transferred away', word: 'moved', change: () => ({}), fault: 'read_redirect_301' },
  { name: 'deleted', word: 'gone', change: () => null },
]

/** The words that a readback of a job and a closure tell it with. */
const wordsOf = (word: string): { readonly read: string, readonly closure: string } => {
  if (word === 'moved') return { read: 'repository_moved', closure: 'readback_redirected' }
  if (word === 'gone') return { read: 'remote_not_found', closure: 'remote_not_found' }
  return { read: `readback_${word}`, closure: `readback_${word}` }
}

/** What a consent has left at least when something is prepared under it. */
const leftMs = 15 * 60_000

const consentToAll = async ({ at }: Here): Promise<void> => {
  await at.freshConsent()
  const { consent } = at.connection()
  const all = consent?.actions.length === codehostActions.length
    && Date.parse(consent.expires_at) - at.clock.wallMs() > leftMs
  if (!all) must(await at.consent(['--action', ...codehostActions]))
}

/** Prepared and approved, of a kind that the host numbers. */
const approved = async (here: Here, kind: Numbered): Promise<string> => {
  const { at } = here
  await consentToAll(here)
  here.made += 1
  if (kind === 'pull_request') return at.approvedPublication()
  if (hostOf(here).issues.length === 0) {
    const first = await at.prepare('The first')
    must(await at.approve(first))
    must(await at.runJob(first))
  }
  const job = kind === 'issue'
    ? await at.prepare(`Number ${here.made}`)
    // Each of its own text: one that another job sent in the same moments is proved by no number.
    : await at.prepareComment(1, `Comment ${here.made}`)
  must(await at.approve(job))
  return job
}

interface Place {
  readonly list: (HostIssue | HostComment)[]
  readonly index: number
}

/** Where the host keeps what it made last of a kind. */
const lastOf = (here: Here, kind: Numbered): Place => {
  const { issues, comments } = hostOf(here)
  const list: (HostIssue | HostComment)[] = kind === 'comment' ? comments : issues
  return { list, index: list.length - 1 }
}

/** Makes it only like what was made; gives what puts it back. */
const disguise = (here: Here, kind: Numbered, like: Like): (() => void) => {
  const { at } = here
  const { list, index } = lastOf(here, kind)
  const row = list[index]
  if (row === undefined) throw new Error('nothing was made')
  const change = like.change(row, here)
  // One that is gone stays in the list, under a number that nobody asks for.
  const other = change === null
    ? { ...row, ...('number' in row ? { number: 900_000 + index } : { id: 900_000 + index }) }
    : { ...row, ...change }
  list[index] = other as HostIssue
  return () => {
    list[index] = row
    at.sandbox.faults.clear()
  }
}

/** The fault of the next read of what was made: `after` other reads. */
const faultFor = ({ at }: Here, { fault }: Like, after: number): void => {
  at.sandbox.faults.clear()
  if (fault !== undefined) {
    at.sandbox.faults.set(fault, { service: 'codehost', after, times: 1 })
  }
}

const codeOf = async (work: ReturnType<PublicationClosing['close']>): Promise<string> => {
  const ran = await work
  return ran.status === 0 ? 'done' : ran.error().reason ?? ran.error().code
}

const settle = async (here: Here, job: string, by: 'reconcile' | 'closure'): Promise<void> => {
  const { at, report } = here
  const ran = by === 'closure' ? await at.close(job, at.request(job)) : await at.reconcile(job)
  expect(here, ran.status === 0, `${by} refused the one of the job: ${ran.stderr}`)
  expect(here, at.connection().active_job_id === null, `${by} left the connection occupied`)
  report.evidence += 1
}

/** One kind and one likeness, at every place where it could be taken for the effect. */
const tryNumbered = async (here: Here, kind: Numbered, like: Like): Promise<void> => {
  const { at, report } = here
  const name = `${kind} ${like.name}`
  const job = await approved(here, kind)
  const words = wordsOf(like.word)
  let undo = (): void => undefined
  await at.runJob(job, {
    at: (step) => {
      if (step !== 'codehost.created') return
      undo = disguise(here, kind, like)
      faultFor(here, like, 0)
    },
  })
  const refused = (route: string, told: string | null, wanted: string): void => {
    count(report.kinds, kind)
    count(report.routes, route)
    report.refused += 1
    expect(here, told === wanted, `${name} by ${route}: ${told}, not ${wanted}`)
    expect(here, at.connection().active_job_id === job, `${name} by ${route}: it is free`)
  }
  refused('readback', at.job(job).reason, words.read)
  faultFor(here, like, 1)
  refused('reconcile', await codeOf(at.reconcile(job)), words.read)
  const adopted = await at.run(['codehost', 'adopt', job, '--json'])
  refused('adopt', adopted.status === 0 ? 'adopted' : adopted.error().code, 'codehost_not_adopted')
  faultFor(here, like, 1)
  refused('closure', await codeOf(at.close(job, at.request(job))), words.closure)
  undo()
  await settle(here, job, here.made % 2 === 0 ? 'reconcile' : 'closure')
}

/** Faults of the reply to a creation, and the word that it is told with. */
const replies = [
  ['write_old_time', 'other_time'], ['write_no_time', 'time_missing'],
  ['write_other_author', 'other_author'], ['write_no_author', 'author_missing'],
] as const

/** A 201 that names something else than what was sent. */
const tryReply = async (here: Here, kind: Numbered, [fault, word]: (typeof replies)[number]) => {
  const { at, report } = here
  const job = await approved(here, kind)
  at.sandbox.faults.set(fault, {
    service: 'codehost', times: 1, after: kind === 'pull_request' ? stops.pull_request - 1 : 0,
  })
  await at.runJob(job)
  at.sandbox.faults.clear()
  count(report.kinds, kind)
  count(report.routes, 'reply')
  report.refused += 1
  const { reason, state, remote } = at.job(job)
  expect(here, state === 'unknown_external_effect' && reason === `reply_${word}` && remote === null,
    `${kind} by a 201 with ${fault}: ${state} ${reason}`)
  const { list, index } = lastOf(here, kind)
  const row = list[index]
  const number = row === undefined ? 0 : 'number' in row ? row.number : row.id
  const hint = kind === 'pull_request' ? { pr_number: number } : { remote_id: number }
  const told = await codeOf(at.close(job, at.request(job, hint)))
  expect(here, told === 'done', `${kind}: what was made is not found: ${told}`)
  report.evidence += 1
}

/** A creation that the host never saw, and an older one of the same words. */
const tryUnseen = async (here: Here, kind: 'issue' | 'comment', like: Like): Promise<void> => {
  const { at, report } = here
  const job = await approved(here, kind)
  at.sandbox.faults.set('write_not_done_500', { service: 'codehost', times: 1 })
  await at.runJob(job)
  at.sandbox.faults.clear()
  const { issues, comments } = hostOf(here)
  const own = { user: at.sandbox.codehost.user('operator'), createdAt: iso(Date.now()) }
  const text = (await at.json(['codehost', 'preview', job])).text as string
  const id = at.sandbox.codehost.newId()
  const row: HostIssue | HostComment = kind === 'comment'
    ? { id, issue: 1, body: text, ...own }
    : { id, number: issues.length + 1, title: `Number ${here.made}`, body: text, state: 'open',
      comments: 0, pull: null, ...own }
  const other = { ...row, ...like.change(row, here) }
  if (kind === 'comment') comments.push(other as HostComment)
  else issues.push(other as HostIssue)
  faultFor(here, like, 1)
  const remote_id = 'number' in other ? other.number : other.id
  const told = await codeOf(at.close(job, at.request(job, { remote_id })))
  at.sandbox.faults.clear()
  count(report.kinds, kind)
  count(report.routes, 'closure by a number')
  report.refused += 1
  expect(here, told === wordsOf(like.word).closure, `${kind} ${like.name} never sent: ${told}`)
  expect(here, at.connection().active_job_id === job, `${kind} ${like.name} never sent: it is free`)
  await at.free(job)
}

/** With a mark what says the same is it, whenever the host tells it was made and by whom. */
const tryMarked = async (here: Here, kind: 'issue', like: Like): Promise<void> => {
  const { at, report } = here
  await consentToAll(here)
  here.made += 1
  const { id: job } = await at.json(['codehost', 'prepare', kind, '--connection', at.id, '--title',
    `Number ${here.made}`, '--body-file', at.place.write('marked.md', 'Marked.\n'), '--mark'])
  must(await at.approve(job))
  let undo = (): void => undefined
  await at.runJob(job, {
    at: (step) => {
      if (step === 'codehost.created') undo = disguise(here, kind, like)
    },
  })
  count(report.kinds, `${kind} with a mark`)
  count(report.routes, 'readback')
  const isText = like.word === 'edited' || like.word === 'gone'
  const { state, reason } = at.job(job)
  expect(here, isText ? reason === wordsOf(like.word).read : state === 'succeeded',
    `marked ${kind} ${like.name}: ${state} ${reason}`)
  report[isText ? 'refused' : 'evidence'] += 1
  undo()
  if (isText) await settle(here, job, 'reconcile')
}

/** How what is named by its id may be otherwise. */
const broken: Readonly<Record<Named, string>> = {
  blob: 'blob_other_bytes', chunk: 'tree_other_row', growth: 'tree_other_row',
  commit: 'commit_other_message', ref: 'ref_moved',
}

/** What somebody else made before, or in the same moment, under the very id or name. */
const tryNamed = async (here: Here, kind: Named, by: 'reconcile' | 'closure'): Promise<void> => {
  const { at, report } = here
  await consentToAll(here)
  here.made += 1
  const job = await at.approvedPublication()
  const number = stops[kind]
  await at.runJob(job, {
    at: async (step) => {
      if (step !== `codehost.post_${number}_of_${stops.pull_request}`) return
      const open = openPublication(at.gov, at.view(), at.job(job))
      try {
        const post = open.posts[number - 1]
        if (post === undefined) throw new Error('no such POST')
        const body: unknown = JSON.parse((await open.bodyOf(post)).toString('utf8'))
        await clientOf(at.sandbox).create(post.path, body)
      } finally {
        open.close()
      }
      at.sandbox.faults.set('write_not_done_500', { service: 'codehost', times: 1 })
    },
  })
  at.sandbox.faults.clear()
  expect(here, at.job(job).state === 'unknown_external_effect', `${kind}: it was answered`)
  at.sandbox.faults.set(broken[kind], { service: 'codehost', times: 1 })
  const told = by === 'closure' ? await codeOf(at.close(job, at.request(job)))
    : await codeOf(at.reconcile(job))
  at.sandbox.faults.clear()
  expect(here, told === 'readback_differs', `${kind} that is another: ${told}`)
  count(report.kinds, kind)
  count(report.routes, by)
  report.refused += 1
  at.sandbox.faults.set('read_old_time', { service: 'codehost' })
  const ran = by === 'closure' ? await at.close(job, at.request(job)) : await at.reconcile(job)
  at.sandbox.faults.clear()
  const found = by === 'closure' ? ran.status === 0 : at.job(job).created === number
  expect(here, found, `${kind} that somebody else made: ${ran.stderr}`)
  report.evidence += 1
  if (by === 'reconcile') must(await at.run(['codehost', 'resume', job]))
}

/** A 201 with another id than the one that what was sent has. */
const tryOtherId = async (here: Here, kind: Named): Promise<void> => {
  const { at, report } = here
  await consentToAll(here)
  const job = await at.approvedPublication()
  at.sandbox.faults.set('write_other_id', {
    service: 'codehost', times: 1, after: stops[kind] - 1,
  })
  await at.runJob(job)
  at.sandbox.faults.clear()
  count(report.kinds, kind)
  count(report.routes, 'reply')
  report.refused += 1
  const { reason } = at.job(job)
  expect(here, reason === 'reply_differs', `${kind} by a 201 with another id: ${reason}`)
  await settle(here, job, 'closure')
}

const numberedKinds: readonly Numbered[] = ['issue', 'comment', 'pull_request']
const namedKinds: readonly Named[] = ['blob', 'chunk', 'growth', 'commit', 'ref']

type Trial = (here: Here) => Promise<void>

const trials: readonly Trial[] = [
  ...numberedKinds.flatMap((kind) => likes.filter(({ not = [] }) => !not.includes(kind))
    .map((like): Trial => (here) => tryNumbered(here, kind, like))),
  ...numberedKinds.flatMap((kind) => replies.map((reply): Trial => (here) =>
    tryReply(here, kind, reply))),
  ...(['issue', 'comment'] as const).flatMap((kind) =>
    likes.filter(({ word }) => word !== 'gone' && word !== 'moved')
      .map((like): Trial => (here) => tryUnseen(here, kind, like))),
  ...likes.filter(({ fault }) => fault === undefined)
    .map((like): Trial => (here) => tryMarked(here, 'issue', like)),
  ...namedKinds.flatMap((kind): Trial[] => [
    (here) => tryNamed(here, kind, 'reconcile'), (here) => tryNamed(here, kind, 'closure'),
    (here) => tryOtherId(here, kind),
  ]),
]

/** How many there are. */
export const trialCount = trials.length

/** Those of them that a test asks for, each once. */
export const tryLikenesses = async (
  t: Teardown, chosen: (index: number) => boolean = () => true,
): Promise<LikenessReport> => {
  const report: LikenessReport = { kinds: {}, routes: {}, refused: 0, evidence: 0, wrong: [] }
  const here: Here = { at: await publicationClosing(t), report, made: 0 }
  for (const [index, trial] of trials.entries()) {
    if (!chosen(index)) continue
    await trial(here)
  }
  const check = await here.at.run(['state', 'check'])
  expect(here, check.status === 0, check.stdout + check.stderr)
  return report
}

/** What `npm run soak` does where no number is given: every likeness of every kind, once. */
export const usual = 1

/** The long run. */
export const run = async (rounds: number): Promise<void> => {
  for (let n = 0; n < rounds; n += 1) {
    const undo: (() => unknown)[] = []
    try {
      const { wrong, ...counts } = await tryLikenesses({ teardown: (fn) => void undo.push(fn) })
      process.stdout.write(`${JSON.stringify(counts)}\nviolations: ${wrong.length}\n`)
      if (wrong.length > 0) throw new Error(wrong.slice(0, 40).join('\n'))
    } finally {
      for (const one of undo.reverse()) await one()
    }
  }
}
