/** Kept requests to close: in a folder of the state's own, durable, one for each key. */
import { renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import {
  dropPending, keepPending, pendingOfJob, readPending,
} from '../../../../src/codehost/jobs/closed/pending.js'
import { closeRequestOf } from '../../../../src/codehost/jobs/closed/request.js'
import { nodeFiles } from '../../../../src/state/files.js'
import { closing, type Closing } from '../../../support/codehost/closing.js'
import { onFailingDisk } from '../../../support/soak/failing-disk.js'

/** A request to close a job of this world, as it is kept. */
const asked = async (at: Closing) => {
  const jobId = await at.unknown('Kept', 'numbered')
  const kind = at.job(jobId).native_kind
  const read = closeRequestOf(at.request(jobId), kind)
  return { jobId, kind, read, key: read.request.idempotency_key }
}

const folderOf = ({ place }: Closing): string => join(place.stateDir, 'pending')

/** Changing calls of the disk below the folder of kept requests. */
const calls = async (at: Closing, work: () => void): Promise<readonly string[]> => {
  const seen: string[] = []
  await onFailingDisk([folderOf(at)], { at: 0, fault: 'EIO', seen }, async () => { work() })
  return seen
}

t.test('C-149 what comes into the folder of kept requests and goes out of it is durable before it is answered', async (t) => {
  const at = await closing(t)
  const { key, ...subject } = await asked(at)
  keepPending(at.place.stateDir, subject)
  const kept = readPending(at.place.stateDir, key)
  if (kept === undefined) throw new Error('it was kept')
  const synced = `fsyncSync ${folderOf(at)}`
  const dropped = await calls(at, () => { dropPending(at.place.stateDir, kept) })
  t.match(dropped.at(-2), /^unlinkSync /)
  t.equal(dropped.at(-1), synced)
  const again = await calls(at, () => { keepPending(at.place.stateDir, subject) })
  t.ok(again.some((call) => call.startsWith('linkSync ')))
  t.equal(again.at(-1), synced)
})

t.test('a link in the place of the folder is neither read, written nor listed', async (t) => {
  const at = await closing(t)
  const { key, ...subject } = await asked(at)
  keepPending(at.place.stateDir, subject)
  t.equal(pendingOfJob(at.place.stateDir, subject.jobId).length, 1)
  const away = at.place.path('away')
  renameSync(folderOf(at), away)
  symlinkSync(away, folderOf(at))
  const replaced = { code: 'folder_replaced' }
  t.throws(() => readPending(at.place.stateDir, key), replaced)
  t.throws(() => pendingOfJob(at.place.stateDir, subject.jobId), replaced)
  t.throws(() => keepPending(at.place.stateDir, subject), replaced)
})

/** Lets `first` happen once, where the next name is made. */
const beforeLink = (t: Test, first: () => void): void => {
  const files = nodeFiles as { link: typeof nodeFiles.link }
  const { link } = files
  const back = (): void => { files.link = link }
  t.teardown(back)
  files.link = (from, to) => {
    back()
    first()
    link(from, to)
  }
}

t.test('C-150 of two who keep another request under one key at once the slower one is refused, and of the same request none', async (t) => {
  const at = await closing(t)
  const { key, ...subject } = await asked(at)
  const other = { ...subject, jobId: 'job_other' }
  beforeLink(t, () => { keepPending(at.place.stateDir, other) })
  t.throws(() => keepPending(at.place.stateDir, subject), { code: 'idempotency_conflict' })
  const kept = readPending(at.place.stateDir, key)
  if (kept === undefined) throw new Error('it was kept')
  t.equal(kept.jobId, 'job_other', 'what was kept first stays')
  dropPending(at.place.stateDir, kept)
  beforeLink(t, () => { keepPending(at.place.stateDir, subject) })
  keepPending(at.place.stateDir, subject)
  t.equal(readPending(at.place.stateDir, key)?.jobId, subject.jobId)
})
