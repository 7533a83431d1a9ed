/**
 * What a host has that says the same as what a job sent, over every kind of effect: made at another
 * time, by somebody else, told without time or maker, told by a 201 or by a readback. A likeness
 * never closes a capacity, the effect itself does, and what is named by its content has no like.
 */
import type { HostComment, HostIssue } from '../../../src/sandbox/codehost/shapes.js'
import type { Kept } from '../../../src/sandbox/codehost/store.js'
import type { Loose, Teardown } from '../../world/place.js'
import { closing, type Closing } from '../codehost/closing.js'
import { publicationClosing, type PublicationClosing } from '../codehost/publication-closing.js'
import { dice } from '../images/edit-suite.js'
import { must } from '../must.js'

/** What was tried and what should not be. */
export interface LikenessReport {
  jobs: number
  /** Closures by what was only like the effect, each refused. */
  refused: number
  /** Closures by the effect itself. */
  closed: number
  readonly kinds: Record<string, number>
  readonly likenesses: Record<string, number>
  readonly wrong: string[]
}

type Dice = ReturnType<typeof dice>

interface Here<At extends Closing = Closing> {
  readonly at: At
  readonly report: LikenessReport
  readonly next: Dice
}

const expect = ({ report }: Here, isTrue: boolean, what: string): void => {
  if (!isTrue) report.wrong.push(what)
}

const hostOf = ({ sandbox }: Closing): Kept => {
  const kept = sandbox.codehost.find('operator', 'notes')
  if (kept === undefined) throw new Error('the sandbox has its repository')
  return kept
}

const hostTime = (ms: number): string =>
  new Date(Math.floor(ms / 1_000) * 1_000).toISOString().replace('.000Z', 'Z')

/** What an issue, a pull request and a comment have in common. */
type Origin = Pick<HostIssue & HostComment, 'createdAt' | 'user'>
  & Partial<Pick<HostIssue & HostComment, 'updatedAt' | 'viaApp'>>

interface Likeness {
  readonly reason: string
  /** How the host has it. */
  readonly change?: (at: Closing, contactMs: number) => Partial<Origin>
  /** How the host tells it. */
  readonly fault?: string
}

const pullRequest = 'pull request'
const byAnApp = 'an app for the same account'
const day = 86_400_000
const at = (ms: (contactMs: number) => number): Likeness => ({
  reason: 'other_time', change: (_, contactMs) => ({ createdAt: hostTime(ms(contactMs)) }),
})

const likenesses: Readonly<Record<string, Likeness>> = {
  'years ago': at(() => Date.UTC(2020, 0, 2)),
  'a minute before': at((ms) => ms - 60_000),
  'a minute later': at((ms) => ms + 60_000),
  'the next night': at((ms) => ms + day),
  'reopened now': {
    reason: 'other_time',
    change: (_, ms) => ({ createdAt: hostTime(ms - day), updatedAt: hostTime(ms) }),
  },
  'a stranger': {
    reason: 'other_author', change: ({ sandbox }) => ({ user: sandbox.codehost.user('stranger') }),
  },
  [byAnApp]: { reason: 'other_author', change: () => ({ viaApp: true }) },
  'no time': { reason: 'time_missing', fault: 'read_no_time' },
  'no maker': { reason: 'author_missing', fault: 'read_no_author' },
}
/** A host tells of no pull request whether an app had a part in it. */
const namesOf = (kind: string): readonly string[] => Object.keys(likenesses)
  .filter((name) => kind !== pullRequest || name !== byAnApp)

/** Closes by what is there; answers the reason of the refusal, or `closed`. */
const closeBy = async (here: Here, job: string, more: Loose): Promise<string> => {
  const { at: world } = here
  const posts = world.posts().length
  const ran = await world.close(job, world.request(job, more))
  expect(here, world.posts().length === posts, 'a closure sent a POST')
  const isClosed = ran.status === 0
  expect(here, world.connection().active_job_id === (isClosed ? null : job), 'occupied or not')
  expect(here, (world.job(job).closed !== null) === isClosed, 'the row says so')
  return isClosed ? 'closed' : ran.error().reason ?? ran.error().code
}

/** Something that the host has and that a job may be closed by. */
interface Shown {
  readonly kind: string
  readonly job: string
  readonly numbered: Loose
  readonly contactMs: number
  /** Changes how the host has it; nothing puts it back as it was made. */
  put(change: Partial<Origin>): void
}

/** Some likenesses in turn, then the effect itself. */
const tryShown = async (here: Here, shown: Shown): Promise<void> => {
  const { at: world, report, next } = here
  const { kind, job, numbered, contactMs } = shown
  report.jobs += 1
  report.kinds[kind] = (report.kinds[kind] ?? 0) + 1
  const names = namesOf(kind)
  for (let n = 0; n < 3; n += 1) {
    const name = names[next(names.length)]!
    const { reason, change, fault } = likenesses[name]!
    shown.put(change?.(world, contactMs) ?? {})
    if (fault !== undefined) world.sandbox.faults.set(fault, { service: 'codehost' })
    const told = await closeBy(here, job, numbered)
    world.sandbox.faults.clear()
    shown.put({})
    report.likenesses[name] = (report.likenesses[name] ?? 0) + 1
    if (told === `readback_${reason}`) report.refused += 1
    else report.wrong.push(`${kind}, ${name}: ${told}`)
    if (told === 'closed') return
  }
  const told = await closeBy(here, job, numbered)
  if (told === 'closed') report.closed += 1
  else report.wrong.push(`${kind}, the effect itself: ${told}`)
}

/** A list that holds what the host has, and a place in it. */
const placeIn = <T extends Origin>(
  list: T[], place: number,
): Pick<Shown, 'put'> => {
  const made = list[place]!
  return {
    put: (change) => {
      list[place] = { ...made, ...change }
    },
  }
}

const title = ({ report }: Here): string => `Job ${report.jobs}`

/** An issue or a comment that was sent, that the host never did, and that somebody else made. */
const never = async (here: Here): Promise<void> => {
  const { at: world, next } = here
  const kept = hostOf(world)
  const isIssue = next(2) === 0
  const words = title(here)
  if (kept.issues.length === 0) must(await world.runJob(await world.approved('The first')))
  await world.freshConsent()
  const job = isIssue ? await world.prepare(words) : await world.prepareComment(1, words)
  must(await world.approve(job))
  world.sandbox.faults.set('write_not_done_500', { service: 'codehost', times: 1 })
  await world.runJob(job)
  world.sandbox.faults.clear()
  const contactMs = Date.now()
  const { codehost } = world.sandbox
  const own = {
    id: codehost.newId(), user: codehost.user('operator'), createdAt: hostTime(contactMs),
  }
  const { issues, comments } = kept
  const shown = { job, contactMs, kind: isIssue ? 'issue, never made' : 'comment, never made' }
  if (!isIssue) {
    comments.push({ ...own, issue: 1, body: words })
    const place = placeIn(comments, comments.length - 1)
    return tryShown(here, { ...shown, numbered: { remote_id: own.id }, ...place })
  }
  const number = issues.length + 1
  issues.push({
    ...own, number, title: words, body: 'MARK-host-text', state: 'open', comments: 0, pull: null,
  })
  const place = placeIn(issues, number - 1)
  return tryShown(here, { ...shown, numbered: { remote_id: number }, ...place })
}

/** An issue that the host made, of which the number is known and the readback was lost. */
const made = async (here: Here): Promise<void> => {
  const { at: world } = here
  const job = await world.unknown(title(here), 'numbered')
  const { issues } = hostOf(world)
  const contactMs = Date.parse(issues.at(-1)?.createdAt ?? '')
  const place = placeIn(issues, issues.length - 1)
  await tryShown(here, { kind: 'issue, numbered', job, numbered: {}, contactMs, ...place })
}

const lies = ['write_old_time', 'write_no_time', 'write_other_author'] as const
const toldOf = {
  write_old_time: 'reply_other_time', write_no_time: 'reply_time_missing',
  write_other_author: 'reply_other_author',
} as const

/** A 201 that is about a like: it is no success, and what was made is found by its number. */
const answered = async (here: Here): Promise<void> => {
  const { at: world, report, next } = here
  const job = await world.approved(title(here))
  const lie = lies[next(lies.length)]!
  world.sandbox.faults.set(lie, { service: 'codehost', times: 1 })
  await world.runJob(job)
  world.sandbox.faults.clear()
  const { state, reason, created } = world.job(job)
  expect(here, state === 'unknown_external_effect' && reason === toldOf[lie] && created === 0,
    `${lie}: ${state} ${reason} ${created}`)
  report.likenesses[lie] = (report.likenesses[lie] ?? 0) + 1
  const { issues } = hostOf(world)
  await tryShown(here, {
    kind: 'issue, answered', job, numbered: { remote_id: issues.length },
    contactMs: Date.parse(issues.at(-1)?.createdAt ?? ''), ...placeIn(issues, issues.length - 1),
  })
}

/** A pull request whose reply was lost. */
const pulled = async (here: Here<PublicationClosing>): Promise<void> => {
  const { at: world } = here
  const job = await world.stopped('pull_request')
  const { issues } = hostOf(world)
  await tryShown(here, {
    kind: pullRequest, job, numbered: { pr_number: issues.length },
    contactMs: Date.parse(issues.at(-1)?.createdAt ?? ''), ...placeIn(issues, issues.length - 1),
  })
}

const objects = {
  blob: 'blob_other_bytes', commit: 'commit_other_message', ref: 'ref_moved',
} as const

/** What is named by its content or its exact name: another one is refused, no time is asked for. */
const named = async (here: Here<PublicationClosing>): Promise<void> => {
  const { at: world, report, next } = here
  const kinds = Object.keys(objects) as (keyof typeof objects)[]
  const kind = kinds[next(kinds.length)]!
  report.jobs += 1
  report.kinds[kind] = (report.kinds[kind] ?? 0) + 1
  const job = await world.stopped(kind)
  const fault = objects[kind]
  world.sandbox.faults.set(fault, { service: 'codehost' })
  const told = await closeBy(here, job, {})
  world.sandbox.faults.clear()
  report.likenesses[fault] = (report.likenesses[fault] ?? 0) + 1
  if (told === 'readback_differs') report.refused += 1
  else report.wrong.push(`${kind}, ${fault}: ${told}`)
  for (const one of ['read_no_time', 'read_no_author'] as const) {
    world.sandbox.faults.set(one, { service: 'codehost' })
  }
  const closed = await closeBy(here, job, {})
  world.sandbox.faults.clear()
  if (closed === 'closed') report.closed += 1
  else report.wrong.push(`${kind}, without time and maker: ${closed}`)
}

/** Jobs of one world; their connection goes with it. */
const jobsOfWorld = 12

/** Tries so many jobs, each with likenesses of its kind. */
export const tryLikenesses = async (
  t: Teardown, rounds: number, seed = 1,
): Promise<LikenessReport> => {
  const report: LikenessReport = {
    jobs: 0, refused: 0, closed: 0, kinds: {}, likenesses: {}, wrong: [],
  }
  const next = dice(seed)
  for (let left = rounds; left > 0; left -= jobsOfWorld) {
    const follows = { at: await closing(t), report, next }
    const publishes = { at: await publicationClosing(t), report, next }
    for (let n = 0; n < Math.min(left, jobsOfWorld); n += 1) {
      const kind = n % 5
      if (kind === 3) await pulled(publishes)
      else if (kind === 4) await named(publishes)
      else await [never, made, answered][kind]!(follows)
    }
  }
  return report
}

/** The long run. */
export const usual = 60

/** The long run. */
export const run = async (rounds: number): Promise<void> => {
  const undo: (() => unknown)[] = []
  try {
    const { wrong, ...counts } =
      await tryLikenesses({ teardown: (fn) => void undo.push(fn) }, rounds)
    process.stdout.write(`${JSON.stringify(counts)}\nviolations: ${wrong.length}\n`)
    if (wrong.length > 0) throw new Error(wrong.slice(0, 40).join('\n'))
  } finally {
    for (const one of undo.reverse()) await one()
  }
}
